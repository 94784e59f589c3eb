import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { monotonic } from "../base/clock.ts"
import { loopShare } from "../base/consumption.ts"
import { afterDelay, cancelTimer, type Timer } from "../base/turns.ts"
import { eventLoopDelay, processStart, residentMemory } from "./metrics.ts"

/** Milliseconds between measurements while busy and idle. One takes some 2 µs, but wakes an idle process. */
const INTERVAL = { least: 20, most: 1_280 }

/** Share of time and milliseconds of delay from which the loop counts as busy. */
const BUSY_SHARE = 0.05
const BUSY_DELAY = 10

/** Takes about 20 µs. */
export const sampleProcess: Effect.Effect<void> = Effect.sync(() => {
  residentMemory.set(process.memoryUsage.rss())
  processStart.set(performance.timeOrigin / 1000)
})

/** The pause before the next measurement. */
export const nextInterval = (
  interval: number,
  { delay, share }: { readonly delay: number; readonly share: number }
): number => delay > BUSY_DELAY || share > BUSY_SHARE ? INTERVAL.least : Math.min(2 * interval, INTERVAL.most)

/** Measures the delay of timers until the scope closes. Does not keep the process alive. */
export const watchEventLoop: Effect.Effect<void, never, Scope.Scope> = Effect.asVoid(Effect.acquireRelease(
  Effect.sync(() => {
    let interval = INTERVAL.least
    let due = monotonic() + interval
    const share = loopShare()
    const measure = (): void => {
      const now = monotonic()
      const delay = Math.max(0, now - due)
      eventLoopDelay.observe(delay / 1000)
      interval = nextInterval(interval, { delay, share: share() })
      due = now + interval
      timers.current = start()
    }
    const start = (): Timer => afterDelay(interval, measure).unref()
    const timers = { current: start() }
    return timers
  }),
  (timers) => Effect.sync(() => cancelTimer(timers.current))
))
