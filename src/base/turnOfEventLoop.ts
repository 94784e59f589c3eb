import * as Effect from "effect/Effect"

/** Gives sockets and timers a turn. `Effect.yieldNow` gives only other fibers a turn. */
export const turnOfEventLoop: Effect.Effect<void> = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

/** Milliseconds of work of the chain between two turns of the event loop. */
const SLICE_MS = 5

/** Repeats a step of work for some milliseconds, at least once. The step returns whether work is left, and so does the slice. */
export const slice = (step: () => boolean): boolean => {
  const end = performance.now() + SLICE_MS
  do {
    if (!step()) return false
  } while (performance.now() < end)
  return true
}
