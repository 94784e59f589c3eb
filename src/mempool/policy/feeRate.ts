import { WITNESS_SCALE_FACTOR } from "../../consensus/params.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { WEIGHT_PER_SIGOP_COST } from "./limits.ts"

/** Fees, sizes and the rates between them. Fees are smallest units, rates smallest units per kvB unless noted. */

export const KVB = 1000

/** A fee and the weight units that it pays for: a fee rate without rounding. */
export interface FeeRate {
  /** Negative if a fee was prioritised down. */
  readonly fee: number
  /** Above 0. */
  readonly weight: number
}

const isExact = (product: number): boolean => Math.abs(product) <= Number.MAX_SAFE_INTEGER

/** `a * b / divisor` rounded down, exact for products of any size. */
const floorOfProduct = ([a, b]: readonly [number, number], divisor: number): number => {
  const product = a * b
  if (isExact(product)) {
    const rest = product % divisor
    return (product - (rest < 0 ? rest + divisor : rest)) / divisor
  }
  const exact = BigInt(a) * BigInt(b)
  const by = BigInt(divisor)
  return Number(exact / by - (exact < 0n && exact % by !== 0n ? 1n : 0n))
}

/**
 * The fee for a size at a rate, rounded up. Source: upstream `policy/feerate.cpp`, `CFeeRate::GetFee`. positional: a
 * product, so swapped arguments give the same fee; runs per coin in coin selection
 */
export const feeOf = (rate: number, vsize: number): number => -floorOfProduct([-rate, vsize], KVB) + 0

/** The rate of a fee for a size, rounded down. Source: upstream `CFeeRate::GetFeePerK`. */
export const rateOf = ({ fee, vsize }: { readonly fee: number; readonly vsize: number }): number =>
  vsize > 0 ? floorOfProduct([fee, KVB], vsize) : 0

/** Products of doubles that are further apart than this, relative to their sum, certainly differ. */
const PRODUCT_ERROR = 2 ** -52

/**
 * Compares fee rates: negative if `a` pays less. Exact: products above 2^53 are computed as integers if their rounded
 * values are too close.
 */
export const compareRates = (a: FeeRate, b: FeeRate): number => {
  const left = a.fee * b.weight
  const right = b.fee * a.weight
  const difference = left - right
  if (isExact(left) && isExact(right)) return difference
  if (Math.abs(difference) > (Math.abs(left) + Math.abs(right)) * PRODUCT_ERROR) return difference
  const exact = BigInt(a.fee) * BigInt(b.weight) - BigInt(b.fee) * BigInt(a.weight)
  return exact === 0n ? 0 : exact < 0n ? -1 : 1
}

/**
 * The weight for policy: the transaction's own or, if higher, that of its signature operations, so that the fee also
 * pays for a block's limit on them. Source: upstream `policy/policy.cpp`, `GetSigOpsAdjustedWeight`.
 */
export const policyWeight = (
  { weight }: Pick<Transaction, "weight">,
  sigops: { readonly cost: number; readonly weightPerCost?: number }
): number => Math.max(weight, sigops.cost * (sigops.weightPerCost ?? WEIGHT_PER_SIGOP_COST))

export const virtualSize = (weight: number): number => Math.ceil(weight / WITNESS_SCALE_FACTOR)
