import { Clock, Duration, Effect } from "effect"
import { turnOfEventLoop } from "../../src/base/turns.ts"

/** A sleeping fiber. */
interface Sleeper {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly wake: () => void
}

/** Turns of the event loop in which a woken fiber acts. */
const TURNS = 3

/**
 * A clock that moves only when it is told to, for programs that pass hours in seconds: `TestClock` waits some real milliseconds
 * at each step. Fibers that sleep are woken in the order of their times, with turns of the event loop in between.
 */
export class ManualClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private now: number
  private readonly sleepers = new Set<Sleeper>()

  /** `now`: milliseconds since 1970. */
  constructor(now: number) {
    this.now = now
  }

  unsafeCurrentTimeMillis(): number {
    return this.now
  }

  unsafeCurrentTimeNanos(): bigint {
    return BigInt(this.now) * 1_000_000n
  }

  readonly currentTimeMillis = Effect.sync(() => this.now)
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const sleeper = { at: this.now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
      this.sleepers.add(sleeper)
      return Effect.sync(() => void this.sleepers.delete(sleeper))
    })
  }

  private next(until: number): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const sleeper of this.sleepers) {
      if (sleeper.at <= until && (first === undefined || sleeper.at < first.at)) first = sleeper
    }
    return first
  }

  /** Lets milliseconds pass. */
  pass(milliseconds: number): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      const until = this.now + milliseconds
      for (let sleeper = this.next(until); sleeper !== undefined; sleeper = this.next(until)) {
        this.now = Math.max(this.now, sleeper.at)
        this.sleepers.delete(sleeper)
        sleeper.wake()
        yield* Effect.repeatN(turnOfEventLoop, TURNS)
      }
      this.now = until
      yield* Effect.repeatN(turnOfEventLoop, TURNS)
    })
  }
}
