import { monotonic, wallTime } from "../../base/clock.ts"
import { afterDelay, cancelTimer, type Timer } from "../../base/turns.ts"
import type { Queued } from "./deliveryState.ts"
import type { MessageAge } from "./Patience.ts"

/** Small, because there may be very many: the rest is read from disk when due. */
export interface Entry {
  readonly id: string
  readonly bytes: number
  /** Milliseconds since 1970; never in the future, even if the clock was set. */
  arrivedAt: number
  /** Milliseconds since 1970; 0: not read from disk yet. */
  due: number
  message: Queued | undefined
  /** Whether an earlier relay may have delivered it without a record. */
  suspect: boolean
}

export interface QueueOptions {
  readonly atOnce: number
  /** Milliseconds: no message waits longer for its next attempt. */
  readonly longestPause: number
  /** While the upstream server is unreachable, messages can only be given up. */
  readonly isReachable: () => boolean
  /** Whether the relay gives up a message of this age. */
  readonly isOver: (age: MessageAge) => boolean
  readonly begin: (entry: Entry) => void
}

const HELD_RECIPIENTS = 10_000

/** Milliseconds between searches for messages to give up, while the upstream server is unreachable. */
const SWEEP = 1_000

/** Milliseconds. The clock may be set, so the queue reads it at least this often. */
const LONGEST_SLEEP = 60_000

const before = (a: Entry, b: Entry): boolean => a.due < b.due || (a.due === b.due && a.arrivedAt < b.arrivedAt)

export class DeliveryQueue {
  readonly #options: QueueOptions
  /** A binary heap: the parent of `i` is at `(i - 1) >> 1` and not after it. */
  #heap: Array<Entry> = []
  /** Taken out of the heap to be given up. */
  #over: Array<Entry> = []
  #active = 0
  #held = 0
  #sweptAt = Number.NEGATIVE_INFINITY
  #timer: Timer | undefined
  #ended = false

  constructor(options: QueueOptions) {
    this.#options = options
  }

  add(entry: Entry): void {
    const { message } = entry
    if (message !== undefined && !message.unsaved) {
      const { length } = message.envelope.recipients
      if (this.#held + length > HELD_RECIPIENTS) entry.message = undefined
    }
    this.#held += entry.message?.envelope.recipients.length ?? 0
    this.#push(entry)
    this.wake()
  }

  /** `due`: when the message is due again; `undefined` if it has left the spool. */
  finished(entry: Entry, due: number | undefined): void {
    this.#active -= 1
    if (due === undefined) return this.wake()
    entry.due = due
    this.add(entry)
  }

  /** Call when the upstream server is reachable again. */
  wake(): void {
    if (this.#ended) return
    cancelTimer(this.#timer)
    const now = wallTime()
    while (this.#active < this.#options.atOnce) {
      const entry = this.#next(now)
      if (entry === undefined) break
      this.#held -= entry.message?.envelope.recipients.length ?? 0
      this.#active += 1
      this.#options.begin(entry)
    }
    // At the limit, a delivery that ends wakes the queue.
    if (this.#active < this.#options.atOnce) this.#sleep(now)
  }

  end(): void {
    this.#ended = true
    cancelTimer(this.#timer)
  }

  #sleep(now: number): void {
    const [first] = this.#heap
    if (first === undefined) return
    const pause = this.#options.isReachable() ? Math.max(first.due - now, 1) : SWEEP
    this.#timer = afterDelay(Math.min(pause, LONGEST_SLEEP), () => this.wake())
  }

  #next(now: number): Entry | undefined {
    if (this.#options.isReachable()) {
      const [first] = this.#heap
      // A due time beyond the longest pause shows that the clock was set back.
      const isDue = first !== undefined && (first.due <= now || first.due > now + this.#options.longestPause)
      if (isDue) return this.#pop()
    } else if (this.#over.length === 0 && monotonic() - this.#sweptAt >= SWEEP) this.#sweep(now)
    return this.#over.pop()
  }

  #sweep(now: number): void {
    this.#sweptAt = monotonic()
    this.#over = this.#heap.filter(({ arrivedAt }) => this.#options.isOver({ arrivedAt, now }))
    if (this.#over.length === 0) return
    const rest = this.#heap.filter(({ arrivedAt }) => !this.#options.isOver({ arrivedAt, now }))
    this.#heap = []
    for (const entry of rest) this.#push(entry)
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = heap[(at - 1) >> 1]
      if (parent === undefined || !before(entry, parent)) break
      heap[at] = parent
      at = (at - 1) >> 1
    }
    heap[at] = entry
  }

  #pop(): Entry | undefined {
    const heap = this.#heap
    const [first] = heap
    const last = heap.pop()
    if (last === undefined || last === first) return first
    let at = 0
    while (true) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]]
      const child = right !== undefined && left !== undefined && before(right, left) ? 2 * at + 2 : 2 * at + 1
      const smaller = heap[child]
      if (smaller === undefined || !before(smaller, last)) break
      heap[at] = smaller
      at = child
    }
    heap[at] = last
    return first
  }
}
