import * as Effect from "effect/Effect"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { MAX_LOCKS } from "../../consensus/block.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { Peer } from "../Peer.ts"
import type { BlockMessage, BlockStart } from "../wire/messages/block.ts"
import { admitBlock, isAhead, isWanted } from "./incomingBlocks.ts"
import { isCompactWelcome } from "./incomingCompact.ts"
import { isNew, isOffence, misbehaves, type SyncView } from "./SyncContext.ts"
import type { SyncEvent, SyncMessage } from "./SyncLoop.ts"

/** Decided before transactions are decoded. `announced`: only the header is useful. `wait`: no slot is free. */
type Screening = "decode" | "announced" | "drop" | "wait"

/** Runs in the fiber of the peer. Changes nothing, but disconnects a misbehaving peer. */
export const screen = (
  context: SyncView,
  state: { readonly peer: Peer },
  { header, transactions, type }: BlockStart
): Screening => {
  const { download, loading, params, slots, tree } = context
  // Each transaction locks at least one id, so a block with more transactions cannot be valid.
  if (transactions > MAX_LOCKS) {
    misbehaves(state, `invalid block: ${transactions} transactions`)
    return "drop"
  }
  const id = tree.find(header.header.hash)
  if (download.isAsked(state.peer.id, id)) return "decode"
  if (loading) return "drop"
  if (type === "block" && !slots.isRoom) return "wait"
  if (id !== NO_HEADER && !isNew(context, id)) return "announced"
  const parent = tree.find(header.header.prevHash)
  const compact = type === "cmpctblock"
  if (parent === NO_HEADER) {
    if (compact) return "announced"
    misbehaves(state, "invalid block: its predecessor is unknown")
    return "drop"
  }
  const welcome = compact
    ? isCompactWelcome(context, header, parent)
    : isWanted(context, id) || isAhead(context, header, parent)
  if (!welcome) return id !== NO_HEADER || isCompactWelcome(context, header, parent) ? "announced" : "drop"
  const reject = checkProofOfWork(header, params) ?? tree.misplaced(header)
  if (reject === undefined) return "decode"
  if (isOffence(reject, state, compact)) misbehaves(state, `invalid header: ${reject.reason}`)
  return "drop"
}

export interface BlockSenders {
  readonly view: SyncView
  readonly queued: (peer: Peer, message: SyncMessage) => Effect.Effect<void>
  readonly offered: (event: (handled: () => void) => SyncEvent) => Effect.Effect<void>
}

export const blockReception = ({ offered, queued, view }: BlockSenders) => {
  /** Waits for a free slot. If a block were dropped, a peer that then sends its successor would seem to misbehave. */
  const slotFreed = Effect.async<void>((resume) => {
    const giveUp = view.slots.whenFreed(() => resume(Effect.void))
    return Effect.sync(giveUp)
  })

  const takeBlock = (peer: Peer, message: BlockMessage): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) => {
      const state = view.peers.get(peer.id)
      if (state === undefined) return restore(queued(peer, message))
      const admission = admitBlock(view, state, message.block)
      if (!admission.queued) return Effect.zipRight(restore(slotFreed), takeBlock(peer, message))
      const { slot } = admission
      if (slot === undefined) return restore(queued(peer, message))
      // The peer's next message may need this header, so wait for the loop. Release the slot if the connection ends first.
      return Effect.onInterrupt(
        restore(offered((handled) => ({ type: "message", peer, message, slot, handled }))),
        () => Effect.sync(() => slot.release())
      )
    })

  const screened = (peer: Peer, start: BlockStart): Effect.Effect<boolean> =>
    Effect.suspend(() => {
      const state = view.peers.get(peer.id)
      if (state === undefined) return Effect.succeed(false)
      const outcome = screen(view, state, start)
      if (outcome === "wait") return Effect.zipRight(slotFreed, screened(peer, start))
      if (outcome !== "announced") return Effect.succeed(outcome === "decode")
      return Effect.as(offered((handled) => ({ type: "announced", peer, header: start.header, handled })), false)
    })

  return { takeBlock, screened }
}
