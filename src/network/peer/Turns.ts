import * as Effect from "effect/Effect"

/** Milliseconds that peers may take of one turn of the event loop, all together, before those who come then wait. */
const TURN = 2

/** Most peers of a line that are called in one turn of the event loop, however little they take. */
const MOST_CALLED = 8

/** Milliseconds in which what a peer took counts half. */
const HALF_LIFE = 10_000

/** Milliseconds up to which those that come with a lot to be read are equal. */
const LITTLE = 4

/** Milliseconds that a byte to be read is taken to cost: 5 for 64 kB. */
const BYTE_COST = 5 / 0x10000

/** Bytes, and milliseconds that were taken of late, up to which a peer goes before those that come with more. */
const SHORT_BYTES = 4_096
const SHORT_TIME = 16

/** One peer in the line. */
export interface TurnTaker {
  /** Whether this node or its operator chose the peer. */
  readonly chosen: boolean
  /** Milliseconds that it took of late. */
  readonly recent: (now: number) => number
}

/** What a peer took of late: each millisecond counts half after ten seconds. */
export class RecentTime implements TurnTaker {
  readonly chosen: boolean
  private taken = 0
  private since = 0

  constructor(chosen: boolean) {
    this.chosen = chosen
  }

  readonly recent = (now: number): number => this.taken * 2 ** ((this.since - now) / HALF_LIFE)

  spent(milliseconds: number, now: number): void {
    this.taken = this.recent(now) + milliseconds
    this.since = now
  }
}

interface Waiter {
  readonly taker: TurnTaker
  /** Bytes that it has sent and that are to be read. */
  readonly bytes: number
  readonly go: () => void
}

/**
 * The place in the line, from 0. A peer that took little of late and has little to say goes first: a ping is not to wait
 * for a hundred peers that come with all that fits into a buffer. Behind them places are in doubles, so that those who took
 * about the same go in the order of their coming.
 */
const standing = ({ bytes, taker: { recent } }: Waiter, now: number): number => {
  const taken = recent(now)
  if (bytes <= SHORT_BYTES && taken <= SHORT_TIME) return 0
  return 1 + Math.max(0, Math.ceil(Math.log2((taken + BYTE_COST * bytes) / LITTLE)))
}

/**
 * The line in which peers wait for this thread. Each may take some milliseconds at a time; but a hundred that take them
 * one after the other would keep everybody else, callers of RPC among them, waiting for half a second.
 *
 *   turn of the event loop: sockets, timers ─▶ one peer that was chosen, one of the others, as long as they take little
 *
 * As long as little was taken in a turn of the event loop and nobody waits, a peer goes on at once.
 */
export class Turns {
  private readonly now: () => number
  private readonly chosen = new Set<Waiter>()
  private readonly others = new Set<Waiter>()
  private readonly large = Effect.unsafeMakeSemaphore(1)
  private used = 0
  private renewing = false

  /** @param now milliseconds of a clock that does not go back. */
  constructor(now: () => number) {
    this.now = now
  }

  /** Notes time that was taken for a peer. */
  spent(milliseconds: number): void {
    this.used += milliseconds
    this.renewLater()
  }

  /**
   * Runs what takes a peer's large message apart, after those that came before: objects of one such message are in
   * memory at a time, however many peers send them. Peers that were chosen do not wait for it.
   */
  alone<A>(taker: TurnTaker, handling: Effect.Effect<A>): Effect.Effect<A> {
    return taker.chosen ? handling : this.large.withPermits(1)(handling)
  }

  /** Waits for a turn, with so many bytes to be read. */
  take(taker: TurnTaker, bytes = 0): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.used < TURN && this.chosen.size + this.others.size === 0 ? Effect.void : this.inLine(taker, bytes)
    )
  }

  private inLine(taker: TurnTaker, bytes: number): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const line = taker.chosen ? this.chosen : this.others
      const waiter: Waiter = { taker, bytes, go: () => resume(Effect.void) }
      line.add(waiter)
      this.renewLater()
      return Effect.sync(() => void line.delete(waiter))
    })
  }

  private renewLater(): void {
    if (this.renewing) return
    this.renewing = true
    setImmediate(() => {
      this.used = 0
      this.callUp(MOST_CALLED)
    })
  }

  /** Calls one peer of each line, then the next ones when these have run, as long as little was taken. */
  private callUp(left: number): void {
    for (const line of [this.chosen, this.others]) this.callFirst(line)
    queueMicrotask(() => {
      const waiting = this.chosen.size + this.others.size > 0
      if (waiting && left > 1 && this.used < TURN) return this.callUp(left - 1)
      this.renewing = false
      if (waiting || this.used > 0) this.renewLater()
    })
  }

  /** Calls the one who took least of late; among equals the one who waits longest. */
  private callFirst(line: Set<Waiter>): void {
    const now = this.now()
    let first: Waiter | undefined
    let lowest = Infinity
    for (const waiter of line) {
      const its = standing(waiter, now)
      if (its >= lowest) continue
      first = waiter
      lowest = its
    }
    if (first === undefined) return
    line.delete(first)
    first.go()
  }
}
