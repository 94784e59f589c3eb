import * as Effect from "effect/Effect"
import { FeeEstimator } from "../../mempool/fees/FeeEstimator.ts"
import type { HorizonName } from "../../mempool/fees/FeeHorizon.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { dustOutputs } from "../../mempool/policy/dust.ts"
import { displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import {
  DUSTY_PRIORITY,
  ESTIMATERAWFEE,
  ESTIMATESMARTFEE,
  ESTIMATION_OFF,
  GETPRIORITISEDTRANSACTIONS,
  OLD_PRIORITY,
  PRIORITISETRANSACTION,
  PRIORITY_RANGE
} from "../contract/mempool/fee.ts"
import { Amount } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { rawEstimateJson } from "../shapes/relay.ts"

/** reference/rpc.md 3.8, 3.10. */

export const feeMethods: Methods<Mempool | FeeEstimator> = Effect.gen(function*() {
  const pool = yield* Mempool
  const estimator = yield* FeeEstimator

  /** With -blocksonly there are no estimates. Upstream `rpc/server_util.cpp`, `EnsureFeeEstimator`. */
  const estimating = <A>(estimate: () => A): Effect.Effect<A, RpcError> =>
    Effect.suspend(() => estimator.isOff ? RpcError.internal(ESTIMATION_OFF) : Effect.succeed(estimate()))

  const estimatesmartfee = method(ESTIMATESMARTFEE, ({ conf_target, estimate_mode }) =>
    estimating(() => {
      const { blocks, feeRate } = estimator.estimateSmart(conf_target, estimate_mode)
      if (feeRate === undefined) return { errors: ["Insufficient data or no feerate found"], blocks }
      const { minFeeRate, minRelayFeeRate } = pool.info()
      return { feerate: new Amount(Math.max(feeRate, minFeeRate, minRelayFeeRate)), blocks }
    }))

  const estimaterawfee = method(ESTIMATERAWFEE, ({ conf_target, threshold }) =>
    estimating(() => {
      const horizon = (name: HorizonName) => {
        const estimate = estimator.estimateRaw(name, { target: conf_target, threshold })
        return estimate === undefined ? undefined : rawEstimateJson(estimate)
      }
      return { short: horizon("short"), medium: horizon("medium"), long: horizon("long") }
    }))

  const prioritisetransaction = method(PRIORITISETRANSACTION, ({ dummy, fee_delta, txid }) =>
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
    }))

  const getprioritisedtransactions = method(
    GETPRIORITISEDTRANSACTIONS,
    () =>
      Effect.sync(() =>
        new Map(Array.from(pool.prioritised(), ([key, delta]) => {
          const entry = pool.get(key)
          const members = { fee_delta: delta, in_mempool: entry !== undefined, modified_fee: entry?.modifiedFee }
          return [displayHash(fromBinaryString(key)), members] as const
        }))
      )
  )

  return [estimatesmartfee, estimaterawfee, prioritisetransaction, getprioritisedtransactions]
})
