import * as Schema from "effect/Schema"
import type { TxidKey } from "../../protocol/keys.ts"
import { rateOf } from "../policy/feeRate.ts"
import { bucketOf } from "./feeBuckets.ts"
import {
  FeeHorizon,
  type FeeTarget,
  type FollowedArrival,
  type FollowedRate,
  type HorizonEstimate,
  type HorizonName,
  HORIZONS,
  type SavedBucket
} from "./FeeHorizon.ts"

/** `economical` follows falling fees at once; `conservative` requires longer horizons to agree. */
export type FeeMode = "economical" | "conservative"

export interface FeeSample {
  /** Smallest units. */
  readonly fee: number
  readonly vsize: number
  /** Height of the tip at its arrival. */
  readonly height: number
  /** Whether its fee alone decides how long it waits: not with unconfirmed parents or after a reorg. */
  readonly validForEstimation: boolean
}

export interface SmartEstimate {
  /** Smallest units per kvB; `undefined` without an estimate. */
  readonly feeRate: number | undefined
  /** The target of the estimate, which may differ from the requested one. */
  readonly blocks: number
}

export interface RawEstimate extends HorizonEstimate {
  readonly decay: number
  readonly scale: number
}

const Height = Schema.Int.pipe(Schema.between(0, 2 ** 31 - 1))

/** Counts that decay each block stay far below this, whatever the blocks contain. */
const Count = Schema.Number.pipe(Schema.between(0, 1e12))

const Buckets = Schema.Array(Schema.Struct({
  bucket: Schema.NonNegativeInt,
  confirmed: Count,
  feeRates: Schema.Number.pipe(Schema.between(0, 1e30)),
  within: Schema.Array(Count),
  left: Schema.Array(Count)
}))

export const SavedFees = Schema.Struct({
  bestHeight: Height,
  /** The range of blocks behind the counts. */
  first: Height,
  last: Height,
  short: Buckets,
  medium: Buckets,
  long: Buckets
})

export type SavedFees = typeof SavedFees.Type

/** Shares that must be mined within half the target, the target, and twice the target. */
const HALF_SHARE = 0.6
const SHARE = 0.85
const DOUBLE_SHARE = 0.95

/** Blocks until counts from an earlier run are useless: six weeks. */
const OLDEST = 6 * 1008

/** Transactions to follow: more than a mempool of the usual size has. */
const MAX_FOLLOWED = 500_000

interface Followed extends FollowedArrival, FollowedRate {}

const greater = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || (b !== undefined && b > a) ? b : a

const lesser = (a: number | undefined, b: number | undefined): number | undefined =>
  b !== undefined && b > 0 && (a === undefined || b < a) ? b : a

/**
 * How soon fee rates got transactions from this node's mempool into blocks. Follows the rules of upstream
 * `policy/fees/block_policy_estimator.cpp`, `CBlockPolicyEstimator`.
 */
export class FeeHistory {
  private readonly horizons: Readonly<Record<HorizonName, FeeHorizon>> = {
    short: new FeeHorizon(HORIZONS.short),
    medium: new FeeHorizon(HORIZONS.medium),
    long: new FeeHorizon(HORIZONS.long)
  }
  private readonly followed = new Map<TxidKey, Followed>()
  private best = 0
  /** Height of the first block since the start with a followed transaction; 0 before it. */
  private first = 0
  /** The range of blocks behind the counts of earlier runs. */
  private earlier = { first: 0, last: 0 }

  /** Height of the last counted block; 0 before the first. */
  get bestHeight(): number {
    return this.best
  }

  get size(): number {
    return this.followed.size
  }

  /** Follows a transaction. Ignores one that arrived at another tip than the last counted block. */
  entered(key: TxidKey, { fee, height, validForEstimation, vsize }: FeeSample): void {
    if (!validForEstimation || height !== this.best || this.followed.has(key)) return
    if (this.followed.size >= MAX_FOLLOWED) return
    const feeRate = rateOf({ fee, vsize })
    const bucket = bucketOf(feeRate)
    const followed = { height, bucket, feeRate }
    this.followed.set(key, followed)
    for (const horizon of this.all) horizon.entered(followed)
  }

  /** A transaction left the mempool without being mined. */
  left(key: TxidKey): void {
    const followed = this.followed.get(key)
    if (followed !== undefined) this.stopFollowing(key, followed, false)
  }

  /**
   * A block with these transactions became the tip. If it is no higher than a counted one, this is a reorg, in which
   * transactions would count twice: they are no longer followed or counted.
   */
  blockConnected(height: number, keys: Iterable<TxidKey>): void {
    const isNew = height > this.best
    if (isNew) {
      for (const horizon of this.all) horizon.advance(this.best, height)
      this.best = height
    }
    for (const key of keys) {
      const followed = this.followed.get(key)
      if (followed === undefined) continue
      this.stopFollowing(key, followed, true)
      if (!isNew) continue
      for (const horizon of this.all) horizon.confirmed(followed, height - followed.height)
      if (this.first === 0) this.first = height
    }
  }

  /** Stops following all transactions, as at shutdown. One that waited long counts against its fee rate. */
  leaveAll(): void {
    for (const [key, followed] of this.followed) this.stopFollowing(key, followed, false)
  }

  /** The fee rate at which a share of `threshold` was mined within the target; `undefined` out of range. */
  estimateRaw(horizon: HorizonName, wanted: FeeTarget): RawEstimate | undefined {
    const { settings: { decay, scale }, targets } = this.horizons[horizon]
    if (wanted.target < 1 || wanted.target > targets) return undefined
    const { fail, feeRate, pass } = this.horizons[horizon].estimate(wanted, this.best)
    return { feeRate: inUnits(feeRate), pass, fail, decay, scale }
  }

  /**
   * The fee rate for a transaction to be mined within `target` blocks, 1 to 1008. The next block cannot be guaranteed,
   * so 1 becomes 2. Targets are at most half the observed time.
   */
  estimateSmart(target: number, mode: FeeMode): SmartEstimate {
    const longest = this.horizons.long.targets
    if (target < 1 || target > longest) return { feeRate: undefined, blocks: target }
    const blocks = Math.min(Math.max(2, target), longest, Math.floor(this.watched / 2))
    if (blocks < 2) return { feeRate: undefined, blocks }
    const conservative = mode === "conservative"
    let feeRate = this.combined({ target: Math.floor(blocks / 2), threshold: HALF_SHARE }, true)
    feeRate = greater(feeRate, this.combined({ target: blocks, threshold: SHARE }, true))
    feeRate = greater(feeRate, this.combined({ target: 2 * blocks, threshold: DOUBLE_SHARE }, !conservative))
    if (conservative || feeRate === undefined) feeRate = greater(feeRate, this.ofLongerHorizons(2 * blocks))
    return { feeRate: inUnits(feeRate), blocks }
  }

  /** The history as in the fee file, without followed transactions. */
  toJSON(): SavedFees {
    const { long, medium, short } = this.horizons
    const earlier = this.watchedEarlier
    const span = this.watchedNow > earlier / 2 ? { first: this.first, last: this.best } : this.earlier
    return { bestHeight: this.best, ...span, short: short.save(), medium: medium.save(), long: long.save() }
  }

  /** Restores a saved history, or returns what is wrong with it. */
  static fromJSON(saved: SavedFees): FeeHistory | { readonly fault: string } {
    const { bestHeight, first, last } = saved
    if (first > last || last > bestHeight) return { fault: `blocks ${first} to ${last} of ${bestHeight}` }
    const history = new FeeHistory()
    for (const name of HORIZON_NAMES) {
      const buckets: ReadonlyArray<SavedBucket> = saved[name]
      const fault = history.horizons[name].restore(buckets)
      if (fault !== undefined) return { fault: `${name}: ${fault}` }
    }
    history.best = bestHeight
    history.earlier = { first, last }
    return history
  }

  private get all(): ReadonlyArray<FeeHorizon> {
    const { long, medium, short } = this.horizons
    return [short, medium, long]
  }

  private stopFollowing(key: TxidKey, followed: Followed, mined: boolean): void {
    this.followed.delete(key)
    for (const horizon of this.all) horizon.gone(followed, this.best, mined)
  }

  /** Blocks observed since the start. */
  private get watchedNow(): number {
    return this.first === 0 ? 0 : this.best - this.first
  }

  /** Blocks observed in earlier runs; 0 if too long ago. */
  private get watchedEarlier(): number {
    const { first, last } = this.earlier
    return first === 0 || this.best - last > OLDEST ? 0 : last - first
  }

  private get watched(): number {
    return Math.max(this.watchedNow, this.watchedEarlier)
  }

  private rate(horizon: HorizonName, wanted: FeeTarget): number | undefined {
    return this.horizons[horizon].estimate(wanted, this.best).feeRate
  }

  /**
   * The estimate of the shortest horizon that reaches the target. With `shorter`, a shorter horizon's lower estimate
   * for its own highest target replaces it, as a transaction with that fee rate waits no longer.
   */
  private combined(wanted: FeeTarget, shorter: boolean): number | undefined {
    const { target, threshold } = wanted
    const { long, medium, short } = this.horizons
    if (target < 1 || target > long.targets) return undefined
    if (target <= short.targets) return this.rate("short", wanted)
    let feeRate = this.rate(target <= medium.targets ? "medium" : "long", wanted)
    if (!shorter) return feeRate
    if (target > medium.targets) feeRate = lesser(feeRate, this.rate("medium", { target: medium.targets, threshold }))
    return lesser(feeRate, this.rate("short", { target: short.targets, threshold }))
  }

  /** The highest estimate of all horizons beyond the shortest that reaches the target. */
  private ofLongerHorizons(target: number): number | undefined {
    const { medium, short } = this.horizons
    const wanted = { target, threshold: DOUBLE_SHARE }
    const ofMedium = target <= short.targets ? this.rate("medium", wanted) : undefined
    return target <= medium.targets ? greater(ofMedium, this.rate("long", wanted)) : undefined
  }
}

/** From the shortest to the longest. */
const HORIZON_NAMES: ReadonlyArray<HorizonName> = ["short", "medium", "long"]

/** Rounds to whole units. Less than half a unit becomes `undefined`. */
const inUnits = (feeRate: number | undefined): number | undefined => {
  const units = Math.round(feeRate ?? 0)
  return units === 0 ? undefined : units
}
