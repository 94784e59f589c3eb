import * as Effect from "effect/Effect"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { feeOf } from "../../mempool/policy/feeRate.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { extractTransaction, finalizePsbtSteps } from "../../wallet/signing/signPsbt.ts"
import {
  ALREADY_MINED,
  FEE_EXCEEDED,
  NO_INPUTS,
  PSBT_INCOMPLETE,
  SENDPSBT,
  SENDRAWTRANSACTION,
  TESTMEMPOOLACCEPT
} from "../contract/mempool/offer.ts"
import { eachInTurns, inTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { trialJson } from "../shapes/relay.ts"
import { rejectionError, storageError } from "./errors.ts"
import { checkBurns, checkPackageCount, decodeOffered, readOffered } from "./packageMethods.ts"
import { decodePsbtParam } from "./psbtMethods.ts"

/** reference/rpc.md 3.4. */

export const offerMethods: Methods<ChainCoins | Mempool> = Effect.gen(function*() {
  const chainCoins = yield* ChainCoins
  const pool = yield* Mempool

  /** Upstream `node/transaction.cpp`, `BroadcastTransaction`. */
  const broadcast = (transaction: Transaction, maxFee: number): Effect.Effect<void, RpcError> =>
    Effect.gen(function*() {
      if ((yield* Effect.mapError(chainCoins.coinOf(transaction.txid), storageError)) !== undefined) {
        return yield* new RpcError({ code: RPC_CODE.verifyAlreadyInUtxoSet, message: ALREADY_MINED })
      }
      if (pool.get(transaction.txidKey) !== undefined) return yield* pool.announceAgain(transaction.txidKey)
      if (maxFee > 0) {
        const [trial] = yield* Effect.mapError(pool.test([transaction]), storageError)
        if (trial?.type === "rejected") return yield* rejectionError(trial.rejected)
        if (trial?.type === "accepted" && trial.entry.fee > maxFee) {
          return yield* RpcError.verifyError(FEE_EXCEEDED, "fee-too-high")
        }
      }
      yield* pool.accept(transaction).pipe(
        Effect.mapError((error) => error._tag === "TransactionRejected" ? rejectionError(error) : storageError(error))
      )
      pool.broadcastLater(transaction.txidKey)
    })

  const sendrawtransaction = method(
    SENDRAWTRANSACTION,
    ({ hexstring, maxburnamount, maxfeerate }) =>
      Effect.gen(function*() {
        const transaction = readOffered(hexstring)
        if (transaction === undefined) return yield* RpcError.deserialization(`TX decode failed. ${NO_INPUTS}`)
        yield* checkBurns(transaction, maxburnamount)
        const rate = yield* maxfeerate
        yield* broadcast(transaction, feeOf(rate, transaction.virtualSize))
        return displayHash(transaction.txid)
      })
  )

  const sendpsbt = method(SENDPSBT, ({ maxfeerate, psbt: text }, { turns }) =>
    Effect.gen(function*() {
      const given = yield* decodePsbtParam(text, turns)
      const { complete, psbt, statuses } = yield* inTurns(turns, finalizePsbtSteps(given))
      if (!complete) {
        const input = statuses.findIndex((status) => status !== "complete")
        return yield* RpcError.verifyError(`${PSBT_INCOMPLETE}: input ${input} is not complete`)
      }
      const transaction = extractTransaction(psbt)
      yield* checkBurns(transaction, 0)
      const rate = yield* maxfeerate
      yield* broadcast(transaction, feeOf(rate, transaction.virtualSize))
      return displayHash(transaction.txid)
    }))

  const testmempoolaccept = method(TESTMEMPOOLACCEPT, ({ maxfeerate, rawtxs }, { turns }) =>
    Effect.gen(function*() {
      yield* checkPackageCount(rawtxs)
      const rate = yield* maxfeerate
      const transactions = yield* eachInTurns(turns, rawtxs, decodeOffered)
      const trials = yield* Effect.mapError(pool.test(transactions), storageError)
      return trialJson(transactions, trials, rate)
    }))

  return [sendrawtransaction, sendpsbt, testmempoolaccept]
})
