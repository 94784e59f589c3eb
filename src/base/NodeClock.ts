import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The time of day that the node goes by, which tests may set (`setmocktime`): block times, the age of the tip and of
 * transactions. Sleeping and measuring go by the real clock whatever is set.
 */
export class MockTime extends Context.Tag("svcd/MockTime")<MockTime, {
  /** Stops the clock at a time, seconds since 1970; `undefined` for the real time. */
  readonly set: (seconds: number | undefined) => Effect.Effect<void>
  readonly current: Effect.Effect<number | undefined>
}>() {}

/**
 * Installs the clock for all that is built and run under this layer. It stands at `seconds` (since 1970) from the
 * start, where that is given.
 */
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
