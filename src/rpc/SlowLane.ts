import * as Effect from "effect/Effect"
import { monotonic } from "../base/clock.ts"
import { nextTurn } from "../base/turns.ts"

/** Milliseconds per turn of the event loop for all costly calls. More would delay cheap calls and end none sooner. */
const TURN = 1

/** Milliseconds up to which a call is short. */
const SHORT = 20

export interface CallTurns {
  /** Whether the time of costly calls in this turn of the event loop is used up. */
  readonly isOver: () => boolean
  /** Waits for the call's next turn, unless time is left and no other call waits. */
  readonly next: Effect.Effect<void>
}

interface Waiter {
  readonly go: () => void
}

/**
 * The lane of costly calls: batches, blocks, long bodies and long answers. Together they get a part of each turn of the
 * event loop: even short work of a hundred calls in a row would stall cheap calls and peers for half a second.
 *
 *   turn of the event loop: sockets, timers, cheap calls ─▶ costly calls: a short one, a long one, … for 1 ms
 *
 * Calls that have used little time alternate with the others, so that a call for one block does not wait for a hundred
 * calls for thousands of blocks. If no call waits, a costly call begins at once.
 */
export class SlowLane {
  readonly now: () => number
  readonly #short = new Set<Waiter>()
  readonly #long = new Set<Waiter>()
  /** When costly work began in this turn of the event loop. */
  #since: number | undefined
  #shortIsNext = true

  /** @param now milliseconds of a monotonic clock. */
  constructor(now: () => number = monotonic) {
    this.now = now
  }

  open(): CallTurns {
    return new Turns(this)
  }

  wait(turns: Turns): Effect.Effect<void> {
    if (!turns.isOver() && this.#short.size + this.#long.size === 0) return Effect.void
    turns.pause(this.now())
    const line = turns.taken < SHORT ? this.#short : this.#long
    return Effect.async<void>((resume) => {
      const waiter: Waiter = {
        go: () => {
          turns.resume(this.now())
          resume(Effect.void)
        }
      }
      line.add(waiter)
      return Effect.sync(() => void line.delete(waiter))
    })
  }

  /** Starts the time with the first call in a turn of the event loop. */
  isOver(now = this.now()): boolean {
    if (this.#since !== undefined) return now - this.#since >= TURN
    this.#since = now
    nextTurn(() => {
      this.#since = undefined
      this.#callNext()
    })
    return false
  }

  /** Resumes waiting calls one after another while time is left. */
  #callNext(): void {
    const [one, other] = this.#shortIsNext ? [this.#short, this.#long] : [this.#long, this.#short]
    const line = one.size > 0 ? one : other
    const [first] = line
    if (first === undefined) return
    this.#shortIsNext = line === this.#long
    line.delete(first)
    this.isOver()
    first.go()
    // Runs after the resumed fiber has worked.
    queueMicrotask(() => {
      if (!this.isOver()) this.#callNext()
    })
  }
}

/** One object, as every call has one and few use it. */
class Turns implements CallTurns {
  /** Milliseconds used so far. */
  taken = 0
  readonly #lane: SlowLane
  #began: number | undefined

  constructor(lane: SlowLane) {
    this.#lane = lane
  }

  isOver(): boolean {
    const now = this.#lane.now()
    this.#began ??= now
    return this.#lane.isOver(now)
  }

  get next(): Effect.Effect<void> {
    return Effect.suspend(() => this.#lane.wait(this))
  }

  pause(now: number): void {
    this.taken += now - (this.#began ?? now)
  }

  resume(now: number): void {
    this.#began = now
  }
}
