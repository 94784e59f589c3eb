import * as Effect from "effect/Effect"
import * as Supervisor from "effect/Supervisor"

/** Measures how long fibers run on this thread, from each resume to the next suspend, including forked children. */
export class FiberTime extends Supervisor.AbstractSupervisor<void> {
  readonly value = Effect.void
  private readonly now: () => number
  private total = 0
  private since = 0
  private depth = 0
  private readonly paused: () => void

  /** @param now milliseconds */
  constructor(now: () => number, paused: () => void = () => {}) {
    super()
    this.now = now
    this.paused = paused
  }

  override onResume(): void {
    if (this.depth++ === 0) this.since = this.now()
  }

  override onSuspend(): void {
    // Measurement began while the fiber was running, so its resume was not seen.
    if (this.depth === 0) return
    if (--this.depth > 0) return
    this.total += this.now() - this.since
    this.paused()
  }

  get ran(): number {
    return this.depth === 0 ? this.total : this.total + this.now() - this.since
  }

  /** The fiber continues with unmeasured work. Its next suspend is not reported. */
  private readonly end = Effect.sync(() => {
    this.total = this.ran
    this.depth = 0
  })

  measured<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.supervised(Effect.ensuring(effect, this.end), this)
  }
}
