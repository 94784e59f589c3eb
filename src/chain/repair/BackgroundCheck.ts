import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { type Checkable, DataHealth } from "../../storage/DataHealth.ts"
import { SyncStatus } from "../SyncStatus.ts"

/** The pause after a step, as a multiple of its duration: the check uses about 2 % of a core. */
const REST = 49

/** The shortest pause between two steps, in milliseconds: a step reads up to a mebibyte. */
const LEAST_PAUSE = 250

/** Milliseconds between two checks whether the node has caught up. */
const BUSY_PAUSE = 5_000

/** Milliseconds after a read failure, which is logged. */
const FAILURE_PAUSE = 600_000

/** A pass through a part. It starts at a random unit: so a node with short uptimes checks every unit too. */
interface Pass {
  readonly start: number
  at: number
  /** Whether the end was passed: only units below `start` are left. */
  wrapped: boolean
}

/** Checks all stored data repeatedly and slowly, but not while the node downloads or imports. */
const make = Effect.gen(function*() {
  const health = yield* DataHealth
  const status = yield* SyncStatus
  const passes = new Map<string, Pass>()

  const passOf = (part: Checkable): Effect.Effect<Pass> =>
    Effect.gen(function*() {
      const known = passes.get(part.what)
      if (known !== undefined) return known
      const start = yield* Random.nextIntBetween(0, Math.max(1, yield* part.total))
      const fresh: Pass = { start, at: start, wrapped: false }
      passes.set(part.what, fresh)
      return fresh
    })

  const step = (part: Checkable) =>
    Effect.gen(function*() {
      const pass = yield* passOf(part)
      const next = yield* part.check(pass.at)
      const total = yield* part.total
      if (next === undefined) pass.wrapped = true
      pass.at = next ?? 0
      if (pass.wrapped && (pass.at >= pass.start || total === 0)) {
        passes.delete(part.what)
        yield* health.passed(part.what)
        return yield* Effect.logDebug("background check finished", { what: part.what })
      }
      yield* health.checked(part.what, pass.wrapped ? total - pass.start + pass.at : pass.at - pass.start)
    })

  const paced = (part: Checkable): Effect.Effect<void> =>
    Effect.suspend(() => {
      const started = performance.now()
      return step(part).pipe(
        Effect.as(0),
        Effect.catchAll((failure) =>
          Effect.as(
            Effect.logWarning("background check cannot read", { what: part.what, reason: failure.message }),
            FAILURE_PAUSE
          )
        ),
        Effect.flatMap((pause) => Effect.sleep(Math.max(pause, LEAST_PAUSE, REST * (performance.now() - started))))
      )
    })

  const round = Effect.gen(function*() {
    if ((yield* status.loading) || (yield* status.initialDownload)) return yield* Effect.sleep(BUSY_PAUSE)
    const parts = yield* health.parts
    if (parts.length === 0) return yield* Effect.sleep(BUSY_PAUSE)
    for (const part of parts) yield* paced(part)
  })

  yield* Effect.forkScoped(Effect.forever(round))
}).pipe(Effect.annotateLogs("subsystem", "storage"))

/** The background check, if `wanted`. */
export const layer = (wanted: boolean): Layer.Layer<never, never, DataHealth | SyncStatus> =>
  wanted ? Layer.scopedDiscard(make) : Layer.empty
