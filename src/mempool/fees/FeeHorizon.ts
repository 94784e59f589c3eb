import type { Height } from "../../protocol/keys.ts"
import { bucketBottom, BUCKETS, bucketTop } from "./feeBuckets.ts"

/** How far back counts reach, and the resolution of waiting times. */
export interface HorizonSettings {
  /** Blocks per step of waiting time. */
  readonly scale: number
  readonly periods: number
  /** The share of a count left after one more block. */
  readonly decay: number
  /** Average transactions per block that make a range of fee rates conclusive. */
  readonly sufficient: number
}

export type HorizonName = "short" | "medium" | "long"

/**
 * Half of a count is left after 18, 144 and 1008 blocks; waiting is followed for 12, 48 and 1008 blocks. Source:
 * upstream `policy/fees/block_policy_estimator.h`.
 */
export const HORIZONS: Readonly<Record<HorizonName, HorizonSettings>> = {
  short: { scale: 1, periods: 12, decay: 0.962, sufficient: 0.5 },
  medium: { scale: 2, periods: 24, decay: 0.9952, sufficient: 0.1 },
  long: { scale: 24, periods: 42, decay: 0.99931, sufficient: 0.1 }
}

/** Adjacent fee rates and the fate of their transactions. The counts decay, so they have fractions. */
export interface FeeRange {
  /** Smallest units per kvB. */
  readonly start: number
  readonly end: number
  /** Mined within the target. */
  readonly withinTarget: number
  /** Mined at all. */
  readonly confirmed: number
  /** In the mempool for the target or longer. */
  readonly inPool: number
  /** Left the mempool unconfirmed, after the target or later. */
  readonly left: number
}

export interface HorizonEstimate {
  /** Smallest units per kvB; `undefined` if no range passes. */
  readonly feeRate: number | undefined
  /** The lowest range that passes, if any. */
  readonly pass: FeeRange | undefined
  /** The highest range below it that fails. */
  readonly fail: FeeRange | undefined
}

/** A followed transaction's range of fee rates, and the height of the tip at its arrival. */
export interface FollowedArrival {
  readonly bucket: number
  readonly height: Height
}

/** The fee rate of a followed transaction (smallest units per kvB) and its range. */
export interface FollowedRate {
  readonly bucket: number
  readonly feeRate: number
}

export interface FeeTarget {
  /** Blocks. */
  readonly target: number
  /** The share of transactions that must be mined within them. */
  readonly threshold: number
}

export interface SavedBucket {
  readonly bucket: number
  readonly confirmed: number
  /** Sum of the fee rates of the confirmed transactions. */
  readonly feeRates: number
  /** Confirmed within each period, or earlier. */
  readonly within: ReadonlyArray<number>
  /** Left unconfirmed after each period, or later. */
  readonly left: ReadonlyArray<number>
}

/** Lower counts are dropped on saving, before they are too small for a division. */
const NEGLIGIBLE = 1e-9

/** Possible rounding error of sums of decayed numbers. */
const TOLERANCE = 1e-6

/** Ranges combined from the highest down until they have enough transactions to be conclusive. */
class Stretch {
  readonly highest: number
  withinTarget = 0
  confirmed = 0
  inPool = 0
  left = 0
  /** Confirmed since the last check of the combined ranges. */
  fresh = 0

  constructor(highest: number) {
    this.highest = highest
  }

  get successRate(): number {
    return this.withinTarget / (this.confirmed + this.left + this.inPool)
  }

  downTo(lowest: number): FeeRange {
    const { confirmed, highest, inPool, left, withinTarget } = this
    return { start: bucketBottom(lowest), end: bucketTop(highest), withinTarget, confirmed, inPool, left }
  }
}

/** Ranges combined down to the lowest one. */
interface Combined {
  readonly lowest: number
  readonly stretch: Stretch
}

/**
 * The fate of transactions over one span of the past, by range of fee rates. Follows the rules of upstream
 * `policy/fees/block_policy_estimator.cpp`, `TxConfirmStats`. A transaction's height is that of the tip at its arrival.
 */
export class FeeHorizon {
  /** Blocks for which waiting is followed: the highest target with an estimate. */
  readonly targets: number
  readonly settings: HorizonSettings
  private readonly confirmedIn = new Float64Array(BUCKETS)
  private readonly feeRates = new Float64Array(BUCKETS)
  /** By period, then by bucket. */
  private readonly within: Float64Array
  private readonly leftAfter: Float64Array
  /** Followed transactions by height of arrival (modulo `targets`), then by bucket. */
  private readonly waiting: Int32Array
  /** Followed transactions that arrived `targets` blocks ago or earlier, by bucket. */
  private readonly waitingLonger = new Int32Array(BUCKETS)
  private young = 0
  /**
   * Blocks of decay still to be applied by `settle`, at once. This leaves the counts untouched during an import, in
   * which no followed transaction is mined.
   */
  private due = 0

  constructor(settings: HorizonSettings) {
    this.settings = settings
    this.targets = settings.scale * settings.periods
    this.within = new Float64Array(settings.periods * BUCKETS)
    this.leftAfter = new Float64Array(settings.periods * BUCKETS)
    this.waiting = new Int32Array(this.targets * BUCKETS)
  }

  entered(arrival: FollowedArrival): void {
    this.addWaiting(arrival, arrival.height, 1)
  }

  /** Stops following a transaction. If unconfirmed, it counts as a failure of its range for the time it waited. */
  gone(arrival: FollowedArrival, tipHeight: Height, mined: boolean): void {
    this.addWaiting(arrival, tipHeight, -1)
    if (mined) return
    this.settle()
    const { periods, scale } = this.settings
    const { bucket, height } = arrival
    const passed = Math.min(periods, Math.floor((tipHeight - height) / scale))
    for (let period = 0; period < passed; period++) add(this.leftAfter, period * BUCKETS + bucket, 1)
  }

  /** Counts a transaction mined `blocks` blocks after its arrival, at least 1. */
  confirmed({ bucket, feeRate }: FollowedRate, blocks: number): void {
    this.settle()
    const { periods, scale } = this.settings
    for (let period = Math.ceil(blocks / scale) - 1; period < periods; period++) {
      add(this.within, period * BUCKETS + bucket, 1)
    }
    add(this.confirmedIn, bucket, 1)
    add(this.feeRates, bucket, feeRate)
  }

  /** Moves from one tip to the block at another height: merges old arrivals into one count, and decays all counts. */
  advance(from: Height, to: Height): void {
    for (let next = Math.max(from + 1, to - this.targets + 1); next <= to && this.young > 0; next++) {
      const slot = (next % this.targets) * BUCKETS
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        const count = this.waiting[slot + bucket] ?? 0
        add(this.waitingLonger, bucket, count)
        this.waiting[slot + bucket] = 0
        this.young -= count
      }
    }
    this.due++
  }

  /** Applies pending decay. Called before each use of the counts. */
  private settle(): void {
    if (this.due === 0) return
    const share = this.settings.decay ** this.due
    this.due = 0
    for (const counts of [this.confirmedIn, this.feeRates, this.within, this.leftAfter]) {
      for (let i = 0; i < counts.length; i++) counts[i] = (counts[i] ?? 0) * share
    }
  }

  /**
   * The lowest fee rates of which a share of at least `threshold` was mined within `target` blocks (1 to `targets`).
   * Goes down from the highest range, combining ranges until they have enough transactions.
   */
  estimate({ target, threshold }: FeeTarget, tipHeight: Height): HorizonEstimate {
    this.settle()
    const { decay, scale, sufficient } = this.settings
    const row = (Math.ceil(target / scale) - 1) * BUCKETS
    const enough = sufficient / (1 - decay)
    const oldest = Math.max(0, tipHeight - this.targets + 1)
    let stretch: Stretch | undefined
    let best: Combined | undefined
    let fail: FeeRange | undefined
    for (let bucket = BUCKETS - 1; bucket >= 0; bucket--) {
      stretch ??= new Stretch(bucket)
      const confirmed = this.confirmedIn[bucket] ?? 0
      stretch.withinTarget += this.within[row + bucket] ?? 0
      stretch.confirmed += confirmed
      stretch.fresh += confirmed
      stretch.left += this.leftAfter[row + bucket] ?? 0
      stretch.inPool += this.waitingSince(bucket, oldest, tipHeight - target)
      if (stretch.fresh < enough) continue
      stretch.fresh = 0
      if (stretch.successRate < threshold) {
        fail ??= stretch.downTo(bucket)
        continue
      }
      fail = undefined
      best = { lowest: bucket, stretch }
      stretch = undefined
    }
    if (stretch !== undefined) fail ??= stretch.downTo(0)
    if (best === undefined) return { feeRate: undefined, pass: undefined, fail }
    return {
      feeRate: this.middleOf(best),
      pass: best.stretch.downTo(best.lowest),
      fail
    }
  }

  /** The counts to save, without empty ranges. */
  save(): ReadonlyArray<SavedBucket> {
    this.settle()
    const saved: Array<SavedBucket> = []
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const left = this.column(this.leftAfter, bucket)
      const confirmed = this.confirmedIn[bucket] ?? 0
      const isEmpty = confirmed < NEGLIGIBLE
      if (isEmpty && (left[0] ?? 0) < NEGLIGIBLE) continue
      saved.push({
        bucket,
        confirmed: isEmpty ? 0 : confirmed,
        feeRates: isEmpty ? 0 : this.feeRates[bucket] ?? 0,
        within: this.column(this.within, bucket).map((count) => isEmpty ? 0 : count),
        left
      })
    }
    return saved
  }

  /** Restores saved counts into a new horizon. Returns what is wrong with them, which makes the horizon unusable. */
  restore(saved: ReadonlyArray<SavedBucket>): string | undefined {
    let last = -1
    for (const each of saved) {
      const { bucket, confirmed, feeRates, left, within } = each
      if (bucket <= last || bucket >= BUCKETS) return `range ${bucket} is out of place`
      last = bucket
      const fault = faultOf(each, this.settings.periods)
      if (fault !== undefined) return `range ${bucket}: ${fault}`
      this.confirmedIn[bucket] = confirmed
      this.feeRates[bucket] = feeRates
      for (let period = 0; period < this.settings.periods; period++) {
        this.within[period * BUCKETS + bucket] = within[period] ?? 0
        this.leftAfter[period * BUCKETS + bucket] = left[period] ?? 0
      }
    }
    return undefined
  }

  private column(counts: Float64Array, bucket: number): Array<number> {
    return Array.from({ length: this.settings.periods }, (_, period) => {
      const count = counts[period * BUCKETS + bucket] ?? 0
      return count < NEGLIGIBLE ? 0 : count
    })
  }

  private addWaiting({ bucket, height }: FollowedArrival, tipHeight: Height, change: number): void {
    if (tipHeight - height >= this.targets) return add(this.waitingLonger, bucket, change)
    add(this.waiting, (height % this.targets) * BUCKETS + bucket, change)
    this.young += change
  }

  /** Transactions that arrived at the heights `from` to `to`, or earlier. */
  private waitingSince(bucket: number, from: Height, to: Height): number {
    let count = this.waitingLonger[bucket] ?? 0
    for (let height = to; height >= from; height--) {
      count += this.waiting[(height % this.targets) * BUCKETS + bucket] ?? 0
    }
    return count
  }

  /** The average fee rate of the range with the median transaction of combined ranges. */
  private middleOf({ lowest, stretch: { highest } }: Combined): number | undefined {
    let half = 0
    for (let bucket = lowest; bucket <= highest; bucket++) half += (this.confirmedIn[bucket] ?? 0) / 2
    for (let bucket = lowest; bucket <= highest; bucket++) {
      const confirmed = this.confirmedIn[bucket] ?? 0
      if (confirmed > 0 && confirmed >= half) return (this.feeRates[bucket] ?? 0) / confirmed
      half -= confirmed
    }
    return undefined
  }
}

// positional: runs for each of some 230 ranges, in each horizon, at every block
const add = (counts: Float64Array | Int32Array, at: number, change: number): void => {
  counts[at] = (counts[at] ?? 0) + change
}

/** Returns why saved counts are invalid, if so. */
const faultOf = ({ bucket, confirmed, feeRates, left, within }: SavedBucket, periods: number): string | undefined => {
  if (within.length !== periods || left.length !== periods) return `there are not ${periods} periods`
  const least = bucketBottom(bucket) * confirmed * (1 - TOLERANCE)
  const most = bucketTop(bucket) * confirmed * (1 + TOLERANCE)
  if (feeRates < least || feeRates > most) return "the fee rates are not of this range"
  if (within.some((count, n) => count > ((within[n + 1] ?? confirmed) + NEGLIGIBLE) * (1 + TOLERANCE))) {
    return "more was confirmed early than later"
  }
  return left.some((count, n) => count < ((left[n + 1] ?? 0) - NEGLIGIBLE) * (1 - TOLERANCE))
    ? "more left late than earlier"
    : undefined
}
