import * as Effect from "effect/Effect"

/** Gives sockets and timers a turn. `Effect.yieldNow` gives only other fibers a turn. */
export const turnOfEventLoop: Effect.Effect<void> = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})
