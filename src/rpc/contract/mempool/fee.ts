import * as Schema from "effect/Schema"
import { HIGHEST_TARGET } from "../../../mempool/fees/FeeEstimator.ts"
import { MAX_MONEY } from "../../../protocol/amount.ts"
import { hiddenContract, miningContract, utilContract } from "../../method/contract.ts"
import { double, hash, int32, int64, optional, refined, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { RAW_ESTIMATE } from "../../shapes/relay.ts"
import { EXAMPLE_TXID } from "../examples.ts"

const confirmTarget = refined(int32(`Target in blocks, 1 to ${HIGHEST_TARGET}.`), (target) => {
  if (target >= 1 && target <= HIGHEST_TARGET) return target
  return RpcError.invalidParameter(`Invalid conf_target, must be between 1 and ${HIGHEST_TARGET}`)
})

const estimateMode = withDefault(
  refined(
    string("economical follows falling fees at once, conservative only after a while; unset is economical."),
    (text) => {
      const mode = text.toLowerCase()
      if (mode === "conservative") return mode
      if (mode === "economical" || mode === "unset") return "economical"
      return RpcError.invalidParameter(
        "Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\""
      )
    }
  ),
  "economical"
)

export const ESTIMATION_OFF = "Fee estimation disabled"

export const OLD_PRIORITY = "Priority is no longer supported, dummy argument to prioritisetransaction must be 0."

export const PRIORITY_RANGE = "The deltas of a transaction may not come to more than all money"

export const DUSTY_PRIORITY = "Priority is not supported for transactions with dust outputs."

export const ESTIMATESMARTFEE = utilContract({
  name: "estimatesmartfee",
  right: "read",
  summary: "Returns the fee rate for confirmation within a number of blocks, estimated from the transactions that " +
    "this node saw; never less than the minimum of the mempool.",
  params: { conf_target: confirmTarget, estimate_mode: estimateMode },
  results: [{
    schema: Schema.Struct({
      feerate: Schema.optional(Result.amount("Fee rate in NMC per 1000 virtual bytes")),
      errors: Schema.optional(Schema.Array(Result.string("Reason why there is no estimate"))),
      blocks: Result.integer("Target of the estimate: at least 2, limited by the node's data")
    })
  }],
  examples: [[6], [6, "conservative"]],
  errors: [
    `-8 Invalid conf_target, must be between 1 and ${HIGHEST_TARGET}`,
    "-8 Invalid estimate_mode parameter, must be one of: \"unset\", \"economical\", \"conservative\"",
    `-32603 ${ESTIMATION_OFF}`
  ]
})

export const ESTIMATERAWFEE = hiddenContract({
  name: "estimaterawfee",
  right: "read",
  summary: "Returns the estimate of each horizon of the fee estimator for a target, with its data.",
  params: {
    conf_target: confirmTarget,
    threshold: withDefault(
      refined(double("Required share of transactions mined within the target."), (share) => {
        if (share < 0 || share > 1) return RpcError.invalidParameter("Invalid threshold")
        return share
      }),
      0.95
    )
  },
  results: [{
    schema: Schema.Struct({
      short: Schema.optional(RAW_ESTIMATE),
      medium: Schema.optional(RAW_ESTIMATE),
      long: Schema.optional(RAW_ESTIMATE)
    })
  }],
  examples: [[6], [6, 0.9]],
  errors: [
    `-8 Invalid conf_target, must be between 1 and ${HIGHEST_TARGET}`,
    "-8 Invalid threshold",
    `-32603 ${ESTIMATION_OFF}`
  ]
})

export const PRIORITISETRANSACTION = miningContract({
  name: "prioritisetransaction",
  coins: "any",
  writes: true,
  summary: "Changes the fee that a transaction counts with for mining. Several calls add up.",
  params: {
    txid: hash("The transaction, in the mempool or not yet."),
    dummy: optional(double("Must be 0; obsolete.")),
    fee_delta: refined(int64("Change of its fee, in the smallest unit; may be negative."), (delta, label) => {
      return Math.abs(delta) > MAX_MONEY ? RpcError.invalidParameter(`${label} is out of range`) : delta
    })
  },
  results: [{ schema: Result.boolean("true") }],
  examples: [[EXAMPLE_TXID, 0, 10_000]],
  errors: [`-8 ${OLD_PRIORITY}`, `-8 ${DUSTY_PRIORITY}`, "-8 fee_delta is out of range", `-8 ${PRIORITY_RANGE}`]
})

export const GETPRIORITISEDTRANSACTIONS = miningContract({
  name: "getprioritisedtransactions",
  right: "read",
  summary: "Lists the fee changes by prioritisetransaction.",
  params: {},
  results: [{
    schema: Result.map(
      "txid",
      Schema.Struct({
        fee_delta: Result.integer("Change of the fee, in the smallest unit"),
        in_mempool: Result.boolean("Whether the transaction is in the mempool"),
        modified_fee: Schema.optional(Result.integer("Its changed fee, if it is in the mempool"))
      })
    )
  }],
  examples: [[]]
})
