import * as Effect from "effect/Effect"
import * as Supervisor from "effect/Supervisor"

/**
 * Measures how long fibers run on this thread: from each time that they go on to the next time that they wait. What
 * others do while they wait is not counted. Fibers that they fork, as races do, count as well.
 */
export class FiberTime extends Supervisor.AbstractSupervisor<void> {
  readonly value = Effect.void
  private readonly now: () => number
  private total = 0
  private since = 0
  /** Fibers that run now, one within the other. */
  private depth = 0
  private readonly paused: () => void

  /**
   * @param now milliseconds.
   * @param paused is called each time that the fibers begin to wait.
   */
  constructor(now: () => number, paused: () => void = () => {}) {
    super()
    this.now = now
    this.paused = paused
  }

  override onResume(): void {
    if (this.depth++ === 0) this.since = this.now()
  }

  override onSuspend(): void {
    // A fiber that begins to be measured while it runs was never seen to go on.
    if (this.depth === 0) return
    if (--this.depth > 0) return
    this.total += this.now() - this.since
    this.paused()
  }

  /** Milliseconds that were measured until now. */
  get ran(): number {
    return this.depth === 0 ? this.total : this.total + this.now() - this.since
  }

  /** The fiber goes on to something that is not measured: its next wait will not be heard of. */
  private readonly end = Effect.sync(() => {
    this.total = this.ran
    this.depth = 0
  })

  /** Runs an effect, and measures it, in a fiber of its own. */
  measured<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.supervised(Effect.ensuring(effect, this.end), this)
  }
}
