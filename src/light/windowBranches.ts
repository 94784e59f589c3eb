import { type BlockIndex, NONE } from "../chain/index/BlockIndex.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { WaitingBlocks } from "./WaitingBlocks.ts"

/** Blocks for which operations of expired names are kept, as a reorg can revive such a name. */
export const KEPT_EXPIRED = 288

/**
 * The most blocks that a window may lack and still answer. With more, it is old: to make such headers and withhold
 * their blocks, an attacker needs as much power as all other miners.
 */
export const MOST_BEHIND = 6

export interface WindowPlace {
  readonly index: BlockIndex
  /** Its last block, or the header where it begins. */
  readonly high: HeaderId
  readonly height: Height
  /** Its first block; above `high` while there is none. */
  readonly low: Height
  readonly floor: Height
}

const hasBlocks = ({ height, low }: WindowPlace): boolean => low <= height

/** The lowest block that a reorg can go back to. Below it, the window does not keep what was replaced. */
const lowestFork = ({ height, low }: WindowPlace): Height => Math.max(low, height - KEPT_EXPIRED)

/** The height up to which a chain equals a window's. */
const forkHeight = ({ high, index }: WindowPlace, end: HeaderId): Height => index.height(index.forkPoint(end, high))

/** Whether a chain has a block that the window reaches only by a reorg. */
export const isInBranch = (place: WindowPlace, end: HeaderId, id: HeaderId): boolean => {
  const { height, index } = place
  const fork = forkHeight(place, end)
  const at = index.height(id)
  return hasBlocks(place) && fork < height && at > fork && at <= index.height(end) && index.ancestor(end, at) === id
}

/**
 * Whether a window cannot follow a chain with more work: it forks below the window, its first block there is missing,
 * it has more new blocks than the window has blocks, or its branch is too large to take at once.
 */
export const isLost = (place: WindowPlace, best: HeaderId, isTooLarge: boolean): boolean => {
  const { height, index, low } = place
  const fork = forkHeight(place, best)
  if (index.height(best) - fork > Math.max(MOST_BEHIND, height - low + 1)) return true
  if (!hasBlocks(place)) return fork < height
  return fork < lowestFork(place) || isTooLarge && fork < height
}

/** The valid header with the most work, or `NONE`. */
export const bestOf = (index: BlockIndex, ids: Iterable<HeaderId>): HeaderId => {
  let best = NONE
  for (const id of ids) if (!index.isFailed(id) && (best === NONE || index.compareWork(id, best) > 0)) best = id
  return best
}

/** Whether a window can no longer take a block: it is invalid or old, or its branch lost. */
export const isStale = (place: WindowPlace, id: HeaderId): boolean => {
  const { floor, high, height, index, low } = place
  const at = index.height(id)
  if (index.isFailed(id) || at < floor) return true
  // Without a block, the window may still begin in another branch.
  if (!hasBlocks(place)) return false
  return at < low ? index.ancestor(high, at) !== id : at <= height - KEPT_EXPIRED
}

/** The blocks of a complete branch with more work than the window, oldest first. */
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
