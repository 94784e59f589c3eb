import * as Effect from "effect/Effect"

/** Milliseconds that costly calls may take of one turn of the event loop, all together. */
const TURN = 5

/** Milliseconds up to which a call counts as a short one. */
const SHORT = 20

/** One costly call's way through the slow lane. */
export interface CallTurns {
  /** Whether the time of costly calls in this turn of the event loop is used up. */
  readonly isOver: () => boolean
  /** Waits for the next turn of this call; does not wait where the time is not used up and no other call waits. */
  readonly next: Effect.Effect<void>
}

interface Waiter {
  readonly go: () => void
}

/**
 * The lane of calls that take more than a moment: batches, blocks, long bodies and long answers. Each works for a few
 * milliseconds and then waits; but a hundred that work for a few milliseconds one after the other would keep cheap calls
 * and peers waiting for half a second. So all of them together get a few milliseconds of each turn of the event loop.
 *
 *   turn of the event loop: sockets, timers, cheap calls ─▶ costly calls: a short one, a long one, … for 5 ms
 *
 * Calls that have taken little so far alternate with the others: a caller who asks for one block does not wait behind
 * a hundred who ask for thousands. Where no call waits, a costly call begins at once.
 */
export class SlowLane {
  readonly #now: () => number
  readonly #short = new Set<Waiter>()
  readonly #long = new Set<Waiter>()
  /** When costly work began in this turn of the event loop. */
  #since: number | undefined
  #shortIsNext = true

  /** @param now milliseconds of a clock that does not go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Lets a call in. */
  open(): CallTurns {
    let taken = 0
    let began: number | undefined
    const isOver = (): boolean => {
      began ??= this.#now()
      return this.#isOver()
    }
    const next = Effect.suspend(() => {
      if (!isOver() && this.#short.size + this.#long.size === 0) return Effect.void
      taken += this.#now() - (began ?? this.#now())
      const line = taken < SHORT ? this.#short : this.#long
      return Effect.async<void>((resume) => {
        const waiter: Waiter = {
          go: () => {
            began = this.#now()
            resume(Effect.void)
          }
        }
        line.add(waiter)
        return Effect.sync(() => void line.delete(waiter))
      })
    })
    return { isOver, next }
  }

  /** Begins the time of costly calls where it has not begun in this turn of the event loop. */
  #isOver(): boolean {
    const now = this.#now()
    if (this.#since !== undefined) return now - this.#since >= TURN
    this.#since = now
    setImmediate(() => {
      this.#since = undefined
      this.#callNext()
    })
    return false
  }

  /** Calls one, and the next one when it has worked, as long as time is left. */
  #callNext(): void {
    const [one, other] = this.#shortIsNext ? [this.#short, this.#long] : [this.#long, this.#short]
    const line = one.size > 0 ? one : other
    const [first] = line
    if (first === undefined) return
    this.#shortIsNext = line === this.#long
    line.delete(first)
    this.#isOver()
    first.go()
    // Behind the turn of its fiber.
    queueMicrotask(() => {
      if (!this.#isOver()) this.#callNext()
    })
  }
}
