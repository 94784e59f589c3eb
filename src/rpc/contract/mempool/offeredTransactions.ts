import * as Either from "effect/Either"
import { MAX_PACKAGE_COUNT } from "../../../mempool/policy/limits.ts"
import { COIN } from "../../../protocol/amount.ts"
import { amount, custom, decodedValue, refined, withDefault } from "../../method/params.ts"
import { RpcError } from "../../method/RpcError.ts"

/** A transaction for examples. */
export const RAW_TRANSACTION =
  "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

export const FEE_RATE_TOO_HIGH = "Fee rates larger than or equal to 1BTC/kvB are not accepted"

export const BURN_EXCEEDED = "Unspendable output exceeds maximum configured by user (maxburnamount)"

export const NO_INPUTS = "Make sure the tx has at least one input."

export const PACKAGE_COUNT = `Array must contain between 1 and ${MAX_PACKAGE_COUNT} transactions.`

/** Default maximum fee for 1000 virtual bytes: 0.10 NMC. */
const DEFAULT_MAX_FEE_RATE = COIN / 10

/** A limit on fees. A rate of 1 NMC or more is refused as a likely mistake. Upstream `rpc/util.cpp`, `ParseFeeRate`. */
const maxFeeRate = withDefault(
  refined(amount("The maximum fee rate, in NMC per 1000 virtual bytes; 0 for no limit."), (rate) => {
    if (rate < COIN) return rate
    return RpcError.invalidParameter(FEE_RATE_TOO_HIGH)
  }),
  DEFAULT_MAX_FEE_RATE,
  "0.10"
)

/** The same, decoded later: errors of the transactions have precedence. */
export const maxFeeRateLater = withDefault(
  custom({
    kind: maxFeeRate.kind,
    words: maxFeeRate.words,
    description: maxFeeRate.description,
    read: (value, label) => decodedValue(maxFeeRate, value, label)
  }),
  Either.right(DEFAULT_MAX_FEE_RATE),
  "0.10"
)

export const maxBurnAmount = withDefault(amount("Maximum amount in NMC of an unspendable output."), 0, "0.00")
