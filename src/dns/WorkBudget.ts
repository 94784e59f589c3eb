import * as Effect from "effect/Effect"
import { nextTurn, turnOfEventLoop } from "../base/turns.ts"

/** Milliseconds of work for answers between two turns of the event loop. */
const TURN_MS = 8

/** Milliseconds that one piece of work counts at most. What takes longer was mostly waiting for the processor. */
const MOST_MS = 2

/** Bounds the work that is done for questions before other sockets and timers have their turn. */
export class WorkBudget {
  #spent = 0

  get isSpent(): boolean {
    return this.#spent >= TURN_MS
  }

  spend(milliseconds: number): void {
    if (this.#spent === 0) {
      nextTurn(() => {
        this.#spent = 0
      })
    }
    this.#spent += Math.min(milliseconds, MOST_MS)
  }

  /** Waits for a turn with time left. */
  readonly free: Effect.Effect<void> = Effect.suspend(() =>
    this.isSpent ? Effect.zipRight(turnOfEventLoop, this.free) : Effect.void
  )
}
