import { feeOf } from "../../mempool/policy/feeRate.ts"

/**
 * A coin as the search for inputs sees it. Effective values are what a coin brings after its own input is paid for, so
 * that a sum of them can be held against what is to be paid for without the inputs. Smallest units throughout.
 */
export interface Candidate {
  /** Its place in the list that the candidates were made of. */
  readonly index: number
  readonly value: number
  /** Weight units of its signed input. */
  readonly weight: number
  /** What its input costs at the rate of the transaction, rounded up. */
  readonly fee: number
  /** `value - fee`. */
  readonly effective: number
  /** What its input costs now more than it would in the long run; below zero where now is a good time to spend it. */
  readonly waste: number
}

export interface CandidateRates {
  /** Of the transaction, smallest units a kvB. */
  readonly feeRate: number
  /** What is expected in the long run. */
  readonly longTermRate: number
}

/** Virtual bytes of a weight, rounded up. */
export const vsizeOf = (weight: number): number => Math.ceil(weight / 4)

/** Makes a candidate. Each input is rounded up for itself, so that a sum never says less than the transaction costs. */
export const candidateOf = (
  index: number,
  coin: { readonly value: number; readonly weight: number },
  { feeRate, longTermRate }: CandidateRates
): Candidate => {
  const { value, weight } = coin
  const vsize = vsizeOf(weight)
  const fee = feeOf(feeRate, vsize)
  return { index, value, weight, fee, effective: value - fee, waste: fee - feeOf(longTermRate, vsize) }
}

/** The order of searches: what brings most comes first; among equals what wastes least, then what came first. */
export const byEffectiveValue = (a: Candidate, b: Candidate): number =>
  b.effective - a.effective || a.waste - b.waste || a.index - b.index
