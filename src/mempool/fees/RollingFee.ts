import type { UnixTime } from "../../protocol/keys.ts"

/** Seconds in which the rate halves while the pool is at least half full (policy). */
const HALF_LIFE = 12 * 60 * 60

/** Seconds between two updates of the rate. */
const STEP = 10

/**
 * The minimum fee rate beyond the relay fee since the pool last evicted a transaction. It falls from the next block on,
 * faster in an emptier pool. Smallest units per kvB; `now` is in seconds since 1970. Source: upstream `txmempool.cpp`,
 * `CTxMemPool::GetMinFee`, `trackPackageRemoved`.
 */
export class RollingFee {
  private readonly increment: number
  private rate = 0
  private updated = 0
  private falling = false

  /** `increment` is the incremental relay fee rate. A rate below half of it becomes 0. */
  constructor(increment: number) {
    this.increment = increment
  }

  /** A chunk that paid `rate` was evicted, so new transactions must pay more. */
  raise(rate: number): void {
    const asked = rate + this.increment
    if (asked <= this.rate) return
    this.rate = asked
    this.falling = false
  }

  /** A block connected and may have made room, so the rate begins to fall. */
  blockConnected(now: number): void {
    this.updated = now
    this.falling = true
  }

  /** The rate at a time; `filled` is the used share of the pool's memory. */
  at(now: UnixTime, filled: number): number {
    if (!this.falling || this.rate === 0) return Math.round(this.rate)
    if (now > this.updated + STEP) {
      const halfLife = filled < 1 / 4 ? HALF_LIFE / 4 : filled < 1 / 2 ? HALF_LIFE / 2 : HALF_LIFE
      this.rate /= 2 ** ((now - this.updated) / halfLife)
      this.updated = now
      if (this.rate < this.increment / 2) {
        this.rate = 0
        return 0
      }
    }
    return Math.max(Math.round(this.rate), this.increment)
  }
}
