import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { Steps } from "../../protocol/steps.ts"
import type { CallTurns } from "../SlowLane.ts"
import type { Read, RpcError } from "./RpcError.ts"

/** Pauses when the time of costly calls is used up. */
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

/** One item per step, until the reader refuses one. */
export function* readSteps<A, B>(items: Iterable<A>, read: (item: A, at: number) => Read<B>): Steps<Read<Array<B>>> {
  const made: Array<B> = []
  for (const item of items) {
    const outcome = read(item, made.length)
    if (Either.isLeft(outcome)) return Either.left(outcome.left)
    made.push(outcome.right)
    yield
  }
  return Either.right(made)
}

export const readInTurns = <A>(turns: CallTurns, steps: Steps<Read<A>>): Effect.Effect<A, RpcError> =>
  Effect.flatten(inTurns(turns, steps))

/** Pauses when the time of costly calls is used up. */
export const eachInTurns = <A, B, E, R>(
  turns: CallTurns,
  items: Iterable<A>,
  work: (item: A, at: number) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.forEach(items, (item, at) => turns.isOver() ? Effect.zipRight(turns.next, work(item, at)) : work(item, at))
