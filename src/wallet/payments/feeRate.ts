import * as Either from "effect/Either"
import { COIN } from "../../protocol/amount.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { WalletParts } from "../WalletParts.ts"
import type { FeeChoice } from "./WalletPayments.ts"

/** Fee rates and limits of a wallet, reference/protocol.md 9.4. Rates are in smallest units per kvB. */

/** The lowest fee rate that the wallet pays. */
export const MIN_WALLET_RATE = 100_000

/** Change that is not worth spending at this rate becomes fee. */
export const DISCARD_RATE = 10_000

/** The minimum fee rate increase of a replacement. */
export const REPLACEMENT_RATE = 100_000

/** The fee rate expected in the long term. */
export const LONG_TERM_RATE = 1_000_000

/** The highest fee of a transaction, smallest units. */
export const MAX_FEE = COIN / 10

const DEFAULT_TARGET = 6

/** The fee rate on regtest, where the estimator has no data. */
const FALLBACK_RATE = 100_000

export interface ChosenRate {
  readonly feeRate: number
  /** In the reference node's words. */
  readonly reason: string
}

const shown = (feeRate: number): string => `${(feeRate / 1000).toFixed(3)} sat/vB`

const least = ({ mempool }: Pick<WalletParts, "mempool">): ChosenRate => {
  const { minFeeRate } = mempool.info()
  return minFeeRate > MIN_WALLET_RATE
    ? { feeRate: minFeeRate, reason: "Mempool Min Fee" }
    : { feeRate: MIN_WALLET_RATE, reason: "Minimum Required Fee" }
}

/** The fee rate of a transaction: the requested one, an estimate, or the fallback on regtest. */
export const chooseRate = (
  parts: Pick<WalletParts, "mempool" | "fees" | "chain">,
  { conservative, feeRate, target = DEFAULT_TARGET }: FeeChoice
): Either.Either<ChosenRate, InvalidWalletRequest> => {
  const minimum = least(parts)
  if (feeRate !== undefined) {
    if (feeRate >= minimum.feeRate) return Either.right({ feeRate, reason: "PayTxFee set" })
    const reason = `Fee rate (${shown(feeRate)}) is lower than the minimum fee rate setting (${shown(minimum.feeRate)})`
    return Either.left(new InvalidWalletRequest({ code: "too-small", reason }))
  }
  const estimate = parts.fees.estimateSmart(target, conservative === true ? "conservative" : "economical")
  if (estimate.feeRate !== undefined) {
    return Either.right(
      estimate.feeRate >= minimum.feeRate
        ? { feeRate: Math.ceil(estimate.feeRate), reason: "Target 85% Threshold" }
        : minimum
    )
  }
  // Only regtest has no retargeting.
  if (!parts.chain.params.noRetargeting) {
    const reason = "Fee estimation failed. Fallbackfee is disabled. Wait a few blocks or enable -fallbackfee."
    return Either.left(new InvalidWalletRequest({ code: "no-fee-estimate", reason }))
  }
  return Either.right(
    minimum.feeRate > FALLBACK_RATE ? minimum : { feeRate: FALLBACK_RATE, reason: "Fallback fee" }
  )
}
