import { feeOf } from "../../mempool/policy/feeRate.ts"

/**
 * A coin as coin selection uses it. The effective value is the value of a coin after the fee of its own input, so that
 * a sum of effective values can be compared with the cost of the transaction without its inputs. All amounts are in
 * smallest units.
 */
export interface Candidate {
  /** Its index in the source list. */
  readonly index: number
  readonly value: number
  /** Weight units of its signed input. */
  readonly weight: number
  /** The fee of its input at the fee rate of the transaction, rounded up, and what its ancestors lack. */
  readonly fee: number
  /** `value - fee`. */
  readonly effective: number
  /** The fee of its input now, less the fee at the long-term rate; negative if now is a good time to spend it. */
  readonly waste: number
}

export interface CandidateRates {
  /** The fee rate of the transaction, smallest units per kvB. */
  readonly feeRate: number
  /** The fee rate expected in the long term. */
  readonly longTermRate: number
}

/** Virtual bytes of a weight, rounded up. */
export const vsizeOf = (weight: number): number => Math.ceil(weight / 4)

/** Each input is rounded up separately, so that a sum is never less than the cost of the transaction. */
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

/** The search order: the highest effective value first, then the least waste, then the lowest index. */
export const byEffectiveValue = (a: Candidate, b: Candidate): number =>
  b.effective - a.effective || a.waste - b.waste || a.index - b.index
