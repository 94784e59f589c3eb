import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { rebuildRequested } from "../chain/repair/rebuild.ts"

/** Most restarts for repair within an hour: a disk that damages more than that makes them useless. */
export const RESTARTS_AN_HOUR = 2

const HOUR_MS = 3_600_000

/**
 * Decides whether a failed node starts again in the same process: only if it requested a rebuild of its chain state,
 * which happens at a start.
 */
export class Restarts {
  private readonly chainstateDirectory: string
  private times: ReadonlyArray<number> = []

  constructor(chainstateDirectory: string) {
    this.chainstateDirectory = chainstateDirectory
  }

  readonly mayMend = (failure: { readonly _tag: string; readonly message: string }): Effect.Effect<boolean> =>
    Effect.gen(this, function*() {
      if (failure._tag !== "StorageCorrupted" || !rebuildRequested(this.chainstateDirectory)) return false
      const now = yield* Clock.currentTimeMillis
      this.times = this.times.filter((time) => now - time < HOUR_MS)
      const reason = failure.message
      if (this.times.length >= RESTARTS_AN_HOUR) {
        yield* Effect.logError("chain state damaged repeatedly within an hour: check the disk", { reason })
        return false
      }
      this.times = [...this.times, now]
      yield* Effect.logError("node restarts to rebuild its chain state", { reason })
      return true
    }).pipe(Effect.annotateLogs("subsystem", "storage"))
}
