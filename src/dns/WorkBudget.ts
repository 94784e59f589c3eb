import * as Effect from "effect/Effect"
import { nextTurn } from "../base/turns.ts"

/** Milliseconds of work for answers between two turns of the event loop. */
const TURN_MS = 8

/**
 * Maximum milliseconds counted for one piece of work. A longer one mostly waited for the processor. The few values that
 * really take 5 ms can make a turn as long as 20 ms.
 */
const MOST_MS = 2

/** Bounds the work that is done for questions before other sockets and timers have their turn. */
export class WorkBudget {
  #spent = 0
  #isTurnDue = false
  /** In their order. */
  readonly #waiting = new Set<() => void>()

  get isSpent(): boolean {
    return this.#spent >= TURN_MS
  }

  spend(milliseconds: number): void {
    this.#spent += Math.min(milliseconds, MOST_MS)
    this.#begin()
  }

  /** Does work, which must not throw, in a later turn with time left. */
  later<A>(work: () => A): Effect.Effect<A> {
    return Effect.async<A>((resume) => {
      const run = (): void => resume(Effect.succeed(work()))
      this.#waiting.add(run)
      this.#begin()
      return Effect.sync(() => void this.#waiting.delete(run))
    })
  }

  #begin(): void {
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    nextTurn(() => {
      this.#isTurnDue = false
      this.#spent = 0
      for (const run of this.#waiting) {
        if (this.isSpent) break
        this.#waiting.delete(run)
        run()
      }
      if (this.#waiting.size > 0) this.#begin()
    })
  }
}
