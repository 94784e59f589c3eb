import * as Effect from "effect/Effect"
import { slice, turnOfEventLoop } from "../base/turns.ts"
import type { Steps } from "../protocol/steps.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../storage/errors.ts"

export const isStorageFailure = (cause: unknown): cause is StorageFailure =>
  cause instanceof StorageCorrupted || cause instanceof StorageUnavailable

/** Runs synchronous work that throws `StorageFailure`. Any other error is a defect. */
export const attempt = <A>(work: () => A): Effect.Effect<A, StorageFailure> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(work())
    } catch (cause) {
      return isStorageFailure(cause) ? Effect.fail(cause) : Effect.die(cause)
    }
  })

/** The same for work in steps. Yields to the event loop every few milliseconds and after long work. */
export const attemptSteps = <A>(begin: () => Steps<A>): Effect.Effect<A, StorageFailure> =>
  Effect.suspend(() => {
    const steps = begin()
    const some = attempt((): IteratorResult<void, A> => {
      let at: IteratorResult<void, A> = { done: false, value: undefined }
      slice(() => (at = steps.next()).done !== true)
      return at
    })
    const onward: Effect.Effect<A, StorageFailure> = Effect.flatMap(
      Effect.zipRight(turnOfEventLoop, some),
      (at) => at.done === true ? Effect.as(turnOfEventLoop, at.value) : onward
    )
    return Effect.flatMap(some, (at) => at.done === true ? Effect.succeed(at.value) : onward)
  })
