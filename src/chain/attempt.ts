import * as Effect from "effect/Effect"
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
