import * as Either from "effect/Either"
import { InvalidWalletRequest } from "../errors.ts"
import type { WalletParts } from "../WalletParts.ts"
import type { ChosenRate, FeeChoice, PaymentRequest } from "./WalletPayments.ts"

/** reference/protocol.md 9.4; upstream `wallet/fees.cpp`. Rates are in smallest units per kvB. */

/** Minimum increase of a replacement. */
export const REPLACEMENT_RATE = 100_000

/** The estimator has no data on regtest. */
const REGTEST_FALLBACK_RATE = 100_000

const shown = (feeRate: number): string => `${(feeRate / 1000).toFixed(3)} sat/vB`

type Parts = Pick<WalletParts, "mempool" | "fees" | "chain" | "rules">

export const requiredRate = ({ mempool, rules }: Pick<Parts, "mempool" | "rules">): number =>
  Math.max(rules.minTxFee, mempool.info().minRelayFeeRate)

const atLeast = (chosen: ChosenRate, feeRate: number, reason: string): ChosenRate =>
  chosen.feeRate < feeRate ? { feeRate, reason } : chosen

const fallbackRate = ({ chain, rules }: Parts): number =>
  // Only regtest has no retargeting.
  rules.fallbackFee ?? (chain.params.noRetargeting ? REGTEST_FALLBACK_RATE : 0)

/** The requested one, an estimate, or the fallback. */
export const chooseRate = (
  parts: Parts,
  choice: FeeChoice & Pick<PaymentRequest, "replaceable">
): Either.Either<ChosenRate, InvalidWalletRequest> => {
  const { rules } = parts
  const { anyRate = false, feeRate, replaceable = rules.walletRbf, target = rules.txConfirmTarget } = choice
  const required = requiredRate(parts)
  if (feeRate !== undefined) {
    if (anyRate || feeRate >= required) return Either.right({ feeRate, reason: "PayTxFee set" })
    const reason = `Fee rate (${shown(feeRate)}) is lower than the minimum fee rate setting (${shown(required)})`
    return Either.left(new InvalidWalletRequest({ code: "low-fee-rate", reason }))
  }
  const conservative = choice.conservative ?? !replaceable
  const estimate = parts.fees.estimateSmart(target, conservative ? "conservative" : "economical")
  const chosen: ChosenRate = estimate.feeRate === undefined
    ? { feeRate: fallbackRate(parts), reason: "Fallback fee" }
    : { feeRate: Math.ceil(estimate.feeRate), reason: "Target 85% Threshold" }
  if (chosen.feeRate === 0) {
    const reason = "Fee estimation failed. Fallbackfee is disabled. Wait a few blocks or enable -fallbackfee."
    return Either.left(new InvalidWalletRequest({ code: "no-fee-estimate", reason }))
  }
  const relayed = atLeast(chosen, parts.mempool.info().minFeeRate, "Mempool Min Fee")
  return Either.right(atLeast(relayed, required, "Minimum Required Fee"))
}
