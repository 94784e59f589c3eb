import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Group } from "./SimScheduler.ts"
import { NANOS_PER_MS, type Timeline } from "./Timeline.ts"

/** The time of day at which each world begins: 2026-01-01 UTC. */
export const BEGINNING = Date.UTC(2026, 0, 1)

const MILLION = 1_000_000

/** The clock of one node: it may be ahead, and run fast. Waiting ends with its group. */
export class SimClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: typeof Clock.ClockTypeId = Clock.ClockTypeId
  private readonly timeline: Timeline
  private readonly group: Group
  private readonly drift: number
  private readonly offset: number

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

  /** Nanoseconds that this node has measured. */
  nanos(): number {
    const { now } = this.timeline
    return now + Math.floor(now * this.drift / MILLION)
  }

  readonly unsafeCurrentTimeMillis = (): number => BEGINNING + this.offset + Math.floor(this.nanos() / NANOS_PER_MS)
  readonly unsafeCurrentTimeNanos = (): bigint => BigInt(this.nanos())
  readonly currentTimeMillis = Effect.sync(this.unsafeCurrentTimeMillis)
  readonly currentTimeNanos = Effect.sync(this.unsafeCurrentTimeNanos)

  readonly sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      if (!Duration.isFinite(duration)) return Effect.void
      const cancel = this.after(Duration.toMillis(duration) * NANOS_PER_MS, () => resume(Effect.void))
      return Effect.sync(cancel)
    })

  /** Calls once the node has measured so many nanoseconds. Returns what cancels it. */
  after(nanos: number, run: () => void): () => void {
    const { group, timeline } = this
    const timer = timeline.add(this.passing(Math.ceil(nanos)), () => {
      if (!group.isDead) run()
    })
    return () => timeline.remove(timer)
  }

  /** The fewest nanoseconds of the world in which the node measures so many. */
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
