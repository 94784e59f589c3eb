import type { Reject } from "../../consensus/Reject.ts"
import type { BlockHeader } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import type { BlockLosses } from "../repair/BlockLosses.ts"
import type { ChainState } from "../state/ChainState.ts"
import { type BlockIndex, GENESIS, NONE, Status } from "./BlockIndex.ts"

/** The losses, without methods that change what the chain stores or awaits. */
export type KnownLosses = Omit<BlockLosses, "look" | "lose" | "pruned" | "regained" | "waitFor" | "giveUp" | "bars">

/**
 * The header tree for synchronous access: sync, serving and announcing read it thousands of times. A header's number
 * never changes while the node runs; `NO_HEADER` means none. Reads in one turn of the event loop are consistent. The
 * best chain is visible up to the last validated block.
 */
export interface HeaderTree {
  readonly find: (hash: Bytes) => HeaderId
  /** A view in wire order; copy it to keep it. */
  readonly hash: (id: HeaderId) => Bytes
  readonly height: (id: HeaderId) => Height
  readonly time: (id: HeaderId) => number
  readonly bits: (id: HeaderId) => number
  /** `NO_HEADER` for genesis. */
  readonly parent: (id: HeaderId) => HeaderId
  /** The ancestor at a height up to the header's own. Logarithmic. */
  readonly ancestor: (id: HeaderId, height: Height) => HeaderId
  readonly forkPoint: (a: HeaderId, b: HeaderId) => HeaderId
  /** Positive if `a` has more chain work than `b`. */
  readonly compareWork: (a: HeaderId, b: HeaderId) => number
  readonly chainwork: (id: HeaderId) => bigint
  readonly medianTimePast: (id: HeaderId) => number
  /** Why a header cannot follow its predecessor: its time, target or version, or an invalid predecessor. */
  readonly misplaced: (header: BlockHeader) => Reject | undefined
  /** Whether the block or an ancestor is invalid. */
  readonly isFailed: (id: HeaderId) => boolean
  /** 0 if the block was never stored. */
  readonly transactions: (id: HeaderId) => number
  readonly hasBlock: (id: HeaderId) => boolean
  /** Whether the block was pruned and is not stored. */
  readonly isPruned: (id: HeaderId) => boolean
  /** Whether the block was ever connected, and so completely validated. */
  readonly wasConnected: (id: HeaderId) => boolean
  readonly tip: () => HeaderId
  /** The valid header with the most work that the chain can reach. */
  readonly best: () => HeaderId
  /** The header with the most work, including branches given up for a missing block. */
  readonly mostWork: () => HeaderId
  readonly count: () => number
  /** The block of the best chain at a height; `NO_HEADER` above the tip. */
  readonly at: (height: Height) => HeaderId
  readonly isActive: (id: HeaderId) => boolean
  readonly losses: KnownLosses
}

export const NO_HEADER = NONE

/** What headers tell without a chain. */
export const indexedHeaders = (index: BlockIndex) => ({
  find: (hash: Bytes) => index.find(hash),
  hash: (id: HeaderId) => index.hash(id),
  height: (id: HeaderId) => index.height(id),
  time: (id: HeaderId) => index.time(id),
  bits: (id: HeaderId) => index.bits(id),
  parent: (id: HeaderId) => index.parent(id),
  ancestor: (id: HeaderId, height: Height) => index.ancestor(id, height),
  forkPoint: (a: HeaderId, b: HeaderId) => index.forkPoint(a, b),
  compareWork: (a: HeaderId, b: HeaderId) => index.compareWork(a, b),
  chainwork: (id: HeaderId) => index.chainwork(id),
  medianTimePast: (id: HeaderId) => index.medianTimePast(id),
  isFailed: (id: HeaderId) => index.isFailed(id),
  count: () => index.count
})

export const headerTree = (state: ChainState): HeaderTree => {
  const { index } = state
  return {
    ...indexedHeaders(index),
    misplaced: (header) => state.checkPlace(header),
    transactions: (id) => index.txCount(id),
    hasBlock: (id) => index.has(id, Status.HAVE_DATA),
    isPruned: (id) => index.has(id, Status.PRUNED) && !index.has(id, Status.HAVE_DATA),
    wasConnected: (id) => index.has(id, Status.VALID),
    tip: () => state.active.settledTip,
    best: () => state.forks.best.reachable,
    mostWork: () => state.forks.best.mostWork,
    at: (height) => height > state.active.settledHeight ? NONE : state.active.at(height),
    isActive: (id) => state.active.isActive(id),
    losses: state.losses
  }
}

/** Genesis, or an anchor. */
const FIRST = GENESIS

/** Parts of a peer's chain above a known header. Each of 60,000 headers' parts fits into one `headers` message. */
const PARTS = 32

/** Heights from the top down to the bottom: the first ten are consecutive, then the step doubles up to the widest. */
const heightsDown = (top: Height, bottom: Height, widest: number): ReadonlyArray<Height> => {
  const heights: Array<Height> = []
  let height = top
  for (let step = 1; height > bottom; height -= step) {
    heights.push(height)
    if (heights.length > 10) step = Math.min(2 * step, widest)
  }
  return heights
}

/**
 * The hashes of a block locator for `getheaders` and `getblocks`, from a header back to the first one: ten are
 * consecutive, then the step doubles each time. Source: upstream `chain.cpp`, `LocatorEntries`.
 * @param known the header itself, or an ancestor that the peer has. Steps above it are shorter, so that the answer
 * shows where the peer's chain ends or forks off, instead of being full of known headers.
 */
export const locatorOf = (tree: HeaderTree, id: HeaderId, known: HeaderId = id): ReadonlyArray<Bytes> => {
  const [first, from, top] = [tree.height(FIRST), tree.height(known), tree.height(id)]
  const above = heightsDown(top, from, Math.ceil((top - from) / PARTS))
  const heights = [...above, ...heightsDown(from, first, Infinity), first]
  return heights.map((height) => tree.hash(tree.ancestor(id, height)).slice())
}
