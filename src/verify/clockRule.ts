import { EXPIRATION_DEPTH } from "../consensus/expiry.ts"
import { MAX_FUTURE_BLOCK_TIME, type ReaderParams } from "../consensus/readerParams.ts"
import type { Height, UnixTime } from "../protocol/keys.ts"
import type { ProofFailure } from "./nameProof.ts"

/** A block with its claimed height and the time in its header. */
export interface PlacedBlock {
  readonly height: Height
  readonly time: UnixTime
}

/** Heights and times of mainnet blocks, in order. */
const ANCHORS: ReadonlyArray<readonly [height: Height, time: UnixTime]> = [
  [0, 1_303_000_001],
  [19_199, 1_318_063_738],
  [40_000, 1_327_728_573],
  [210_000, 1_418_768_435],
  [404_680, 1_530_003_649],
  [495_000, 1_582_540_599],
  [757_000, 1_738_291_084],
  [829_949, 1_781_892_228]
]

/** Maximum deviation of the chain from a straight line between two anchors, in blocks. */
const ANCHOR_DRIFT = 8_000

/** Maximum deviation of the block rate over years, as a fraction. */
const YEARS_DRIFT = 0.05

/**
 * The estimated height of mainnet at a time, and its tolerance. Interpolates between anchors, and extrapolates after
 * the last.
 */
const heightAt = (time: UnixTime, targetSpacing: number) => {
  let [low, from] = ANCHORS[0] ?? [0, 0]
  for (const [height, at] of ANCHORS) {
    if (time < at) return { height: low + (height - low) * (time - from) / (at - from), drift: ANCHOR_DRIFT }
    low = height
    from = at
  }
  const after = (time - from) / targetSpacing
  return { height: low + after, drift: ANCHOR_DRIFT + after * YEARS_DRIFT }
}

/**
 * The reason why a height does not fit the time of its header. Rules and expiry depend on the height, which a forged
 * block can choose. On test networks, blocks come at any time, so every height fits.
 */
export const heightFault = (
  { height, time }: PlacedBlock,
  { minDifficultySince, targetSpacing }: ReaderParams
): string | undefined => {
  if (minDifficultySince !== undefined) return undefined
  const expected = heightAt(time, targetSpacing)
  return Math.abs(height - expected.height) > expected.drift
    ? `height ${height} does not fit the time of its header`
    : undefined
}

/** The verdict on a proof by the local clock. */
export type ClockVerdict = ProofFailure | { readonly isNearExpiry: boolean }

export interface ClockQuestion {
  /** The block of the newest operation, then the blocks after it. */
  readonly blocks: ReadonlyArray<PlacedBlock>
  /** The server's tip. */
  readonly tip: PlacedBlock
  /** Whether the coinbases of both the block and the tip confirm their heights. */
  readonly areHeightsProven: boolean
  readonly now: UnixTime
}

/** Maximum age of the tip by the clock, in seconds. */
const OLDEST_TIP = 86_400

/** Tolerance for the height of a tip that only the server claims, in blocks: one day. */
const SLACK = 144

/** Maximum deviation of the block rate for weeks, until the difficulty follows the miners, as a fraction. */
const DRIFT = 0.2

const claimedTipFault = (last: PlacedBlock, tip: PlacedBlock, targetSpacing: number): string | undefined => {
  const blocks = tip.height - last.height
  const usual = Math.max(0, tip.time - last.time) / targetSpacing
  if (blocks < usual * (1 - DRIFT) - SLACK) return "the tip is lower than its time allows"
  return blocks > usual * (1 + DRIFT) + SLACK ? "the tip is higher than its time allows" : undefined
}

/**
 * Compares a proof with the clock. No header may be from the future, the tip may be at most a day old, and the name
 * must not have expired since. Heights that only the server claims must fit the times of the headers. On test networks,
 * blocks come at any time, and only the first rule applies.
 */
export const clockVerdict = (
  { areHeightsProven, blocks, now, tip }: ClockQuestion,
  { minDifficultySince, targetSpacing }: ReaderParams
): ClockVerdict => {
  const latest = now + MAX_FUTURE_BLOCK_TIME
  if (tip.time > latest || blocks.some(({ time }) => time > latest)) {
    return { failed: "a header is from the future", code: "future" }
  }
  if (minDifficultySince !== undefined) return { isNearExpiry: false }
  if (tip.time < now - OLDEST_TIP) return { failed: "the proof is older than a day", code: "old" }
  const [made] = blocks
  const last = blocks.at(-1)
  if (made === undefined || last === undefined) return { failed: "the newest operation has no header" }
  const age = (now - made.time) / targetSpacing
  if (age > EXPIRATION_DEPTH * (1 + YEARS_DRIFT)) return { failed: "the name has expired since", code: "expired" }
  if (areHeightsProven) return { isNearExpiry: false }
  const fault = claimedTipFault(last, tip, targetSpacing)
  return fault === undefined ? { isNearExpiry: age > EXPIRATION_DEPTH * (1 - YEARS_DRIFT) } : { failed: fault }
}
