import * as Effect from "effect/Effect"
import type { Height } from "../../protocol/keys.ts"
import { BlocksPruned } from "../errors.ts"
import { Status } from "../index/BlockIndex.ts"
import type { ActiveChainReader } from "../state/ActiveChain.ts"
import type { ChainState } from "../state/ChainState.ts"
import { type Following, nextMove } from "../write/followers.ts"

/** Blocks kept below the cursor of a follower, which a reorg rewinds (upstream `PRUNE_LOCK_BUFFER`). */
const KEPT_FOR_FOLLOWERS = 10

/** The last block that all followers have and that may be pruned (upstream `validation.cpp`, `FlushStateToDisk`). */
export const lastUnneeded = (
  { settledHeight }: Pick<ActiveChainReader, "settledHeight">,
  followers: ReadonlyArray<Pick<Following, "cursor">>
): Height =>
  followers.reduce(
    (last, { cursor }) => Math.min(last, (cursor?.height ?? 0) - KEPT_FOR_FOLLOWERS - 1),
    settledHeight
  )

/** The first pruned block that a follower needs to reach the tip. */
const firstPruned = (state: ChainState, { cursor, follower: { needsCoins } }: Following): Height | undefined => {
  const move = nextMove(state, cursor)
  if (move.type === "wait" || move.type === "adopt") return undefined
  const from = move.type === "forward" ? move.from : move.to.height + 1
  for (let height = Math.max(1, from); height <= state.losses.prunedTo; height++) {
    const id = state.active.at(height)
    const isStored = !state.index.has(id, Status.PRUNED) || state.index.has(id, Status.HAVE_DATA)
    if (!isStored || (needsCoins === true && !state.index.has(id, Status.HAVE_UNDO))) return height
  }
  return undefined
}

/** Refuses a follower that can never reach the tip. */
export const refusePruned = (state: ChainState, following: Following): Effect.Effect<void, BlocksPruned> =>
  Effect.suspend(() => {
    const height = firstPruned(state, following)
    const { background = false, name, needsCoins = false } = following.follower
    return height === undefined
      ? Effect.void
      : Effect.fail(new BlocksPruned({ follower: name, height, undo: needsCoins, optional: background }))
  })
