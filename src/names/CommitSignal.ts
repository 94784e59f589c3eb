import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import { afterDelay, cancelTimer } from "../base/turns.ts"
import type { NameKey } from "../protocol/keys.ts"

/** Names that a commit changed; `all` if unknown. */
export type Touched = "all" | Pick<ReadonlyMap<NameKey, unknown>, "keys" | "size">

/** Commits to remember, names per commit, and their bytes. A reader further behind reads everything again. */
const KEPT_COMMITS = 16
const KEPT_NAMES = 5_000
const KEPT_BYTES = 256 * 1024

/** Whether a commit changed more names than are remembered. */
const isMany = ({ keys, size }: { readonly keys: Iterable<NameKey>; readonly size: number }): boolean => {
  if (size > KEPT_NAMES) return true
  let bytes = 0
  for (const { length } of keys) bytes += length
  return bytes > KEPT_BYTES
}

/** Wakes readers that wait for the next commit. They miss nothing, since they read the state again. */
export class CommitSignal {
  private readonly waiters = new Set<() => void>()
  private waited = Deferred.unsafeMake<void>(FiberId.none)
  private told = 0
  /** The names of the last commits, oldest first. */
  private readonly trail: Array<ReadonlySet<NameKey> | "all"> = []

  /** The number of commits so far. As long as it is the same, so is the state. */
  get count(): number {
    return this.told
  }

  /** The names changed after the first `count` commits; `all` if unknown. */
  touchedBehind(count: number): ReadonlySet<NameKey> | "all" {
    const behind = this.told - count
    if (behind > this.trail.length) return "all"
    const touched = new Set<NameKey>()
    for (const names of behind === 0 ? [] : this.trail.slice(-behind)) {
      if (names === "all") return "all"
      for (const name of names) touched.add(name)
    }
    return touched
  }

  /** Ends with the first commit after this call. */
  next(): Effect.Effect<void> {
    return Deferred.await(this.waited)
  }

  /**
   * Waits for a commit after the first `count`, for at most so many milliseconds. Returns whether there was one. Needs
   * no fiber of its own, since a thousand readers may wait here.
   */
  behind(count: number, within: { readonly milliseconds: number }): Effect.Effect<boolean> {
    return Effect.async((resume) => {
      if (this.told !== count) return resume(Effect.succeed(true))
      const end = (came: boolean): void => {
        cancelTimer(timer)
        this.waiters.delete(wake)
        resume(Effect.succeed(came))
      }
      const wake = (): void => end(true)
      const timer = afterDelay(within.milliseconds, () => end(false))
      this.waiters.add(wake)
      return Effect.sync(() => {
        cancelTimer(timer)
        this.waiters.delete(wake)
      })
    })
  }

  tell(touched: Touched = "all"): void {
    const waited = this.waited
    this.told++
    const isUnknown = touched === "all" || isMany({ keys: touched.keys(), size: touched.size })
    this.trail.push(isUnknown ? "all" : new Set(touched.keys()))
    if (this.trail.length > KEPT_COMMITS) this.trail.shift()
    for (const wake of [...this.waiters]) wake()
    this.waited = Deferred.unsafeMake(FiberId.none)
    Deferred.unsafeDone(waited, Effect.void)
  }
}
