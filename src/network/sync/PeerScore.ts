import type { Millis } from "../../protocol/keys.ts"

/** For a new peer: upstream's fixed number (reference/protocol.md 6.8). */
export const START_LIMIT = 16

export const LEAST_LIMIT = 4
export const MOST_LIMIT = 128

/** Minimum milliseconds of work requested ahead, as our own requests come in turns. */
const LEAST_AHEAD = 250

/** Minimum milliseconds over which a rate is measured. */
const RATE_WINDOW = 100

const WEIGHT = 0.25

const moved = ({ average, value }: { readonly average: number | undefined; readonly value: number }): number =>
  average === undefined ? value : average + WEIGHT * (value - average)

/** Blocks in flight are twice the bandwidth-delay product. Milliseconds of one clock. */
export class PeerScore {
  /** Average time from request to block; `undefined` before the first. */
  latency: number | undefined
  /** Blocks per second while busy. */
  rate: number | undefined
  /** Decays with each delivery. */
  stalls = 0
  failures = 0
  private shortest = Infinity
  private windowStart: number | undefined
  private windowBlocks = 0

  /** A request to an idle peer, whose idle time does not count. */
  begins(now: number): void {
    this.windowStart = now
    this.windowBlocks = 0
  }

  /** `busy`: the peer's limit was in flight. */
  delivered(now: Millis, latency: number, busy: boolean): void {
    this.latency = moved({ average: this.latency, value: latency })
    this.shortest = Math.min(this.shortest, latency)
    this.stalls *= 0.9
    if (this.windowStart === undefined) this.begins(now)
    const elapsed = now - (this.windowStart ?? now)
    // The block that ends a window starts the next one, as the blocks of a burst belong together.
    if (elapsed >= RATE_WINDOW) {
      if (this.windowBlocks > 0) this.measured((1000 * this.windowBlocks) / elapsed, busy)
      this.begins(now)
    }
    this.windowBlocks++
  }

  private measured(rate: number, busy: boolean): void {
    if (this.rate === undefined || rate > this.rate) this.rate = rate
    // A peer with little to do is not slow.
    else if (busy) this.rate = moved({ average: this.rate, value: rate })
  }

  stalled(): void {
    this.stalls++
  }

  failed(): void {
    this.failures++
  }

  get limit(): number {
    if (this.rate === undefined) return this.stalls >= 1 ? LEAST_LIMIT : START_LIMIT
    const ahead = Math.max(2 * this.shortest, LEAST_AHEAD)
    const wanted = Math.ceil((2 * this.rate * ahead) / 1000 / (1 + Math.floor(this.stalls)))
    return Math.min(Math.max(wanted, LEAST_LIMIT), MOST_LIMIT)
  }

  /** Expected milliseconds per block. Lower ranks are asked first. */
  get rank(): number {
    return (this.latency ?? 200) * (1 + this.stalls) * (1 + 2 * this.failures)
  }

  /** Milliseconds until a peer with blocks in flight counts as silent. */
  get patience(): number {
    return Math.min(Math.max(4 * (this.latency ?? 250), 500), 10_000)
  }
}
