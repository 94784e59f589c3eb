import { type BlockIndex, NONE } from "../chain/index/BlockIndex.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { WaitingBlocks } from "./WaitingBlocks.ts"

/** Decisions of a window about the branches of its chain. */

/** Blocks for which the operations of expired names are kept: a reorganization can make such a name live again. */
export const KEPT_EXPIRED = 288

/**
 * Blocks that a window may lack above it and still answer. More headers than that with the most work are there because it
 * is old: to make them and withhold their blocks, an attacker needs as much power as all others.
 */
export const MOST_BEHIND = 6

/** Where a window is in its chain. */
export interface WindowPlace {
  readonly index: BlockIndex
  /** Its last block, or the header at which it begins. */
  readonly high: HeaderId
  /** The height of `high`. */
  readonly height: Height
  /** Its first block; above `high` while it has none. */
  readonly low: Height
  /** The lowest block that it wants. */
  readonly floor: Height
}

const hasBlocks = ({ height, low }: WindowPlace): boolean => low <= height

/** The lowest block that a reorganization can go back to: below it, the window does not keep what was replaced. */
const lowestFork = ({ height, low }: WindowPlace): Height => Math.max(low, height - KEPT_EXPIRED)

/** The height up to which a chain is that of a window. */
const forkHeight = ({ high, index }: WindowPlace, end: HeaderId): Height => index.height(index.forkPoint(end, high))

/** Whether a chain has a block, and the window does not reach it without a reorganization. */
export const isInBranch = (place: WindowPlace, end: HeaderId, id: HeaderId): boolean => {
  const { height, index } = place
  const fork = forkHeight(place, end)
  const at = index.height(id)
  return hasBlocks(place) && fork < height && at > fork && at <= index.height(end) && index.ancestor(end, at) === id
}

/**
 * Whether a window cannot follow a chain with more work: it forks below the window, does not have the block at which that
 * begins, has more blocks above it than the window has, or its branch is too large to be taken at once.
 */
export const isLost = (place: WindowPlace, best: HeaderId, isTooLarge: boolean): boolean => {
  const { height, index, low } = place
  const fork = forkHeight(place, best)
  if (index.height(best) - fork > Math.max(MOST_BEHIND, height - low + 1)) return true
  if (!hasBlocks(place)) return fork < height
  return fork < lowestFork(place) || isTooLarge && fork < height
}

/** The valid header with the most work; `NONE` for none. */
export const bestOf = (index: BlockIndex, ids: Iterable<HeaderId>): HeaderId => {
  let best = NONE
  for (const id of ids) if (!index.isFailed(id) && (best === NONE || index.compareWork(id, best) > 0)) best = id
  return best
}

/** Whether a window can no longer take a block: it is invalid, or old, or its branch lost. */
export const isStale = (place: WindowPlace, id: HeaderId): boolean => {
  const { floor, high, height, index, low } = place
  const at = index.height(id)
  if (index.isFailed(id) || at < floor) return true
  // Without a block, the window may still begin in another branch.
  if (!hasBlocks(place)) return false
  return at < low ? index.ancestor(high, at) !== id : at <= height - KEPT_EXPIRED
}

/** The blocks of a branch that has more work than the window and is here as a whole, the oldest first. */
export const betterBranch = (place: WindowPlace, waiting: WaitingBlocks): ReadonlyArray<HeaderId> | undefined => {
  const { high, index } = place
  if (high === NONE || !hasBlocks(place)) return undefined
  for (const end of waiting.ids) {
    if (index.compareWork(end, high) <= 0) continue
    const fork = forkHeight(place, end)
    const branch = Array.from({ length: index.height(end) - fork }, (_, i) => index.ancestor(end, fork + 1 + i))
    if (fork >= lowestFork(place) && branch.every((id) => waiting.has(id))) return branch
  }
  return undefined
}
