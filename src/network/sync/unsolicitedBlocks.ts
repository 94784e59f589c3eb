import * as Effect from "effect/Effect"
import type { Peer } from "../Peer.ts"
import type { BlockMessage, BlockStart } from "../wire/messages/block.ts"
import { admitBlock } from "./incomingBlocks.ts"
import { screen } from "./screen.ts"
import type { SyncView } from "./SyncContext.ts"
import type { SyncEvent, SyncMessage } from "./SyncLoop.ts"

export interface BlockSenders {
  readonly view: SyncView
  readonly queued: (peer: Peer, message: SyncMessage) => Effect.Effect<void>
  /** Waits until the loop has handled an event. */
  readonly offered: (event: (handled: () => void) => SyncEvent) => Effect.Effect<void>
}

/** Handles blocks in the fibers of their peers, where an unsolicited one waits for one of few slots. */
export const blockReception = ({ offered, queued, view }: BlockSenders) => {
  /**
   * Waits for a free slot for an unsolicited block, in the fiber of its peer. If the block was dropped, its successors
   * would seem to lack a predecessor, and their peer would seem to misbehave.
   */
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
      // Its header counts before the peer's next message is handled. The connection may end meanwhile.
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
