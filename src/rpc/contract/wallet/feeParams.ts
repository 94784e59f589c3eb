import { HIGHEST_TARGET } from "../../../mempool/fees/FeeEstimator.ts"
import { readAmount } from "../../json/amounts.ts"
import { custom, double, optional, string } from "../../method/params.ts"

/** Decimals of a rate in the smallest unit per virtual byte: the result is the smallest unit per 1000 of them. */
const RATE_DECIMALS = 3

/** Parameters of methods that pay; also members of options. */
export const CONF_TARGET = optional(
  // Read as a whole number only after the mode: its errors come first.
  double(`Target in blocks, 1 to ${HIGHEST_TARGET}.`),
  "the wallet's setting"
)

export const ESTIMATE_MODE = optional(
  string(
    "economical follows falling fees at once, conservative only after a while; unset uses the wallet's setting."
  ),
  "\"unset\""
)

export const FEE_RATE = optional(
  custom({
    kind: "amount",
    words: "numeric or string",
    description: "Fee rate in the smallest unit per virtual byte, with up to three decimals.",
    read: (value) => readAmount(value, RATE_DECIMALS)
  }),
  "by estimate"
)

export const FEE_ERRORS = [
  `-8 Invalid conf_target, must be between 1 and ${HIGHEST_TARGET}`,
  "-8 Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\"",
  "-8 Cannot specify both conf_target and fee_rate. <...>",
  "-8 Cannot specify both estimate_mode and fee_rate"
]
