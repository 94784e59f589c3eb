import * as Effect from "effect/Effect"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { BlockHeader } from "../../protocol/block.ts"
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
  workThreshold
} from "./SyncContext.ts"

/** Peers that one block may be put together from at once (reference/protocol.md 6.6). */
const MOST_ATTEMPTS = 3

/** Blocks that a peer's transactions are awaited for at once. */
const MOST_PARTIAL = 3

/** Blocks above the tip that a compact block may be: what lies further ahead has unknown transactions. */
const MOST_AHEAD = 2

const askWhole = (context: SyncContext, { peer }: SyncPeer, id: number): void =>
  peer.post({ type: "getdata", items: [{ type: ItemType.witnessBlock, hash: context.tree.hash(id).slice() }] })

const candidates = function*({ mempool }: SyncContext): Iterable<Transaction> {
  for (const { transaction } of mempool.entries()) yield transaction
}

const segwitAt = ({ params, tree }: SyncContext, id: number): boolean => tree.height(id) >= params.activation.segwit

/** Gives up putting a block together: the first that was asked sends it whole, others are let go. */
const giveUp = (context: SyncContext, state: SyncPeer, id: number, first: boolean): void => {
  if (first) {
    remember(context, state, id, undefined)
    askWhole(context, state, id)
  } else {
    state.partial.delete(id)
    context.download.release(state.peer.id, id)
  }
}

/** Keeps what there is of a block; the oldest makes room. False where there is no memory for it. */
const remember = (
  context: SyncContext,
  { partial, peer }: SyncPeer,
  id: number,
  what: PartialBlock | undefined
): boolean => {
  if (!partial.set(id, what)) return false
  const { oldest } = partial
  if (partial.size <= MOST_PARTIAL || oldest === undefined) return true
  const waiting = partial.get(oldest)
  partial.delete(oldest)
  // Its transactions would not be looked at any more; a whole block would.
  if (waiting !== undefined) context.download.release(peer.id, oldest)
  return true
}

/** Completes a block and hands it on. */
const finish = (
  context: SyncContext,
  state: SyncPeer,
  id: number,
  partial: PartialBlock,
  missing: ReadonlyArray<Transaction>,
  first: boolean
): void => {
  const { download } = context
  const { id: peer } = state.peer
  const result = finishReconstruction(partial, missing, segwitAt(context, id))
  if (result.type === "invalid") {
    state.partial.delete(id)
    download.release(peer, id)
    return misbehaves(state, `an invalid compact block: ${result.reason}`)
  }
  if (result.type === "collision") return giveUp(context, state, id, first)
  state.partial.delete(id)
  download.reconstructed(peer, id, result.block.size, context.now())
  handOn(context, { block: result.block, id, peer, compact: true, unrequested: false })
}

/** Puts a block together as far as the mempool goes, and asks for the rest. */
const reconstruct = (context: SyncContext, state: SyncPeer, message: CmpctBlock, id: number): void => {
  const { download, highBandwidth } = context
  const { peer } = state
  const askers = download.askersOf(id)
  const mine = askers.includes(peer.id)
  const first = askers.length === 0 || askers[0] === peer.id
  if (state.partial.has(id)) return
  // Once for each block and peer: what it costs does not depend on how often it is sent.
  if (!state.partial.attempt(id)) return mine ? giveUp(context, state, id, first) : undefined
  const attempt = mine || (askers.length < MOST_ATTEMPTS && download.hasRoom(peer.id))
  // Beside those attempts only peers that we wanted compact blocks from are worth a look through the mempool.
  if (!attempt && !highBandwidth.has(peer.id)) return
  const result = startReconstruction(message, candidates(context))
  if (!attempt) {
    // It may all be there already, whoever else was asked.
    if (result.type === "ok" && result.partial.missing.length === 0) {
      const whole = finishReconstruction(result.partial, [], segwitAt(context, id))
      if (whole.type !== "ok") return
      download.reconstructed(peer.id, id, whole.block.size, context.now())
      handOn(context, { block: whole.block, id, peer: peer.id, compact: true, unrequested: false })
    }
    return
  }
  if (result.type === "invalid") {
    download.release(peer.id, id)
    return misbehaves(state, `an invalid compact block: ${result.reason}`)
  }
  download.ask(peer.id, id, context.now())
  if (result.type === "collision") return giveUp(context, state, id, first)
  const { missing } = result.partial
  if (missing.length === 0) return finish(context, state, id, result.partial, [], first)
  // Beside another attempt only the word of a peer that we chose for this counts.
  const worthIt = first ||
    (highBandwidth.has(peer.id) && (!peer.inbound || hasOutbound(context, askers) || askers.length < MOST_ATTEMPTS - 1))
  if (!worthIt) return giveUp(context, state, id, false)
  if (!remember(context, state, id, result.partial)) return giveUp(context, state, id, first)
  peer.post({ type: "getblocktxn", hash: context.tree.hash(id).slice(), indexes: missing })
}

const hasOutbound = ({ peers }: SyncContext, askers: ReadonlyArray<number>): boolean =>
  askers.some((id) => peers.get(id)?.peer.inbound === false)

/** Whether a compact block that its peer was not asked for is worth a look. */
export const isCompactWelcome = (context: SyncContext, { header }: BlockHeader, parent: number): boolean =>
  context.tree.chainwork(parent) + blockWork(header.bits) >= workThreshold(context)

/** Takes a compact block, announced or asked for (BIP 152). Source: upstream `net_processing.cpp`, `CMPCTBLOCK`. */
export const takeCompact = (context: SyncContext, state: SyncPeer, message: CmpctBlock): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { chain, download, tree } = context
    const { header } = message.header
    if (context.loading) return
    const parent = tree.find(header.prevHash)
    if (parent === NO_HEADER) {
      if (!context.initial) askHeaders(context, state, tree.best())
      return
    }
    if (!isCompactWelcome(context, message.header, parent)) return
    // The hash does not cover a merged-mining proof: where the header is known, the chain does not look at this one.
    const unproven = checkProofOfWork(message.header, context.params)
    if (unproven !== undefined) return misbehaves(state, `an invalid header (${unproven.reason})`)
    const { added, last: id, reject } = yield* chain.acceptHeaders([message.header])
    if (reject !== undefined) {
      if (isOffence(reject, state, true)) misbehaves(state, `an invalid header (${reject.reason})`)
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
    reconstruct(context, state, message, id)
  })

/** Takes the transactions that a compact block lacked. */
export const takeTransactions = (context: SyncContext, state: SyncPeer, message: BlockTxn): void => {
  const id = context.tree.find(message.hash)
  const { peer } = state
  if (id === NO_HEADER || !state.partial.has(id) || !context.download.isAsked(peer.id, id)) return
  const partial = state.partial.get(id)
  // The whole block was asked for meanwhile; the transactions were sent twice.
  if (partial === undefined) return misbehaves(state, "transactions of a block that it was asked for as a whole")
  const first = context.download.askersOf(id)[0] === peer.id
  finish(context, state, id, partial, message.transactions, first)
}
