import { Chunk, Clock, Duration, Effect, TestClock } from "effect"

/**
 * Waiting for what a test cannot observe as an event: another process, a thread, a socket. Real time, even under a
 * `TestClock`. A condition and a deadline, never a fixed time.
 */

/** How long a test waits for an expected event, in milliseconds: long enough for a busy machine. */
const PATIENCE = 40_000

/** How often a condition is checked, in milliseconds. */
const INTERVAL = 5

/** Fails the test, by a defect, where an effect does not end in time. */
export const inTime = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  what: string,
  within = PATIENCE
): Effect.Effect<A, E, R> =>
  Effect.raceFirst(
    effect,
    Effect.async<never>((resume) => {
      const timer = setTimeout(() => resume(Effect.dieMessage(`${what}: not within ${within} ms`)), within)
      return Effect.sync(() => clearTimeout(timer))
    })
  )

/** The pause between two checks of a condition. */
export const pause: Effect.Effect<void> = Effect.async((resume) => {
  const timer = setTimeout(() => resume(Effect.void), INTERVAL)
  return Effect.sync(() => clearTimeout(timer))
})

/** Waits until a condition holds; fails the test, by a defect, where it does not in time. */
export const eventually = <E = never, R = never>(
  what: string,
  holds: (() => boolean) | Effect.Effect<boolean, E, R>,
  within = PATIENCE
): Effect.Effect<void, E, R> => {
  const check = typeof holds === "function" ? Effect.sync(holds) : holds
  const waiting: Effect.Effect<void, E, R> = Effect.flatMap(
    check,
    (held) => held ? Effect.void : Effect.zipRight(pause, waiting)
  )
  return inTime(waiting, what, within)
}

/** How many checks in a row have to find the same. */
const STEADY = 10

/** Waits until a value stays the same: for what a test expects not to go on. */
export const settled = (what: string, value: () => unknown): Effect.Effect<void> => {
  let last: unknown
  let same = 0
  return eventually(what, () => {
    const now = value()
    same = now === last ? same + 1 : 0
    last = now
    return same === STEADY
  })
}

/** The number of sleeps on the test clock for this long from now. The time limit of what has ended stays among them. */
export const sleepsFor = (time: Duration.DurationInput): Effect.Effect<number> =>
  Effect.zipWith(
    Clock.currentTimeMillis,
    TestClock.sleeps(),
    (now, wakes) => Chunk.size(Chunk.filter(wakes, (wake) => wake === now + Duration.toMillis(time)))
  )

/**
 * Waits until a fiber sleeps on the test clock, for this long from now: it has then done all that it had to do. `others`: the
 * number of other sleeps until then.
 */
export const asleepFor = (time: Duration.DurationInput, others = 0): Effect.Effect<void> =>
  eventually(`asleep for ${Duration.format(time)}`, Effect.map(sleepsFor(time), (sleeps) => sleeps > others))
