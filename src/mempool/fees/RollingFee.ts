/** Seconds in which what a full pool asked for is worth half, with a pool that is still half full or more (policy). */
const HALF_LIFE = 12 * 60 * 60

/** Seconds that the rate stands still between two looks at the clock. */
const STEP = 10

/**
 * What the pool asks for beyond the relay fee since it had to throw something out: a rate that begins to fall with the
 * next block, faster the emptier the pool is. Rates are smallest units a kvB; `now` is in seconds since 1970.
 * Source: upstream `txmempool.cpp`, `CTxMemPool::GetMinFee`, `trackPackageRemoved`.
 */
export class RollingFee {
  private readonly increment: number
  private rate = 0
  private updated = 0
  private falling = false

  /** `increment` is the incremental relay fee rate: less than half of it counts as nothing. */
  constructor(increment: number) {
    this.increment = increment
  }

  /** Something that paid `rate` was thrown out: what comes now has to pay more. */
  raise(rate: number): void {
    const asked = rate + this.increment
    if (asked <= this.rate) return
    this.rate = asked
    this.falling = false
  }

  /** A block came, which may have made room. */
  blockConnected(now: number): void {
    this.updated = now
    this.falling = true
  }

  /** The rate at a time; `filled` is the part of its memory that the pool uses. */
  at(now: number, filled: number): number {
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
