import { exponential, type Random } from "../../base/random.ts"
import { MAX_MONEY } from "../../protocol/amount.ts"

/**
 * The fee rate below which we want no transactions announced (BIP 133; reference/protocol.md 6.6): what the mempool
 * asks for, rounded by chance, so that it does not tell nodes apart. Rates are smallest units a kvB, times
 * milliseconds. Source: upstream `policy/fees/block_policy_estimator.cpp`, `FeeFilterRounder`; `net_processing.cpp`,
 * `MaybeSendFeefilter`.
 */

/** The highest step. */
const MAX_STEP = 1e7

/** Each step is so many times the one before. */
const SPACING = 1.1

/** Mean time between two looks at what a peer was told. */
const MEAN_INTERVAL = 10 * 60_000

/** After a big change a peer is told within this time. */
const MAX_CHANGE_DELAY = 5 * 60_000

/** The steps that rates are rounded to, ascending, from 0 on. */
export const feeSteps = (incrementalFeeRate: number): ReadonlyArray<number> => {
  const steps = [0]
  for (let step = Math.max(1, Math.floor(incrementalFeeRate / 2)); step <= MAX_STEP; step *= SPACING) steps.push(step)
  return steps
}

/** The step above a rate in one of three cases, the one below it in the others, and the last one for all above that. */
export const roundFeeRate = (steps: ReadonlyArray<number>, rate: number, random: Random): number => {
  const above = steps.findIndex((step) => step >= rate)
  if (above === 0) return 0
  const chosen = above < 0 ? steps.length - 1 : random() * 3 < 1 ? above : above - 1
  return Math.floor(steps[chosen] ?? 0)
}

/** What one peer was told, and when to look at it again. */
export interface FeeFilterState {
  sent: number | undefined
  next: number
}

export interface FeeFilterNeeds {
  /** What the mempool asks for above `floor`; 0 where that is nothing. */
  readonly rate: number
  /** Nothing below it is ever relayed. */
  readonly floor: number
  /** Then no transaction is wanted at all. */
  readonly initialDownload: boolean
}

/** What to tell a peer now, if anything; takes note that it was told. */
export const nextFeeFilter = (
  state: FeeFilterState,
  { floor, initialDownload, rate }: FeeFilterNeeds,
  steps: ReadonlyArray<number>,
  now: number,
  random: Random
): number | undefined => {
  const highest = Math.floor(steps[steps.length - 1] ?? 0)
  const current = initialDownload ? MAX_MONEY : rate
  const was = state.sent
  // Whoever was told to send nothing is told at once that this is over.
  const over = !initialDownload && was === highest
  if (over || now >= state.next) {
    const wanted = Math.max(roundFeeRate(steps, current, random), floor)
    state.next = now + exponential(random, MEAN_INTERVAL)
    state.sent = wanted
    return wanted === was ? undefined : wanted
  }
  const least = Math.max(current, floor)
  const changed = was !== undefined && (least < 0.75 * was || least > was / 0.75)
  if (changed && now + MAX_CHANGE_DELAY < state.next) state.next = now + random() * MAX_CHANGE_DELAY
  return undefined
}
