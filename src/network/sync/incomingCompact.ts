import * as Effect from "effect/Effect"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { BlockHeader } from "../../protocol/block.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { finishReconstruction, type PartialBlock, startReconstruction } from "../wire/compactBlock.ts"
import type { BlockTxn, CmpctBlock } from "../wire/messages/compact.ts"
import { ItemType } from "../wire/messages/inv.ts"
import { handOn } from "./incomingBlocks.ts"
import { askHeaders } from "./incomingHeaders.ts"
import {
  isNearTip,
  isNew,
  isOffence,
  learn,
  misbehaves,
  seconds,
  type SyncContext,
  type SyncPeer,
  type SyncView,
  workThreshold
} from "./SyncContext.ts"

/** Peers for the reconstruction of one block at once (reference/protocol.md 6.6). */
const MOST_ATTEMPTS = 3

const MOST_PARTIAL = 3

/** Blocks above the tip. Further ahead, the transactions of a compact block are unknown. */
const MOST_AHEAD = 2

const askWhole = (context: SyncContext, { peer }: SyncPeer, id: HeaderId): void =>
  peer.post({ type: "getdata", items: [{ type: ItemType.witnessBlock, hash: context.tree.hash(id).slice() }] })

const candidates = function*({ mempool }: SyncContext): Iterable<Transaction> {
  for (const { transaction } of mempool.entries()) yield transaction
}

const segwitAt = ({ params, tree }: SyncContext, id: HeaderId): boolean => tree.height(id) >= params.activation.segwit

interface Attempt {
  readonly id: HeaderId
  readonly first: boolean
}

const giveUp = (
  context: SyncContext,
  state: SyncPeer,
  { first, id }: Attempt
): void => {
  if (first) {
    remember(context, state, { id, partial: undefined })
    askWhole(context, state, id)
  } else {
    state.partial.delete(id)
    context.download.release(state.peer.id, id)
  }
}

/** False if out of memory. */
const remember = (
  context: SyncContext,
  { partial, peer }: SyncPeer,
  { id, partial: stored }: { readonly id: HeaderId; readonly partial: PartialBlock | undefined }
): boolean => {
  if (!partial.set(id, stored)) return false
  const { oldest } = partial
  if (partial.size <= MOST_PARTIAL || oldest === undefined) return true
  const waiting = partial.get(oldest)
  partial.delete(oldest)
  // Its transactions would be ignored when they arrive, unlike a whole block.
  if (waiting !== undefined) context.download.release(peer.id, oldest)
  return true
}

const finish = (
  context: SyncContext,
  state: SyncPeer,
  { first, id, missing, partial }: Attempt & {
    readonly partial: PartialBlock
    readonly missing: ReadonlyArray<Transaction>
  }
): void => {
  const { download } = context
  const { id: peer } = state.peer
  const result = finishReconstruction(partial, missing, segwitAt(context, id))
  if (result.type === "invalid") {
    state.partial.delete(id)
    download.release(peer, id)
    return misbehaves(state, `invalid compact block: ${result.reason}`)
  }
  if (result.type === "collision") return giveUp(context, state, { id, first })
  state.partial.delete(id)
  download.reconstructed(peer, { header: id, size: result.block.size }, context.now())
  handOn(context, { block: result.block, id, peer, compact: true, slot: undefined })
}

const reconstruct = (
  context: SyncContext,
  state: SyncPeer,
  { id, message }: { readonly message: CmpctBlock; readonly id: HeaderId }
): void => {
  const { download, highBandwidth } = context
  const { peer } = state
  const askers = download.askersOf(id)
  const mine = askers.includes(peer.id)
  const first = askers.length === 0 || askers[0] === peer.id
  if (state.partial.has(id)) return
  // Once per block and peer, so that repeated messages cost nothing.
  if (!state.partial.attempt(id)) return mine ? giveUp(context, state, { id, first }) : undefined
  const attempt = mine || (askers.length < MOST_ATTEMPTS && download.hasRoom(peer.id))
  // Beyond these attempts, only high-bandwidth peers are worth a scan of the mempool.
  if (!attempt && !highBandwidth.has(peer.id)) return
  const result = startReconstruction(message, candidates(context))
  if (!attempt) {
    // The block may be complete already, whichever peers were asked.
    if (result.type === "ok" && result.partial.missing.length === 0) {
      const whole = finishReconstruction(result.partial, [], segwitAt(context, id))
      if (whole.type !== "ok") return
      download.reconstructed(peer.id, { header: id, size: whole.block.size }, context.now())
      handOn(context, { block: whole.block, id, peer: peer.id, compact: true, slot: undefined })
    }
    return
  }
  if (result.type === "invalid") {
    download.release(peer.id, id)
    return misbehaves(state, `invalid compact block: ${result.reason}`)
  }
  download.ask(peer.id, id, context.now())
  if (result.type === "collision") return giveUp(context, state, { id, first })
  const { missing } = result.partial
  if (missing.length === 0) return finish(context, state, { id, partial: result.partial, missing: [], first })
  // Beside another attempt, only high-bandwidth peers are asked for transactions.
  const worthIt = first ||
    (highBandwidth.has(peer.id) && (!peer.inbound || hasOutbound(context, askers) || askers.length < MOST_ATTEMPTS - 1))
  if (!worthIt) return giveUp(context, state, { id, first: false })
  if (!remember(context, state, { id, partial: result.partial })) return giveUp(context, state, { id, first })
  peer.post({ type: "getblocktxn", hash: context.tree.hash(id).slice(), indexes: missing })
}

const hasOutbound = ({ peers }: SyncContext, askers: ReadonlyArray<PeerId>): boolean =>
  askers.some((id) => peers.get(id)?.peer.inbound === false)

export const isCompactWelcome = (context: SyncView, { header }: BlockHeader, parent: HeaderId): boolean =>
  context.tree.chainwork(parent) + blockWork(header.bits) >= workThreshold(context, parent)

/** BIP 152. Source: upstream `net_processing.cpp`, `CMPCTBLOCK`. */
export const takeCompact = (context: SyncContext, state: SyncPeer, message: CmpctBlock): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { download, sink, tree } = context
    const { header } = message.header
    if (context.loading) return
    const parent = tree.find(header.prevHash)
    if (parent === NO_HEADER) {
      if (!context.initial) askHeaders(context, state, tree.best())
      return
    }
    if (!isCompactWelcome(context, message.header, parent)) return
    // The hash does not cover a merged-mining proof, and the chain skips known headers, so the proof is checked here.
    const unproven = checkProofOfWork(message.header, context.params)
    if (unproven !== undefined) return misbehaves(state, `invalid header: ${unproven.reason}`)
    const { added, last: id, reject } = yield* sink.acceptHeaders([message.header])
    if (reject !== undefined) {
      if (isOffence(reject, state, true)) misbehaves(state, `invalid header: ${reject.reason}`)
      return
    }
    learn(context, state, id)
    if (added > 0 && tree.compareWork(id, tree.tip()) > 0) state.lastAnnouncement = seconds(context)
    if (!isNew(context, id)) {
      state.partial.delete(id)
      return download.release(state.peer.id, id)
    }
    const asked = download.isAsked(state.peer.id, id)
    const ahead = tree.height(id) - tree.height(tree.tip())
    if (tree.compareWork(id, tree.tip()) <= 0 || ahead > MOST_AHEAD) {
      if (asked) askWhole(context, state, id)
      return
    }
    if (download.askersOf(id).length === 0 && !isNearTip(context)) return
    reconstruct(context, state, { message, id })
  }).pipe(Effect.withSpan("svcd.network.compactBlock", { attributes: { peer: state.peer.id } }))

export const takeTransactions = (context: SyncContext, state: SyncPeer, message: BlockTxn): void => {
  const id = context.tree.find(message.hash)
  const { peer } = state
  if (id === NO_HEADER || !state.partial.has(id) || !context.download.isAsked(peer.id, id)) return
  const partial = state.partial.get(id)
  // The peer sent the transactions twice, and the whole block was requested after the first time.
  if (partial === undefined) return misbehaves(state, "unexpected blocktxn: the whole block was requested")
  const first = context.download.askersOf(id)[0] === peer.id
  finish(context, state, { id, partial, missing: message.transactions, first })
}
