import * as Effect from "effect/Effect"

/** Gives sockets and timers a turn. `Effect.yieldNow` gives only other fibers a turn. */
export const turnOfEventLoop: Effect.Effect<void> = Effect.async<void>((resume) => {
  const handle = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(handle))
})

/** Milliseconds of work of the chain between two turns of the event loop. */
const SLICE_MS = 5

let since: number | undefined

/**
 * Repeats a step of work for some milliseconds, at least once. Step and slice return whether work is left. All slices
 * of one turn share the time, such as checking scripts after connecting blocks. The chain slices one work at a time: of
 * two at once, the second would do one step a turn.
 */
export const slice = (step: () => boolean): boolean => {
  if (since === undefined) {
    since = performance.now()
    setImmediate(() => {
      since = undefined
    })
  }
  const end = since + SLICE_MS
  do {
    if (!step()) return false
  } while (performance.now() < end)
  return true
}
