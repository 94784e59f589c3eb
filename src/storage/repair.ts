import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { guarded } from "./Database.ts"
import { type Checkable, DataHealth } from "./DataHealth.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "./errors.ts"
import type { Inspected } from "./inspect.ts"
import type { PageGuard } from "./PageGuard.ts"

/** How the chain rebuilds a store of derived data up to the tip. */
export interface Repair {
  readonly concerns: (failure: StorageFailure) => boolean
  /** Completes each time the store is found damaged. */
  readonly wanted: Effect.Effect<void>
  /** Empties the store, so that the cursor is `undefined`. No follower may write meanwhile. */
  readonly begin: Effect.Effect<void, StorageFailure>
  /** To be run when the store is at the tip again. */
  readonly done: Effect.Effect<void>
}

export interface StoreRepair extends Repair {
  /** Sets a doubt until `done` and requests a rebuild. Further damage changes nothing. */
  readonly noticed: (failure: StorageFailure) => Effect.Effect<void>
}

export const makeRepair = (
  { filename, what }: Pick<Inspected, "filename" | "what">,
  begin: Effect.Effect<void, StorageFailure>
): Effect.Effect<StoreRepair, never, DataHealth> =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const wishes = yield* Queue.sliding<void>(1)
    let doubted: Effect.Effect<void> | undefined
    const concerns = (failure: StorageFailure): failure is StorageCorrupted =>
      failure instanceof StorageCorrupted && failure.file === filename
    return {
      concerns,
      wanted: Queue.take(wishes),
      begin,
      noticed: (failure) =>
        Effect.gen(function*() {
          if (!concerns(failure) || doubted !== undefined) return
          doubted = Effect.void
          yield* health.damaged(what)
          doubted = yield* health.doubt({ what, reason: `${failure.found}; it is rebuilt from the stored blocks` })
          yield* Queue.offer(wishes, undefined)
        }).pipe(Effect.uninterruptible),
      done: Effect.suspend(() => {
        const end = doubted ?? Effect.void
        doubted = undefined
        return end
      })
    }
  })

/** Pages for the background check. Damage goes to `noticed`. */
export const pagesOf = (
  { filename, remedy, what }: Inspected,
  guard: () => PageGuard,
  noticed: (failure: StorageFailure) => Effect.Effect<void>
): Checkable => ({
  what,
  unit: "pages",
  total: Effect.sync(() => guard().pages),
  check: (from) =>
    Effect.suspend(() => {
      try {
        return Effect.succeed(guarded({ file: filename, doing: "reading", remedy }, () => guard().check(from)))
      } catch (failure) {
        if (failure instanceof StorageCorrupted) return Effect.as(noticed(failure), undefined)
        return failure instanceof StorageUnavailable ? Effect.fail(failure) : Effect.die(failure)
      }
    })
})
