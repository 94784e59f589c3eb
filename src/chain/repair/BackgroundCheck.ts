import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { type EventLoopUtilization, performance } from "node:perf_hooks"
import { type Checkable, DataHealth } from "../../storage/DataHealth.ts"
import { SyncStatus } from "../SyncStatus.ts"

/** The pause after a step, as a multiple of its duration: the check uses about 2 % of a core. */
const REST = 49

/** The shortest pause between two steps, in milliseconds: a step reads up to a mebibyte. */
const LEAST_PAUSE = 250

/** The shortest time from the end of a pass through a part to the next one, in milliseconds: a small part is soon checked. */
const PASS_PAUSE = 3_600_000

/** Milliseconds between two checks whether the node has caught up. */
const BUSY_PAUSE = 5_000

/** Milliseconds between two looks for a part to check. */
const IDLE_PAUSE = 60_000

/** Milliseconds after a read failure, which is logged. */
const FAILURE_PAUSE = 600_000

/** The share of time in which callers and peers keep the event loop running that makes the check slow. */
const BUSY_SHARE = 0.5

/** The pause after a step while the event loop is busy, in milliseconds. The check goes on: a node can be busy for days. */
const CROWDED_PAUSE = 10_000

/** The share of time, between 0 and 1, that the event loop has run since the last call. */
export const loopShare = (): () => number => {
  let last: EventLoopUtilization = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const share = performance.eventLoopUtilization(now, last).utilization
    last = now
    return share
  }
}

/** Milliseconds that no jump of the wall clock moves. */
const monotonic = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

/** A pass through a part. It starts at a random unit: so a node with short uptimes checks every unit too. */
interface Pass {
  readonly start: number
  at: number
  /** Whether the end was passed: only units below `start` are left. */
  wrapped: boolean
}

/**
 * Checks all stored data repeatedly and slowly, more slowly while the event loop is busy, and not at all while the node
 * downloads or imports.
 */
const make = (share: () => number) =>
  Effect.gen(function*() {
    const health = yield* DataHealth
    const status = yield* SyncStatus
    const passes = new Map<string, Pass>()
    /** When a part may be checked again, monotonic milliseconds. */
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
          rests.set(part.what, (yield* monotonic) + PASS_PAUSE)
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
          Effect.flatMap((pause) =>
            Effect.sleep(Math.max(pause, LEAST_PAUSE, REST * (performance.now() - started), crowdedPause()))
          )
        )
      })

    const crowdedPause = () => share() > BUSY_SHARE ? CROWDED_PAUSE : 0

    const round = Effect.gen(function*() {
      if ((yield* status.loading) || (yield* status.initialDownload)) return yield* Effect.sleep(BUSY_PAUSE)
      const parts = yield* health.parts
      const now = yield* monotonic
      const due = parts.filter(({ what }) => (rests.get(what) ?? 0) <= now)
      if (due.length === 0) return yield* Effect.sleep(IDLE_PAUSE)
      for (const part of due) yield* paced(part)
    })

    // A start has other work: it is over when the first answers were given.
    yield* Effect.forkScoped(Effect.zipRight(Effect.sleep(BUSY_PAUSE), Effect.forever(round)))
  }).pipe(Effect.annotateLogs("subsystem", "storage"))

/** The background check, if `wanted`. `share` tells how busy the event loop was since its last call, between 0 and 1. */
export const layer = (wanted: boolean, share = loopShare()): Layer.Layer<never, never, DataHealth | SyncStatus> =>
  wanted ? Layer.scopedDiscard(make(share)) : Layer.empty
