import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/** Wakes the readers that wait for the next commit. They miss nothing, since they read the state again. */
export class CommitSignal {
  private readonly waiters = new Set<() => void>()
  private waited = Deferred.unsafeMake<void>(FiberId.none)
  private told = 0

  /** The number of commits so far: while it stays, so does the state. */
  get count(): number {
    return this.told
  }

  /** Returns what ends with the first commit after this call. */
  next(): Effect.Effect<void> {
    return Deferred.await(this.waited)
  }

  /**
   * Waits for a commit behind the first `count`, so many milliseconds at most; returns whether there was one. Without fibers of
   * its own: a thousand readers wait here at a time.
   */
  behind(count: number, within: { readonly milliseconds: number }): Effect.Effect<boolean> {
    return Effect.async((resume) => {
      if (this.told !== count) return resume(Effect.succeed(true))
      const end = (came: boolean): void => {
        clearTimeout(timer)
        this.waiters.delete(wake)
        resume(Effect.succeed(came))
      }
      const wake = (): void => end(true)
      const timer = setTimeout(() => end(false), within.milliseconds)
      this.waiters.add(wake)
      return Effect.sync(() => {
        clearTimeout(timer)
        this.waiters.delete(wake)
      })
    })
  }

  tell(): void {
    const waited = this.waited
    this.told++
    for (const wake of [...this.waiters]) wake()
    this.waited = Deferred.unsafeMake(FiberId.none)
    Deferred.unsafeDone(waited, Effect.void)
  }
}
