import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { eventLoopDelay, processStart, residentMemory } from "./metrics.ts"

/**
 * Milliseconds between two measurements of the event loop. A turn is seen if it takes longer. A measurement costs some
 * 2 µs.
 */
const INTERVAL = 20

/** Records the state of the process. Takes about 20 µs. */
export const sampleProcess: Effect.Effect<void> = Effect.sync(() => {
  residentMemory.set(process.memoryUsage.rss())
  processStart.set(performance.timeOrigin / 1000)
})

/** Measures the delay of timers until the scope closes. The timer does not keep the process alive. */
export const watchEventLoop: Effect.Effect<void, never, Scope.Scope> = Effect.asVoid(Effect.acquireRelease(
  Effect.sync(() => {
    let due = performance.now() + INTERVAL
    const timer = setInterval(() => {
      const now = performance.now()
      eventLoopDelay.observe(Math.max(0, now - due) / 1000)
      due = now + INTERVAL
    }, INTERVAL)
    return timer.unref()
  }),
  (timer) => Effect.sync(() => clearInterval(timer))
))
