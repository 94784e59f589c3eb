import * as Effect from "effect/Effect"
import { Snapshots } from "../chain/Snapshots.ts"
import { NameDb } from "../names/NameDb.ts"

/**
 * Empties names that began with a snapshot, if the chain did not begin with that one: the snapshot was removed or found
 * invalid. Runs before the follower of the names is registered.
 */
export const restartNames = Effect.gen(function*() {
  const { beganAt } = yield* Snapshots
  const { beginning, follower } = yield* NameDb
  const height = yield* beginning
  if (height === undefined || (yield* beganAt(height))) return
  yield* Effect.logWarning("names began with a snapshot that is not in use: they are read again from the blocks", {
    height
  })
  yield* follower.repair?.begin ?? Effect.void
})
