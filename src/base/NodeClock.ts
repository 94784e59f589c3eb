import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The time of day of the node, for block times and the age of the tip and of transactions. Tests may set it
 * (`setmocktime`). Sleeping and measuring always use the real clock.
 */
export class MockTime extends Context.Tag("svcd/MockTime")<MockTime, {
  /** Stops the clock at a time in seconds since 1970. `undefined` restores the real time. */
  readonly set: (seconds: number | undefined) => Effect.Effect<void>
  readonly current: Effect.Effect<number | undefined>
}>() {}

/** Installs the clock for everything under this layer. With `seconds` (since 1970) it stands at that time. */
export const layer = (seconds?: number): Layer.Layer<MockTime> =>
  Layer.unwrapEffect(Effect.map(Effect.clock, (real) => {
    let mock = seconds
    const now = (): number => mock === undefined ? real.unsafeCurrentTimeMillis() : 1000 * mock
    const clock: Clock.Clock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: now,
      currentTimeMillis: Effect.sync(now),
      unsafeCurrentTimeNanos: () => real.unsafeCurrentTimeNanos(),
      currentTimeNanos: real.currentTimeNanos,
      sleep: (duration) => real.sleep(duration)
    }
    const service = MockTime.of({
      set: (seconds) => Effect.sync(() => void (mock = seconds)),
      current: Effect.sync(() => mock)
    })
    return Layer.merge(Layer.setClock(clock), Layer.succeed(MockTime, service))
  }))
