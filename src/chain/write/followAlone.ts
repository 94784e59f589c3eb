import * as Effect from "effect/Effect"
import { withLoneSpan, withoutSpan } from "../../base/spans.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Repair } from "../../storage/repair.ts"
import type { ChainState } from "../state/ChainState.ts"
import { advance, type Following, leavesStored } from "./followers.ts"

export interface BetweenSteps {
  readonly state: ChainState
  readonly flush: Effect.Effect<void, StorageFailure>
  readonly inTurn: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

/**
 * Brings a follower to the tip between new blocks, of which it is not notified. It reads stored blocks alone, even in a
 * series of blocks that the chain keeps in memory.
 */
const catchUpAlone = (
  { flush, inTurn, state }: BetweenSteps,
  following: Following
): Effect.Effect<void, StorageFailure> => {
  /** Whether the store is at the tip. Set in the same step as the last blocks, so that no block comes in between. */
  const onward = Effect.gen(function*() {
    if (leavesStored(state, following)) yield* flush
    if (yield* advance(state, following)) return false
    following.rebuilding = false
    if (following.follower.arrived !== undefined) yield* following.follower.arrived
    return true
  }).pipe(
    // The repair of a store that is found damaged on its first way restarts.
    Effect.catchIf(
      (failure) => following.cursor !== undefined && following.follower.repair?.concerns(failure) === true,
      () => Effect.succeed(true)
    )
  )
  return Effect.asVoid(Effect.repeat(
    Effect.zipLeft(inTurn(onward), turnOfEventLoop),
    { until: (arrived) => arrived }
  ))
}

/** Rebuilds a follower's store each time it is found damaged, between new blocks. */
const repairing = (
  between: BetweenSteps,
  following: Following,
  repair: Repair
): Effect.Effect<void, StorageFailure> => {
  const begin = Effect.suspend(() => {
    following.rebuilding = true
    following.cursor = undefined
    return Effect.uninterruptible(repair.begin)
  })
  const rebuild = between.inTurn(begin).pipe(
    Effect.zipRight(catchUpAlone(between, following)),
    Effect.zipRight(repair.done),
    withLoneSpan("svcd.chain.rebuild")
  )
  return Effect.zipRight(repair.wanted, rebuild).pipe(
    Effect.forever,
    withoutSpan,
    Effect.annotateLogs("subsystem", "storage")
  )
}

/** The first way to the tip of a follower that is far behind. */
const firstWay = (between: BetweenSteps, following: Following): Effect.Effect<void, StorageFailure> => {
  const { name } = following.follower
  const log = (what: string) => Effect.suspend(() => Effect.logInfo(what, { height: following.cursor?.height }))
  return log(`${name} catches up in the background`).pipe(
    Effect.zipRight(catchUpAlone(between, following)),
    Effect.zipRight(log(`${name} has caught up`)),
    withoutSpan
  )
}

/** What a follower does on its own: its first way to the tip if it `isBehind`, then its repairs. */
export const followAlone = (
  between: BetweenSteps,
  following: Following,
  isBehind: boolean
): Effect.Effect<void, StorageFailure> => {
  const { repair } = following.follower
  return Effect.zipRight(
    isBehind ? firstWay(between, following) : Effect.void,
    repair === undefined ? Effect.void : repairing(between, following, repair)
  )
}
