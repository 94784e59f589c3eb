import * as Effect from "effect/Effect"
import type { Steps } from "../../protocol/steps.ts"
import type { CallTurns } from "../SlowLane.ts"
import { RpcError } from "./RpcError.ts"

/** Runs steps, as many in a row as the time of costly calls allows. */
export const inTurns = <A>(turns: CallTurns, steps: Steps<A>): Effect.Effect<A> => {
  const goOn = (): Effect.Effect<A> => {
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return Effect.succeed(value)
      if (turns.isOver()) return later
    }
  }
  const later = Effect.flatMap(turns.next, goOn)
  return Effect.suspend(goOn)
}

/** The same for steps that throw an `RpcError` for an invalid parameter. */
export const checkedInTurns = <A>(turns: CallTurns, steps: Steps<A>): Effect.Effect<A, RpcError> =>
  Effect.catchAllDefect(
    inTurns(turns, steps),
    (defect) => defect instanceof RpcError ? Effect.fail(defect) : Effect.die(defect)
  )

/** Runs an effect for each item in order, as many in a row as the time of costly calls allows. */
export const eachInTurns = <A, B, E, R>(
  turns: CallTurns,
  items: Iterable<A>,
  work: (item: A, at: number) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.forEach(items, (item, at) => turns.isOver() ? Effect.zipRight(turns.next, work(item, at)) : work(item, at))
