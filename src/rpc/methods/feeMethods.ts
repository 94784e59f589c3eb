import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FeeEstimator, HIGHEST_TARGET } from "../../mempool/fees/FeeEstimator.ts"
import type { HorizonName } from "../../mempool/fees/FeeHorizon.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { dustOutputs } from "../../mempool/policy/dust.ts"
import { MAX_MONEY } from "../../protocol/amount.ts"
import { displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { double, hash, int32, int64, optional, refined, string, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { RAW_ESTIMATE, rawEstimateJson } from "../shapes/relay.ts"

/** Methods for fees: estimates, and priorities of the mempool (reference/rpc.md 3.8, 3.10). */

const TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

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

const ESTIMATION_OFF = "Fee estimation disabled"
const OLD_PRIORITY = "Priority is no longer supported, dummy argument to prioritisetransaction must be 0."
const PRIORITY_RANGE = "The deltas of a transaction may not come to more than all money"
const DUSTY_PRIORITY = "Priority is not supported for transactions with dust outputs."

export const feeMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool | FeeEstimator> = Effect.gen(function*() {
  const pool = yield* Mempool
  const estimator = yield* FeeEstimator

  /** With -blocksonly there are no estimates. Upstream `rpc/server_util.cpp`, `EnsureFeeEstimator`. */
  const estimating = <A>(estimate: () => A): Effect.Effect<A, RpcError> =>
    Effect.suspend(() => estimator.isOff ? RpcError.internal(ESTIMATION_OFF) : Effect.succeed(estimate()))

  const estimatesmartfee = method({
    name: "estimatesmartfee",
    right: "read",
    group: "Util",
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
    ],
    handler: ({ conf_target, estimate_mode }) =>
      estimating(() => {
        const { blocks, feeRate } = estimator.estimateSmart(conf_target, estimate_mode)
        if (feeRate === undefined) return { errors: ["Insufficient data or no feerate found"], blocks }
        const { minFeeRate, minRelayFeeRate } = pool.info()
        return { feerate: new Amount(Math.max(feeRate, minFeeRate, minRelayFeeRate)), blocks }
      })
  })

  const estimaterawfee = method({
    name: "estimaterawfee",
    right: "read",
    group: "Hidden",
    summary: "Returns the estimate of each horizon of the fee estimator for a target, with its data.",
    params: {
      conf_target: confirmTarget,
      threshold: withDefault(
        refined(double("Share of transactions that must be mined within the target."), (share) => {
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
    ],
    handler: ({ conf_target, threshold }) =>
      estimating(() => {
        const horizon = (name: HorizonName) => {
          const estimate = estimator.estimateRaw(name, { target: conf_target, threshold })
          return estimate === undefined ? undefined : rawEstimateJson(estimate)
        }
        return { short: horizon("short"), medium: horizon("medium"), long: horizon("long") }
      })
  })

  const prioritisetransaction = method({
    name: "prioritisetransaction",
    writes: true,
    group: "Mining",
    summary: "Changes the fee with which a transaction counts for mining. Several calls add up.",
    params: {
      txid: hash("The transaction, in the mempool or not yet."),
      dummy: optional(double("Must be 0; obsolete.")),
      fee_delta: refined(int64("Change of its fee, in the smallest unit; may be negative."), (delta, label) => {
        return Math.abs(delta) > MAX_MONEY ? RpcError.invalidParameter(`${label} is out of range`) : delta
      })
    },
    results: [{ schema: Result.boolean("true") }],
    examples: [[TXID, 0, 10_000]],
    errors: [`-8 ${OLD_PRIORITY}`, `-8 ${DUSTY_PRIORITY}`, "-8 fee_delta is out of range", `-8 ${PRIORITY_RANGE}`],
    handler: ({ dummy, fee_delta, txid }) =>
      Effect.suspend(() => {
        if (dummy !== undefined && dummy !== 0) return RpcError.invalidParameter(OLD_PRIORITY)
        const key = txidKey(txid)
        const entry = pool.get(key)
        if (entry !== undefined && dustOutputs(entry.transaction).length > 0) {
          return RpcError.invalidParameter(DUSTY_PRIORITY)
        }
        return Effect.filterOrFail(
          pool.prioritise(key, fee_delta),
          (taken) => taken,
          () => RpcError.invalidParameter(PRIORITY_RANGE)
        )
      })
  })

  const getprioritisedtransactions = method({
    name: "getprioritisedtransactions",
    right: "read",
    group: "Mining",
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
    examples: [[]],
    handler: () =>
      Effect.sync(() =>
        new Map(Array.from(pool.prioritised(), ([key, delta]) => {
          const entry = pool.get(key)
          const members = { fee_delta: delta, in_mempool: entry !== undefined, modified_fee: entry?.modifiedFee }
          return [displayHash(fromBinaryString(key)), members] as const
        }))
      )
  })

  return [estimatesmartfee, estimaterawfee, prioritisetransaction, getprioritisedtransactions]
})
