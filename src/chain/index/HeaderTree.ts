import type { Reject } from "../../consensus/Reject.ts"
import type { BlockHeader } from "../../protocol/block.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { BlockLosses } from "../repair/BlockLosses.ts"
import type { ChainState } from "../state/ChainState.ts"
import { NONE, Status } from "./BlockIndex.ts"

/**
 * The tree of headers, to be walked without waiting: sync, serving and announcing ask it thousands of times. A header is
 * known by its number, which never changes while the node runs; `NO_HEADER` stands for none. What one turn of the event
 * loop reads is consistent. The best chain is shown as far as it is judged.
 */
export interface HeaderTree {
  /** The number of a hash in wire order, or `NO_HEADER`. */
  readonly find: (hash: Bytes) => number
  /** Wire order: a view, to be copied where it is kept. */
  readonly hash: (id: number) => Bytes
  readonly height: (id: number) => number
  /** Seconds since 1970. */
  readonly time: (id: number) => number
  readonly bits: (id: number) => number
  /** `NO_HEADER` for genesis. */
  readonly parent: (id: number) => number
  /** The ancestor at a height not above the header's own; itself at its own height. Logarithmic. */
  readonly ancestor: (id: number, height: number) => number
  /** The last header that two chains have in common. */
  readonly forkPoint: (a: number, b: number) => number
  /** Above zero where `a` has more chain work than `b`. */
  readonly compareWork: (a: number, b: number) => number
  readonly chainwork: (id: number) => bigint
  readonly medianTimePast: (id: number) => number
  /** Why a header cannot follow its predecessor: its time, its target, its version, or that one is invalid. */
  readonly misplaced: (header: BlockHeader) => Reject | undefined
  /** Whether the block, or one that it builds on, is invalid. */
  readonly isFailed: (id: number) => boolean
  /** Whether the block's bytes are stored. */
  readonly hasBlock: (id: number) => boolean
  /** Whether the block was connected at some time, so that everything about it was judged. */
  readonly wasConnected: (id: number) => boolean
  /** The last block of the best chain. */
  readonly tip: () => number
  /** The header with the most work that nothing is known against and that the chain can go to. */
  readonly best: () => number
  /** The same, on a branch that was given up too: the way there leads over a block that is missing. */
  readonly mostWork: () => number
  /** How many headers there are; their numbers are 0 to count - 1. */
  readonly count: () => number
  /** The block of the best chain at a height; `NO_HEADER` above the tip. */
  readonly at: (height: number) => number
  readonly isActive: (id: number) => boolean
  /** Which blocks of the best chain are not stored any more. */
  readonly losses: BlockLosses
}

/** The number of no header. */
export const NO_HEADER = NONE

export const headerTree = (state: ChainState): HeaderTree => {
  const { index } = state
  return {
    find: (hash) => index.find(hash),
    hash: (id) => index.hash(id),
    height: (id) => index.height(id),
    time: (id) => index.time(id),
    bits: (id) => index.bits(id),
    parent: (id) => index.parent(id),
    ancestor: (id, height) => index.ancestor(id, height),
    forkPoint: (a, b) => index.forkPoint(a, b),
    compareWork: (a, b) => index.compareWork(a, b),
    chainwork: (id) => index.chainwork(id),
    medianTimePast: (id) => index.medianTimePast(id),
    misplaced: (header) => state.checkPlace(header),
    isFailed: (id) => index.isFailed(id),
    hasBlock: (id) => index.has(id, Status.HAVE_DATA),
    wasConnected: (id) => index.has(id, Status.VALID),
    tip: () => state.at(state.settledHeight),
    best: () => state.bestHeader,
    mostWork: () => state.best.mostWork,
    count: () => index.count,
    at: (height) => height > state.settledHeight ? NONE : state.at(height),
    isActive: (id) => state.isActive(id),
    losses: state.losses
  }
}

/**
 * Hashes from a header back to genesis, ever further apart: what `getheaders` and `getblocks` ask with. The last ten
 * come one by one, then the steps double.
 * Source: upstream `chain.cpp`, `LocatorEntries`.
 */
export const locatorOf = (tree: HeaderTree, id: number): ReadonlyArray<Bytes> => {
  const hashes: Array<Bytes> = []
  let height = tree.height(id)
  for (let step = 1; height > 0; height -= step) {
    hashes.push(tree.hash(tree.ancestor(id, height)).slice())
    if (hashes.length > 10) step *= 2
  }
  hashes.push(tree.hash(tree.ancestor(id, 0)).slice())
  return hashes
}
