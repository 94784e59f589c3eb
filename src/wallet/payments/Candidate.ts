import { feeOf } from "../../mempool/policy/feeRate.ts"

/**
 * A coin in coin selection. Its effective value is its value less the fee of its input, comparable with the cost of the
 * transaction without inputs. Amounts are in smallest units.
 */
export interface Candidate {
  readonly index: number
  readonly value: number
  /** Weight units of the signed input. */
  readonly weight: number
  /** At the transaction's fee rate, rounded up, plus what its ancestors lack. */
  readonly fee: number
  readonly effective: number
  /** The fee of its input now, less the fee at the long-term rate; negative if now is a good time to spend it. */
  readonly waste: number
}

export interface CandidateRates {
  /** Smallest units per kvB. */
  readonly feeRate: number
  readonly longTermRate: number
}

export const vsizeOf = (weight: number): number => Math.ceil(weight / 4)

/** Inputs are rounded up separately, so that a sum is never below the cost of the transaction. */
export const candidateOf = (
  index: number,
  coin: { readonly value: number; readonly weight: number; readonly bump?: number },
  { feeRate, longTermRate }: CandidateRates
): Candidate => {
  const { bump = 0, value, weight } = coin
  const vsize = vsizeOf(weight)
  const fee = feeOf(feeRate, vsize) + bump
  return { index, value, weight, fee, effective: value - fee, waste: fee - feeOf(longTermRate, vsize) }
}

/** Coins that are spent together, as one candidate. */
export const joinedCandidate = (index: number, parts: ReadonlyArray<Candidate>): Candidate => {
  const [first, ...others] = parts
  if (first !== undefined && others.length === 0) return first
  const joined = { index, value: 0, weight: 0, fee: 0, effective: 0, waste: 0 }
  for (const { effective, fee, value, waste, weight } of parts) {
    joined.value += value
    joined.weight += weight
    joined.fee += fee
    joined.effective += effective
    joined.waste += waste
  }
  return joined
}

/** Highest effective value first, then least waste, then lowest index. */
export const byEffectiveValue = (a: Candidate, b: Candidate): number =>
  b.effective - a.effective || a.waste - b.waste || a.index - b.index
