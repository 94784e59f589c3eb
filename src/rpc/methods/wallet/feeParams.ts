import * as Either from "effect/Either"
import { HIGHEST_TARGET } from "../../../mempool/fees/FeeEstimator.ts"
import type { FeeChoice } from "../../../wallet/payments/WalletPayments.ts"
import { type Read, RpcError } from "../../method/RpcError.ts"

/** Upstream `wallet/rpc/spend.cpp`, `SetFeeEstimateMode` (reference/rpc.md 3.9). */

export interface GivenFees {
  readonly conf_target: number | undefined
  readonly estimate_mode: string | undefined
  /** Smallest units per kvB. */
  readonly fee_rate: number | undefined
}

const CHOOSE_ONE =
  "Please provide either a confirmation target in blocks for automatic fee estimation, or an explicit " +
  "fee rate."

const refused = (message: string): Read<never> => Either.left(RpcError.invalidParameter(message))

const readMode = (mode: string | undefined): Read<Pick<FeeChoice, "conservative">> => {
  switch (mode?.toLowerCase()) {
    case undefined:
    case "unset":
      return Either.right({})
    case "economical":
      return Either.right({ conservative: false })
    case "conservative":
      return Either.right({ conservative: true })
    default:
      return refused("Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\"")
  }
}

const readTarget = (target: number | undefined): Read<Pick<FeeChoice, "target">> => {
  if (target === undefined) return Either.right({})
  if (!Number.isInteger(target)) return Either.left(RpcError.integerOutOfRange())
  return target >= 1 && target <= HIGHEST_TARGET
    ? Either.right({ target })
    : refused(`Invalid conf_target, must be between 1 and ${HIGHEST_TARGET}`)
}

export const readFeeChoice = ({ conf_target, estimate_mode, fee_rate }: GivenFees): Read<FeeChoice> => {
  if (fee_rate === undefined) {
    return Either.flatMap(
      readMode(estimate_mode),
      (mode) => Either.map(readTarget(conf_target), (target) => ({ ...mode, ...target }))
    )
  }
  if (conf_target !== undefined) return refused(`Cannot specify both conf_target and fee_rate. ${CHOOSE_ONE}`)
  if (estimate_mode !== undefined && estimate_mode !== "unset") {
    return refused("Cannot specify both estimate_mode and fee_rate")
  }
  return Either.right({ feeRate: fee_rate })
}

/** Accepts the older option `feeRate`, too, in smallest units per kvB. */
export const readFeeChoiceOrOld = (
  given: GivenFees & { readonly feeRate: number | undefined }
): Read<FeeChoice> => {
  const { conf_target, estimate_mode, fee_rate, feeRate } = given
  if (feeRate === undefined) return readFeeChoice(given)
  if (fee_rate !== undefined) return refused("Cannot specify both fee_rate (sat/vB) and feeRate (NMC/kvB)")
  if (conf_target !== undefined) return refused(`Cannot specify both conf_target and feeRate. ${CHOOSE_ONE}`)
  if (estimate_mode !== undefined) return refused("Cannot specify both estimate_mode and feeRate")
  return Either.right({ feeRate })
}

/** Fees may be parameters or options, not both. Upstream `InterpretFeeEstimationInstructions`. */
export const joinFees = (beside: GivenFees, within: GivenFees): Read<GivenFees> => {
  const isWithin = within.conf_target !== undefined || within.estimate_mode !== undefined
  if (isWithin && (beside.conf_target !== undefined || beside.estimate_mode !== undefined)) {
    return refused("Pass conf_target and estimate_mode either as arguments or in the options object, but not both")
  }
  if (within.fee_rate !== undefined && beside.fee_rate !== undefined) {
    return refused("Pass the fee_rate either as an argument, or in the options object, but not both")
  }
  const { conf_target, estimate_mode } = isWithin ? within : beside
  if (conf_target !== undefined && (estimate_mode === undefined || estimate_mode === "unset")) {
    return refused("Specify estimate_mode")
  }
  return Either.right({ conf_target, estimate_mode, fee_rate: within.fee_rate ?? beside.fee_rate })
}
