import { exponential, type Random } from "../../base/random.ts"
import { MAX_MONEY } from "../../protocol/amount.ts"

// The fee rate below which we want no announcements (BIP 133; reference/protocol.md 6.6): the mempool minimum, randomly
// rounded so that it does not identify nodes. Smallest units per kvB; times in milliseconds. Source: upstream
// `policy/fees/block_policy_estimator.cpp`, `FeeFilterRounder`; `net_processing.cpp`, `MaybeSendFeefilter`.

const MAX_STEP = 1e7

const SPACING = 1.1

/** Mean time between two checks of the sent filter. */
const MEAN_INTERVAL = 10 * 60_000

const MAX_CHANGE_DELAY = 5 * 60_000

/** Ascending, from 0. */
export const feeSteps = (incrementalFeeRate: number): ReadonlyArray<number> => {
  const steps = [0]
  for (let step = Math.max(1, Math.floor(incrementalFeeRate / 2)); step <= MAX_STEP; step *= SPACING) steps.push(step)
  return steps
}

/** Rounds up to a step with probability 1/3, otherwise down; never above the last step. */
export const roundFeeRate = (steps: ReadonlyArray<number>, rate: number, random: Random): number => {
  const above = steps.findIndex((step) => step >= rate)
  if (above === 0) return 0
  const chosen = above < 0 ? steps.length - 1 : random() * 3 < 1 ? above : above - 1
  return Math.floor(steps[chosen] ?? 0)
}

export interface FeeFilterState {
  sent: number | undefined
  next: number
}

export interface FeeFilterNeeds {
  /** Mempool minimum above `floor`, otherwise 0. */
  readonly rate: number
  /** Rate below which nothing is ever relayed. */
  readonly floor: number
  readonly initialDownload: boolean
}

/** Records the returned filter as sent. */
export const nextFeeFilter = (
  state: FeeFilterState,
  { floor, initialDownload, rate }: FeeFilterNeeds,
  { now, random, steps }: { readonly steps: ReadonlyArray<number>; readonly now: number; readonly random: Random }
): number | undefined => {
  const highest = Math.floor(steps[steps.length - 1] ?? 0)
  const current = initialDownload ? MAX_MONEY : rate
  const was = state.sent
  // When the initial download ends, the filter is sent at once.
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
