import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"

/** Wakes the readers that wait for the next commit. They miss nothing, since they read the state again. */
export class CommitSignal {
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

  tell(): void {
    const waited = this.waited
    this.told++
    this.waited = Deferred.unsafeMake(FiberId.none)
    Deferred.unsafeDone(waited, Effect.void)
  }
}
