import * as Effect from "effect/Effect"

/** Milliseconds of one turn of the event loop for all costly calls together: a longer one would not end them sooner, and cheap calls would wait. */
const TURN = 1

/** Milliseconds up to which a call counts as a short one. */
const SHORT = 20

export interface CallTurns {
  /** Whether the costly calls have used up their time in this turn of the event loop. */
  readonly isOver: () => boolean
  /** Waits for the next turn of this call. It does not wait if time is left and no other call waits. */
  readonly next: Effect.Effect<void>
}

interface Waiter {
  readonly go: () => void
}

/**
 * The lane of costly calls: batches, blocks, long bodies and long answers. Each works for a moment and then
 * waits. A hundred of them in a row would still stall cheap calls and peers for half a second. So all costly calls
 * together get a part of each turn of the event loop.
 *
 *   turn of the event loop: sockets, timers, cheap calls ─▶ costly calls: a short one, a long one, … for 1 ms
 *
 * Calls that have used little time so far alternate with the others: a call for one block does not wait behind a
 * hundred calls for thousands of blocks. If no call waits, a costly call begins at once.
 */
export class SlowLane {
  readonly now: () => number
  readonly #short = new Set<Waiter>()
  readonly #long = new Set<Waiter>()
  /** The time at which costly work began in this turn of the event loop. */
  #since: number | undefined
  #shortIsNext = true

  /** @param now milliseconds of a monotonic clock. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now
  }

  open(): CallTurns {
    return new Turns(this)
  }

  /** Waits for the next turn of a call. */
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

  /**
   * Returns whether the time of costly calls is used up. The first call in a turn of the event loop starts the time.
   */
  isOver(now = this.now()): boolean {
    if (this.#since !== undefined) return now - this.#since >= TURN
    this.#since = now
    setImmediate(() => {
      this.#since = undefined
      this.#callNext()
    })
    return false
  }

  /** Resumes one waiting call, and the next after it, as long as time is left. */
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

/** The turns of one call. It is one object: every call has one, and few use it. */
class Turns implements CallTurns {
  /** Milliseconds of the turns that it has had. */
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
