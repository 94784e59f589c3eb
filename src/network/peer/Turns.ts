import * as Effect from "effect/Effect"
import { nextTurn } from "../../base/turns.ts"
import type { Millis } from "../../protocol/keys.ts"

/** Milliseconds that all peers may take of one event-loop turn before others wait. */
const TURN = 2

const MOST_CALLED = 8

/** Half-life of the time that a peer took, in milliseconds. */
const HALF_LIFE = 10_000

/** Milliseconds up to which peers with much data to read rank equal. */
const LITTLE = 4

/** Assumed milliseconds per byte to read: 5 for 64 kB. */
const BYTE_COST = 5 / 0x10000

/** Bytes to read and recently taken milliseconds up to which a peer goes first. */
const SHORT_BYTES = 4_096
const SHORT_TIME = 16

export interface TurnTaker {
  readonly chosen: boolean
  readonly recent: (now: number) => number
}

/** Each millisecond counts half after ten seconds. */
export class RecentTime implements TurnTaker {
  readonly chosen: boolean
  private taken = 0
  private since = 0

  constructor(chosen: boolean) {
    this.chosen = chosen
  }

  readonly recent = (now: number): number => this.taken * 2 ** ((this.since - now) / HALF_LIFE)

  spent(milliseconds: number, now: Millis): void {
    this.taken = this.recent(now) + milliseconds
    this.since = now
  }
}

interface Waiter {
  readonly taker: TurnTaker
  readonly bytes: number
  readonly go: () => void
}

/**
 * Rank from 0. Little recent time and data goes first, so that a ping does not wait for a hundred full buffers. Further
 * ranks double, so that similar peers go in order of arrival.
 */
const standing = ({ bytes, taker: { recent } }: Waiter, now: number): number => {
  const taken = recent(now)
  if (bytes <= SHORT_BYTES && taken <= SHORT_TIME) return 0
  return 1 + Math.max(0, Math.ceil(Math.log2((taken + BYTE_COST * bytes) / LITTLE)))
}

/**
 * The line in which peers wait for this thread. A hundred peers in a row would delay everything else by half a second.
 *
 *   turn of the event loop: sockets, timers ─▶ one outbound peer, one inbound peer, while they take little
 *
 * A peer continues at once if little time was taken in this event-loop turn and no peer waits.
 */
export class Turns {
  private readonly now: () => number
  private readonly chosen = new Set<Waiter>()
  private readonly others = new Set<Waiter>()
  private readonly large = Effect.unsafeMakeSemaphore(1)
  private used = 0
  private renewing = false

  /** @param now monotonic milliseconds. */
  constructor(now: () => number) {
    this.now = now
  }

  spent(milliseconds: number): void {
    this.used += milliseconds
    this.renewLater()
  }

  /** Handles large messages one at a time to limit their objects in memory. Outbound peers do not wait. */
  alone<A>(taker: TurnTaker, handling: Effect.Effect<A>): Effect.Effect<A> {
    return taker.chosen ? handling : this.large.withPermits(1)(handling)
  }

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
    nextTurn(() => {
      this.used = 0
      this.callUp(MOST_CALLED)
    })
  }

  private callUp(left: number): void {
    for (const line of [this.chosen, this.others]) this.callFirst(line)
    queueMicrotask(() => {
      const waiting = this.chosen.size + this.others.size > 0
      if (waiting && left > 1 && this.used < TURN) return this.callUp(left - 1)
      this.renewing = false
      if (waiting || this.used > 0) this.renewLater()
    })
  }

  /** Among equals, the longest wait. */
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
