import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { rejectionText, type TransactionRejected } from "../../mempool/errors.ts"
import { FeeEstimator, HIGHEST_TARGET } from "../../mempool/fees/FeeEstimator.ts"
import type { HorizonName } from "../../mempool/fees/FeeHorizon.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { dustOutputs } from "../../mempool/policy/dust.ts"
import { feeOf } from "../../mempool/policy/feeRate.ts"
import { MAX_MONEY } from "../../protocol/amount.ts"
import { displayHash, fromBinaryString } from "../../protocol/bytes.ts"
import { nameKey, txidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { Wallets } from "../../wallet/Wallets.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { Amount } from "../json/encodeJson.ts"
import { eachInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import {
  array,
  double,
  hash,
  hexText,
  int32,
  int64,
  notNull,
  object,
  optional,
  orEmpty,
  refined,
  string,
  withDefault
} from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RPC_CODE, RpcError } from "../method/RpcError.ts"
import { IS_MINE, NAME_OUTPUT_MEMBERS, nameOutputJson } from "../shapes/name.ts"
import { RAW_ESTIMATE, rawEstimateJson, TRIAL, trialJson } from "../shapes/relay.ts"
import { storageError } from "./errors.ts"
import { contextFor, decodeGiven, ENCODINGS } from "./nameEncodings.ts"
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
import { ownership } from "./wallet/walletContext.ts"

/** Methods for unconfirmed transactions: sending, fees, pending names (reference/rpc.md 3.4, 3.8, 3.10, 5.5). */

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

const FEE_EXCEEDED = "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"
const ESTIMATION_OFF = "Fee estimation disabled"
const ALREADY_MINED = "Transaction outputs already in utxo set"
const OLD_PRIORITY = "Priority is no longer supported, dummy argument to prioritisetransaction must be 0."
const PRIORITY_RANGE = "The deltas of a transaction may not come to more than all money"
const DUSTY_PRIORITY = "Priority is not supported for transactions with dust outputs."

export const relayMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ChainCoins | Mempool | FeeEstimator | AnswerOptions | Wallets
> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const pool = yield* Mempool
  const estimator = yield* FeeEstimator
  const options = yield* AnswerOptions
  const wallets = yield* Wallets
  const { network } = chain.params

  /** With -blocksonly there are no estimates. Upstream `rpc/server_util.cpp`, `EnsureFeeEstimator`. */
  const estimating = <A>(estimate: () => A): Effect.Effect<A, RpcError> =>
    Effect.suspend(() => estimator.isOff ? RpcError.internal(ESTIMATION_OFF) : Effect.succeed(estimate()))

  /** Upstream `node/transaction.cpp`, `BroadcastTransaction`. */
  const broadcast = (transaction: Transaction, maxFee: number): Effect.Effect<void, RpcError> =>
    Effect.gen(function*() {
      if ((yield* Effect.mapError(chainCoins.coinOf(transaction.txid), storageError)) !== undefined) {
        return yield* new RpcError({ code: RPC_CODE.verifyAlreadyInUtxoSet, message: ALREADY_MINED })
      }
      if (pool.get(transaction.txidKey) !== undefined) return yield* pool.announceAgain(transaction.txidKey)
      if (maxFee > 0) {
        const [trial] = yield* Effect.mapError(pool.test([transaction]), storageError)
        if (trial?.type === "rejected") return yield* refusal(trial.rejected)
        if (trial?.type === "accepted" && trial.entry.fee > maxFee) return yield* RpcError.verifyError(FEE_EXCEEDED)
      }
      yield* pool.accept(transaction).pipe(
        Effect.mapError((error) => error._tag === "TransactionRejected" ? refusal(error) : storageError(error))
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

  const name_pending = method({
    name: "name_pending",
    right: "names",
    group: "Names",
    heavy: true,
    summary: "Lists the unconfirmed name operations, several on one name in their order. A name_new is not included: " +
      "it does not reveal its name.",
    params: {
      name: optional(string("Only this name."), "all names"),
      options: orEmpty(notNull(object(ENCODINGS, "Options.")))
    },
    results: [{
      schema: Schema.Array(Schema.Struct({
        ...NAME_OUTPUT_MEMBERS,
        ismine: IS_MINE,
        op: Result.string("name_firstupdate or name_update")
      }))
    }],
    examples: [[], ["d/example"]],
    errors: ["-1000 Name/value is invalid for encoding ascii"],
    handler: ({ name, options: given }, call) =>
      Effect.gen(function*() {
        const context = contextFor(network, options, given)
        const owns = ownership(wallets, call)
        const meant = name === undefined ? undefined : nameKey(yield* decodeGiven(name, context.nameEncoding))
        return pool.pending(meant).flatMap(({ name: output, transaction: { txid } }) => {
          const operation = output?.script.operation
          if (output === undefined || operation === undefined || operation.op === "name_new") return []
          const { name, op, value } = operation
          const { script: { address }, vout } = output
          const shown = nameOutputJson(context, { name, value, txid, vout, address })
          return [{ ...shown, ismine: owns?.(address), op }]
        })
      })
  })

  return [
    sendrawtransaction,
    testmempoolaccept,
    estimatesmartfee,
    estimaterawfee,
    prioritisetransaction,
    getprioritisedtransactions,
    name_pending
  ]
})

/** Missing inputs have their own code: they may arrive later. */
const refusal = (rejected: TransactionRejected): RpcError =>
  rejected.kind === "missing-inputs"
    ? RpcError.verifyError(rejectionText(rejected))
    : RpcError.verifyRejected(rejectionText(rejected))
