/** Blocks asked for at once of a peer that nothing is known of, upstream's fixed number (reference/protocol.md 6.8). */
export const START_LIMIT = 16

/** What measuring may make of it. */
export const LEAST_LIMIT = 4
export const MOST_LIMIT = 128

/** Milliseconds of work that a peer should have ahead at least: our own answers come in turns too. */
const LEAST_AHEAD = 250

/** Milliseconds over which a rate is counted at least. */
const RATE_WINDOW = 100

/** How much a new value moves an average. */
const WEIGHT = 0.25

const moved = (average: number | undefined, value: number): number =>
  average === undefined ? value : average + WEIGHT * (value - average)

/**
 * How well a peer delivers blocks: moving averages of time and rate, and what it failed at. Decides whom to ask first,
 * and how much at once: twice what is on the way at the measured rate (bandwidth times delay), so that a far or fast
 * peer is kept busy. Times are milliseconds of one clock.
 */
export class PeerScore {
  /** From the question to the block, on average; `undefined` before the first. */
  latency: number | undefined
  /** Blocks a second while it was kept busy. */
  rate: number | undefined
  /** Times that it kept us waiting. Fades with what it delivers. */
  stalls = 0
  /** Answers that were no use. */
  failures = 0
  private shortest = Infinity
  private windowStart: number | undefined
  private windowBlocks = 0

  /** It is asked while it owes nothing: the time before does not count. */
  begins(now: number): void {
    this.windowStart = now
    this.windowBlocks = 0
  }

  /** A block came that it was asked for `latency` ago. `busy`: as much as its limit was under way. */
  delivered(now: number, latency: number, busy: boolean): void {
    this.latency = moved(this.latency, latency)
    this.shortest = Math.min(this.shortest, latency)
    this.stalls *= 0.9
    if (this.windowStart === undefined) this.begins(now)
    const elapsed = now - (this.windowStart ?? now)
    // The block that ends a window begins the next one: what comes in one burst belongs together.
    if (elapsed >= RATE_WINDOW) {
      if (this.windowBlocks > 0) this.measured((1000 * this.windowBlocks) / elapsed, busy)
      this.begins(now)
    }
    this.windowBlocks++
  }

  private measured(rate: number, busy: boolean): void {
    if (this.rate === undefined || rate > this.rate) this.rate = rate
    // A peer that had little to do is not slow.
    else if (busy) this.rate = moved(this.rate, rate)
  }

  stalled(): void {
    this.stalls++
  }

  failed(): void {
    this.failures++
  }

  /** How many blocks may be under way. */
  get limit(): number {
    if (this.rate === undefined) return this.stalls >= 1 ? LEAST_LIMIT : START_LIMIT
    const ahead = Math.max(2 * this.shortest, LEAST_AHEAD)
    const wanted = Math.ceil((2 * this.rate * ahead) / 1000 / (1 + Math.floor(this.stalls)))
    return Math.min(Math.max(wanted, LEAST_LIMIT), MOST_LIMIT)
  }

  /** The lower, the sooner it is asked: how long a block is expected to take, in milliseconds. */
  get rank(): number {
    return (this.latency ?? 200) * (1 + this.stalls) * (1 + 2 * this.failures)
  }

  /** Milliseconds of silence that are no longer usual while it owes blocks. */
  get patience(): number {
    return Math.min(Math.max(4 * (this.latency ?? 250), 500), 10_000)
  }
}
