import * as Effect from "effect/Effect"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { checkBlockBody } from "../../consensus/block.ts"
import { blockWork } from "../../consensus/difficulty.ts"
import type { Reject } from "../../consensus/Reject.ts"
import type { Block, BlockHeader } from "../../protocol/block.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import type { HeaderId, Height, PeerId } from "../../protocol/keys.ts"
import type { Peer } from "../Peer.ts"
import { COMPACT_VERSION } from "../wire/messages/compact.ts"
import { isBlockItem, type ItemList } from "../wire/messages/inv.ts"
import type { ReceivedBlock } from "./BlockOrder.ts"
import type { Written } from "./BlockWriter.ts"
import { takeHeader } from "./incomingHeaders.ts"
import type { Lease } from "./Slots.ts"
import {
  isNew,
  isOffence,
  learn,
  misbehaves,
  seconds,
  type SyncContext,
  type SyncPeer,
  type SyncView,
  validPart,
  workThreshold
} from "./SyncContext.ts"

export const MOST_UNREQUESTED = 8

/** Maximum height above the tip of an unsolicited block (reference/protocol.md 6.8). */
const MOST_AHEAD = 288

/** Maximum peers remembered for blocks that are not validated yet. */
const MOST_SOURCES = 4096

export type BlockAdmission =
  | { readonly queued: false }
  | { readonly queued: true; readonly slot: Lease | undefined }

/** Decides on a received block in the fiber of its peer, as unsolicited blocks must not delay other peers. */
export const admitBlock = (
  { download, slots, tree }: SyncView,
  { peer }: { readonly peer: Peer },
  block: Block
): BlockAdmission => {
  if (download.isAsked(peer.id, tree.find(block.hash))) return { queued: true, slot: undefined }
  const slot = slots.take()
  return slot === undefined ? { queued: false } : { queued: true, slot }
}

export const handOn = (context: SyncContext, item: ReceivedBlock): void => {
  const { blockOrder, download, tree } = context
  blockOrder.push(item)
  // A limited peer may have blocks whose predecessors no peer offers. They do not wait in memory.
  if (item.id !== NO_HEADER) blockOrder.releaseUnless((id) => download.isWanted(id), tree.parent(item.id))
  context.wake()
}

const comingHeight = ({ download, tree }: SyncView, end: HeaderId): Height => {
  const tip = tree.tip()
  const isHere = (id: HeaderId): boolean => tree.hasBlock(id) || download.isUnstored(id)
  let height = tree.height(tree.forkPoint(end, tip))
  while (height < tree.height(end) && isHere(tree.ancestor(end, height + 1))) height++
  return tree.compareWork(tree.ancestor(end, height), tip) > 0 ? height : tree.height(tip)
}

/** See reference/protocol.md 6.8. */
export const isAhead = (context: SyncView, { header }: BlockHeader, parent: HeaderId): boolean => {
  const { tree } = context
  const tip = tree.tip()
  const work = tree.chainwork(parent) + blockWork(header.bits)
  if (work < tree.chainwork(tip) || work < workThreshold(context, parent)) return false
  const below = tree.height(parent) + 1 - MOST_AHEAD
  return below <= tree.height(tip) || below <= comingHeight(context, parent)
}

export type AdmittedBlock = Pick<ReceivedBlock, "block" | "slot">

/**
 * The header of an unsolicited block is stored first, as the peer's next message may build on it (upstream
 * `validation.cpp`, `CheckBlock` and `AcceptBlock`).
 */
export const takeBlock = (
  context: SyncContext,
  state: SyncPeer,
  { block, slot }: AdmittedBlock
): Effect.Effect<void> | undefined => {
  const { download, tree } = context
  const { id: peer } = state.peer
  const id = tree.find(block.hash)
  const item = { block, id, peer, compact: false, slot }
  if (id !== NO_HEADER && download.received(peer, { header: id, size: block.size }, context.now())) {
    state.partial.delete(id)
    // What the operator requested does not wait for predecessors, which may be unwanted.
    return void handOn(context, { ...item, isFetched: context.fetched.delete(id) })
  }
  if (context.loading || !welcome(context, state, { block, id })) return void slot?.release()
  // If the block continues, its verdict returns the slot. A header whose block fails here must not count, as maybe no
  // peer has its block.
  if (id !== NO_HEADER || checkBlockBody(block) !== undefined) return void handOn(context, item)
  return takeHeader(context, state, { header: block.header, auxpow: block.auxpow }).pipe(
    Effect.map(() => {
      const header = tree.find(block.hash)
      if (header === NO_HEADER) return void slot?.release()
      download.passes({ header, size: block.size })
      handOn(context, { ...item, id: header })
    }),
    Effect.onError(() => Effect.sync(() => slot?.release()))
  )
}

const welcome = (
  context: SyncContext,
  state: SyncPeer,
  { block, id }: { readonly block: Block; readonly id: HeaderId }
): boolean => {
  const { tree } = context
  const parent = tree.find(block.header.prevHash)
  if (parent === NO_HEADER) {
    misbehaves(state, "invalid block: its predecessor is unknown")
    return false
  }
  if (id !== NO_HEADER) {
    learn(context, state, id)
    if (!isNew(context, id)) return false
  }
  // A request to another peer stays open until this block is validated.
  return isWanted(context, id) || isAhead(context, block, parent)
}

/** Whether a known block is wanted from any peer: it was requested from another, or a reorg needs it. */
export const isWanted = ({ download, tree }: SyncView, id: HeaderId): boolean =>
  id !== NO_HEADER && (download.askersOf(id).length > 0 || tree.losses.needs(id))

export const takeNotFound = (
  context: SyncContext,
  { partial, peer }: SyncPeer,
  items: ItemList
): void => {
  for (const item of items) {
    if (!isBlockItem(item)) continue
    const id = context.tree.find(item.hash)
    if (id === NO_HEADER) continue
    partial.delete(id)
    if (!context.missing.refused(peer.id, id)) context.download.lacks(peer.id, id)
  }
}

export class Verdicts {
  private readonly context: SyncContext
  /** Stored blocks without a verdict, by hash, oldest first. */
  private readonly sources = new Map<string, ReceivedBlock>()
  /** Milliseconds spent per refused block of the current batch. */
  private cost = 0

  constructor(context: SyncContext) {
    this.context = context
  }

  take({ batch, delivery: { judged, refused }, milliseconds }: Written): void {
    const { context } = this
    context.blockOrder.done(batch)
    const bad = refused.filter((reject) => reject !== undefined).length +
      judged.filter(({ reject }) => reject !== undefined).length
    // Set before any disconnection, as later charges are not remembered.
    this.cost = bad === 0 ? 0 : milliseconds / bad
    for (const [i, item] of batch.entries()) this.stored(item, refused[i])
    for (const { hash, reject } of judged) this.judged(hash, reject)
    if (bad > 0) {
      for (const { best, peer } of context.peers.values()) {
        context.download.setBest(peer.id, validPart(context.tree, best))
      }
      context.blockOrder.unblock()
      context.wake()
    }
  }

  private stored(item: ReceivedBlock, reject: Reject | undefined): void {
    const { context } = this
    item.slot?.release()
    const id = item.id === NO_HEADER ? context.tree.find(item.block.hash) : item.id
    if (id !== NO_HEADER) {
      if (reject === undefined) this.arrived(id, item.block.size)
      context.download.settled(id)
    }
    const state = context.peers.get(item.peer)
    if (reject !== undefined) return this.blame(item, reject)
    this.sources.set(binaryString(item.block.hash), item)
    if (this.sources.size > MOST_SOURCES) {
      for (const oldest of this.sources.keys()) {
        this.sources.delete(oldest)
        break
      }
    }
    if (state === undefined) return
    state.lastBlock = seconds(context)
    learn(context, state, id)
  }

  private arrived(id: HeaderId, size: number): void {
    const { download, peers } = this.context
    download.arrives({ header: id, size })
    for (const { partial } of peers.values()) if (partial.size > 0) partial.delete(id)
  }

  /** A defect hit these blocks. Their state is unknown, so they are requested again. */
  lost(batch: ReadonlyArray<ReceivedBlock>): void {
    const { context } = this
    context.blockOrder.done(batch)
    for (const { block, id, slot } of batch) {
      slot?.release()
      const header = id === NO_HEADER ? context.tree.find(block.hash) : id
      if (header !== NO_HEADER) context.download.settled(header)
    }
  }

  private judged(hash: Bytes, reject: Reject | undefined): void {
    const key = binaryString(hash)
    const source = this.sources.get(key)
    this.sources.delete(key)
    if (source === undefined) return
    if (reject !== undefined) return this.blame(source, reject)
    this.context.peers.get(source.peer)?.peer.judged(true)
    if (!this.context.initial && this.context.download.count === 0) this.thank(source.peer)
  }

  private blame(item: ReceivedBlock, reject: Reject): void {
    const state = this.context.peers.get(item.peer)
    if (state === undefined) return
    // A reconstructed block says nothing about the peer's own, which is requested whole.
    if (item.compact) this.context.download.scoreOf(item.peer)?.failed()
    else this.context.download.refused(item.peer, this.context.tree.find(item.block.hash))
    state.peer.spent(this.cost)
    state.peer.judged(false)
    if (isOffence(reject, state, item.compact)) misbehaves(state, `invalid block: ${reject.reason}`)
  }

  /** A peer was first with the new tip, so it may send further blocks unsolicited. */
  private thank(peer: PeerId): void {
    const { highBandwidth, peers, wantsCompact } = this.context
    if (!wantsCompact) return
    const connection = peers.get(peer)?.peer
    if (connection === undefined || connection.features.compactBlocks === "none") return
    const choice = highBandwidth.gaveBlock(peer, connection.inbound)
    if (choice === undefined) return
    connection.post({ type: "sendcmpct", highBandwidth: true, version: COMPACT_VERSION })
    const dismissed = choice.dismissed === undefined ? undefined : peers.get(choice.dismissed)
    dismissed?.peer.post({ type: "sendcmpct", highBandwidth: false, version: COMPACT_VERSION })
  }
}
