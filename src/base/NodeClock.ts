import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { afterDelay, cancelTimer } from "./turns.ts"

/**
 * The node's time of day, for block times and the age of the tip and of transactions. Tests may set it (`setmocktime`).
 * Sleeping and measuring use the real clock, except for the timeouts of peers (`peerTime`).
 */
export class MockTime extends Context.Tag("svcd/MockTime")<MockTime, {
  /** Stops the clock at a time in seconds since 1970. `undefined` restores the real time. */
  readonly set: (seconds: number | undefined) => Effect.Effect<void>
  readonly current: Effect.Effect<number | undefined>
}>() {}

export class NodeTime extends Context.Tag("svcd/NodeTime")<NodeTime, Clock.Clock>() {}

interface NodeClock extends Clock.Clock {
  /** Milliseconds that pass like real ones, but stop and jump with a set time. */
  readonly unsafePeerTime: () => number
  /** Ends early when the time is set. */
  readonly sleepUntilSet: (milliseconds: number) => Effect.Effect<void>
}

const isNodeClock = (clock: Clock.Clock): clock is NodeClock => "unsafePeerTime" in clock

/** For the timeouts of peers. It follows `setmocktime`, but no other jump of the wall clock. */
export interface PeerTime {
  /** Milliseconds. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Effect.Effect<void>
}

export const peerTime: Effect.Effect<PeerTime> = Effect.map(Effect.clock, (clock) =>
  isNodeClock(clock)
    ? { now: () => clock.unsafePeerTime(), sleep: clock.sleepUntilSet }
    : { now: () => Number(clock.unsafeCurrentTimeNanos()) / 1e6, sleep: (milliseconds) => Effect.sleep(milliseconds) })

/** Installs the clock under this layer, fixed at `seconds` since 1970 if given. */
export const layer = (seconds?: number): Layer.Layer<MockTime | NodeTime> =>
  Layer.unwrapEffect(Effect.map(Effect.clock, (real) => {
    let mock = seconds
    const now = (): number => mock === undefined ? real.unsafeCurrentTimeMillis() : 1000 * mock
    const monotonic = (): number => Number(real.unsafeCurrentTimeNanos()) / 1e6
    let peerOffset = 0
    let stopped = mock === undefined ? undefined : monotonic()
    const sleepers = new Set<() => void>()
    const set = (next: number | undefined): void => {
      const before = now()
      const at = stopped ?? monotonic() + peerOffset
      mock = next
      const passed = at + now() - before
      stopped = next === undefined ? undefined : passed
      peerOffset = passed - monotonic()
      for (const wake of [...sleepers]) wake()
    }
    /**
     * A timer of the event loop, even above another clock: racing two fibers would cost several times as much, and the
     * loops of all peers sleep this way.
     */
    const sleepUntilSet = (milliseconds: number): Effect.Effect<void> =>
      Effect.async<void>((resume) => {
        const end = (): void => {
          sleepers.delete(wake)
          cancelTimer(timer)
        }
        const wake = (): void => {
          end()
          resume(Effect.void)
        }
        const timer = afterDelay(milliseconds, wake)
        sleepers.add(wake)
        return Effect.sync(end)
      })
    const clock: NodeClock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: now,
      currentTimeMillis: Effect.sync(now),
      unsafeCurrentTimeNanos: () => real.unsafeCurrentTimeNanos(),
      currentTimeNanos: real.currentTimeNanos,
      sleep: (duration) => real.sleep(duration),
      unsafePeerTime: () => stopped ?? monotonic() + peerOffset,
      sleepUntilSet
    }
    const service = MockTime.of({
      set: (seconds) => Effect.sync(() => set(seconds)),
      current: Effect.sync(() => mock)
    })
    return Layer.mergeAll(Layer.setClock(clock), Layer.succeed(MockTime, service), Layer.succeed(NodeTime, clock))
  }))
