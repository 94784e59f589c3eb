import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { monotonic } from "../../base/clock.ts"
import { loopShare } from "../../base/consumption.ts"
import { type Checkable, DataHealth } from "../../storage/DataHealth.ts"
import { SyncStatus } from "../SyncStatus.ts"

/** The pause after a step as a multiple of its duration: about 2 % of a core. */
const REST = 49

/** The shortest pause between steps in milliseconds. A step reads up to a mebibyte. */
const LEAST_PAUSE = 250

/** The shortest time between two passes through a part in milliseconds, as small parts are quickly checked. */
const PASS_PAUSE = 3_600_000

/** Milliseconds between checks whether the node is synced. */
const BUSY_PAUSE = 5_000

/** Milliseconds between looks for a part to check. */
const IDLE_PAUSE = 60_000

/** Milliseconds after a logged read failure. */
const FAILURE_PAUSE = 600_000

/** The busy share of the event loop above which the check slows down. */
const BUSY_SHARE = 0.5

/** The pause after a step on a busy event loop, in milliseconds. The check continues: a node can be busy for days. */
const CROWDED_PAUSE = 10_000

/** Milliseconds unaffected by changes of the wall clock. */
const elapsed = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

/** A pass through a part, from a random unit so that nodes with short uptimes check every unit too. */
interface Pass {
  readonly start: number
  at: number
  /** Whether the end was passed, so that only units below `start` are left. */
  wrapped: boolean
}

/** Checks all stored data continuously: slowly, slower on a busy event loop, and not during downloads or imports. */
const make = (share: () => number) =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const status = yield* SyncStatus
    const passes = new Map<string, Pass>()
    /** When a part may be checked again, in monotonic milliseconds. */
    const rests = new Map<string, number>()

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
          rests.set(part.what, (yield* elapsed) + PASS_PAUSE)
          yield* health.passed(part.what)
          return yield* Effect.logDebug("background check finished", { what: part.what })
        }
        yield* health.checked(part.what, pass.wrapped ? total - pass.start + pass.at : pass.at - pass.start)
      })

    const paced = (part: Checkable): Effect.Effect<void> =>
      Effect.suspend(() => {
        const started = monotonic()
        return step(part).pipe(
          Effect.as(0),
          Effect.catchAll((failure) =>
            Effect.as(
              Effect.logWarning("background check cannot read", { what: part.what, reason: failure.message }),
              FAILURE_PAUSE
            )
          ),
          Effect.flatMap((pause) =>
            Effect.sleep(Math.max(pause, LEAST_PAUSE, REST * (monotonic() - started), crowdedPause()))
          )
        )
      })

    const crowdedPause = () => share() > BUSY_SHARE ? CROWDED_PAUSE : 0

    const round = Effect.gen(function*() {
      if ((yield* status.loading) || (yield* status.initialDownload)) return yield* Effect.sleep(BUSY_PAUSE)
      const parts = yield* health.parts
      const now = yield* elapsed
      const due = parts.filter(({ what }) => (rests.get(what) ?? 0) <= now)
      if (due.length === 0) return yield* Effect.sleep(IDLE_PAUSE)
      for (const part of due) yield* paced(part)
    })

    yield* Effect.forkScoped(Effect.zipRight(Effect.sleep(BUSY_PAUSE), Effect.forever(round)))
  }).pipe(Effect.annotateLogs("subsystem", "storage"))

/** The background check, if `wanted`. `share` returns how busy the event loop was since the last call, 0 to 1. */
export const layer = (wanted: boolean, share = loopShare()): Layer.Layer<never, never, DataHealth | SyncStatus> =>
  wanted ? Layer.scopedDiscard(make(share)) : Layer.empty
