import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { feeOf } from "../../mempool/policy/feeRate.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { eachInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { array, hexText } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { TRIAL, trialJson } from "../shapes/relay.ts"
import { rejectionError, storageError } from "./errors.ts"
import {
  BURN_EXCEEDED,
  checkBurns,
  checkPackageCount,
  decodeOffered,
  FEE_RATE_TOO_HIGH,
  maxBurnAmount,
  maxFeeRateLater,
  NO_INPUTS,
  PACKAGE_COUNT,
  RAW_TRANSACTION,
  readOffered
} from "./offeredTransactions.ts"

/** Methods that offer transactions to the mempool (reference/rpc.md 3.4). */

const FEE_EXCEEDED = "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"
const ALREADY_MINED = "Transaction outputs already in utxo set"

export const offerMethods: Effect.Effect<ReadonlyArray<Method>, never, ChainCoins | Mempool> = Effect.gen(function*() {
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

  const sendrawtransaction = method({
    name: "sendrawtransaction",
    right: "spend",
    writes: true,
    group: "Raw transactions",
    summary: "Adds a transaction to the mempool and announces it until a peer requests it. A transaction that is in " +
      "the mempool already is announced again.",
    params: {
      hexstring: hexText("The transaction."),
      maxfeerate: maxFeeRateLater,
      maxburnamount: maxBurnAmount
    },
    results: [{ schema: Result.hex("Its txid") }],
    examples: [[RAW_TRANSACTION], [RAW_TRANSACTION, 0]],
    errors: [
      `-22 TX decode failed. ${NO_INPUTS}`,
      `-8 ${FEE_RATE_TOO_HIGH}`,
      `-25 ${BURN_EXCEEDED}`,
      `-25 ${FEE_EXCEEDED}`,
      "-25 bad-txns-inputs-missingorspent",
      "-26 <reason of the refusal>",
      `-27 ${ALREADY_MINED}`
    ],
    handler: ({ hexstring, maxburnamount, maxfeerate }) =>
      Effect.gen(function*() {
        const transaction = readOffered(hexstring)
        if (transaction === undefined) return yield* RpcError.deserialization(`TX decode failed. ${NO_INPUTS}`)
        yield* checkBurns(transaction, maxburnamount)
        const rate = yield* maxfeerate
        yield* broadcast(transaction, feeOf(rate, transaction.virtualSize))
        return displayHash(transaction.txid)
      })
  })

  const testmempoolaccept = method({
    name: "testmempoolaccept",
    right: "read",
    group: "Raw transactions",
    summary: "Returns whether the mempool would accept transactions, without adding them. Of several, parents come " +
      "before children, and none may conflict with another or with the mempool. The transactions after the " +
      "first failure have no verdict.",
    params: {
      rawtxs: array(hexText("A transaction."), "The transactions; at most 25."),
      maxfeerate: maxFeeRateLater
    },
    results: [{ schema: Schema.Array(TRIAL) }],
    examples: [[[RAW_TRANSACTION]]],
    errors: [
      `-8 ${PACKAGE_COUNT}`,
      `-8 ${FEE_RATE_TOO_HIGH}`,
      `-22 TX decode failed: <hex> ${NO_INPUTS}`
    ],
    handler: ({ maxfeerate, rawtxs }, { turns }) =>
      Effect.gen(function*() {
        yield* checkPackageCount(rawtxs)
        const rate = yield* maxfeerate
        const transactions = yield* eachInTurns(turns, rawtxs, decodeOffered)
        const trials = yield* Effect.mapError(pool.test(transactions), storageError)
        return trialJson(transactions, trials, rate)
      })
  })

  return [sendrawtransaction, testmempoolaccept]
})
