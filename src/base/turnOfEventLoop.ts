import * as Effect from "effect/Effect"

/** Lets sockets and timers have a turn: `Effect.yieldNow` would only let other fibers have one. */
export const turnOfEventLoop: Effect.Effect<void> = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})
