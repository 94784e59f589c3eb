import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Group } from "./SimScheduler.ts"
import { NANOS, type Timeline } from "./Timeline.ts"

/** The time of day at which each world begins: 2026-01-01 UTC. */
export const BEGINNING = Date.UTC(2026, 0, 1)

const MILLION = 1_000_000

/** The clock of one machine: it may be ahead, run fast, and jump. Waiting ends with its group. */
export class SimClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: typeof Clock.ClockTypeId = Clock.ClockTypeId
  private readonly timeline: Timeline
  private readonly group: Group
  private readonly drift: number
  private offset: number

  /** `offset` in milliseconds, `drift` in parts per million. */
  constructor(
    timeline: Timeline,
    group: Group,
    { drift = 0, offset = 0 }: { readonly drift?: number; readonly offset?: number } = {}
  ) {
    this.timeline = timeline
    this.group = group
    this.drift = drift
    this.offset = offset
  }

  /** Sets the time of day ahead, or back. Time that is measured does not jump. */
  jump(milliseconds: number): void {
    this.offset += milliseconds
  }

  /** Nanoseconds that this machine has measured. */
  nanos(): number {
    const { now } = this.timeline
    return now + Math.floor(now * this.drift / MILLION)
  }

  readonly unsafeCurrentTimeMillis = (): number => BEGINNING + this.offset + Math.floor(this.nanos() / NANOS)
  readonly unsafeCurrentTimeNanos = (): bigint => BigInt(this.nanos())
  readonly currentTimeMillis = Effect.sync(this.unsafeCurrentTimeMillis)
  readonly currentTimeNanos = Effect.sync(this.unsafeCurrentTimeNanos)

  readonly sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      if (!Duration.isFinite(duration)) return Effect.void
      const cancel = this.after(Duration.toMillis(duration) * NANOS, () => resume(Effect.void))
      return Effect.sync(cancel)
    })

  /** Calls once the machine has measured so many nanoseconds. Returns what cancels it. */
  after(nanos: number, run: () => void): () => void {
    const { group, timeline } = this
    const timer = timeline.add(this.passing(Math.ceil(nanos)), () => {
      if (!group.isDead) run()
    })
    return () => timeline.remove(timer)
  }

  /** The fewest real nanoseconds in which the machine measures so many. */
  private passing(nanos: number): number {
    if (this.drift === 0) return nanos
    const { now } = this.timeline
    const due = this.nanos() + nanos
    const measured = (at: number): number => at + Math.floor(at * this.drift / MILLION)
    let at = now + Math.max(0, Math.floor(nanos * MILLION / (MILLION + this.drift)) - 1)
    while (measured(at) < due) at++
    return at - now
  }
}
