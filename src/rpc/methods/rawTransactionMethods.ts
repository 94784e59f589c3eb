import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { formatAmount, MAX_MONEY } from "../../protocol/amount.ts"
import { EMPTY, fromHex, toHex } from "../../protocol/bytes.ts"
import { outpointKey, type Transaction } from "../../protocol/transaction.ts"
import type { SpentOutput } from "../../wallet/signing/SigningContext.ts"
import { makeProviderSteps } from "../../wallet/signing/SigningProvider.ts"
import {
  combineSignaturesSteps,
  MISSING_AMOUNT,
  type SignedTransaction,
  signTransactionSteps
} from "../../wallet/signing/signTransaction.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { eachInTurns, inTurns, readInTurns, readSteps } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { array, hexText, int32, string } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { decodeAnyTransaction, decodeWithInputs } from "../shapes/decodeTransaction.ts"
import { keyMethods, readKey } from "./keyMethods.ts"
import { NAMEOP_PARAM, withNameOperation } from "./nameOperations.ts"
import { PREVTXS_PARAM, readPrevouts } from "./prevouts.ts"
import { findSpentOutputs } from "./spentOutputs.ts"
import { constructTransactionSteps, readHashType, SIGHASH_PARAM, TRANSACTION_PARAMS } from "./transactionParams.ts"

/**
 * Methods that make, sign and combine raw transactions without a wallet, and methods for keys (reference/rpc.md 3.4,
 * 3.8).
 */

const TRANSACTION = "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

const MAKE_SURE = "Make sure the tx has at least one input."

export const SIGNED_TRANSACTION = Schema.Struct({
  hex: Result.hex("The transaction with its signatures"),
  complete: Result.boolean("Whether every input is completely signed"),
  errors: Schema.optional(
    Schema.Array(
      Schema.Struct({
        txid: Result.hex("The transaction of the spent output"),
        vout: Result.integer("Index of the output"),
        witness: Schema.Array(Result.hex("An element")),
        scriptSig: Result.hex("The scriptSig"),
        sequence: Result.integer("Sequence number"),
        error: Result.string("The error")
      })
    ).annotations({ description: "Inputs that are not or not completely signed" })
  )
})

export const decodeTransactionParam = (text: string): Effect.Effect<Transaction, RpcError> =>
  Effect.suspend(() => {
    const bytes = fromHex(text)
    const transaction = bytes === undefined ? undefined : decodeWithInputs(bytes)
    return transaction === undefined
      ? RpcError.deserialization(`TX decode failed. ${MAKE_SURE}`)
      : Effect.succeed(transaction)
  })

/** The answer of a method that signed a transaction with these spent outputs. */
export const signedJson = (
  { complete, errors, transaction }: SignedTransaction,
  coins: ReadonlyArray<SpentOutput | undefined>
): Effect.Effect<Result.ValueOf<typeof SIGNED_TRANSACTION>, RpcError> => {
  const blind = errors.find(({ error }) => error === MISSING_AMOUNT)
  if (blind !== undefined) {
    const script = toHex(coins[blind.index]?.script ?? EMPTY).slice(0, 30)
    const output = `CTxOut(nValue=${formatAmount(MAX_MONEY)}, scriptPubKey=${script})`
    return RpcError.type(`Missing amount for ${output}`)
  }
  return Effect.succeed({
    hex: toHex(transaction.bytes),
    complete,
    errors: errors.length === 0 ? undefined : errors.map(({ error, scriptSig, sequence, txid, vout, witness }) => ({
      txid,
      vout,
      witness: witness.map(toHex),
      scriptSig: toHex(scriptSig),
      sequence,
      error
    }))
  })
}

export const rawTransactionMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ChainCoins | Mempool | AnswerOptions
> = Effect
  .gen(function*() {
    const chain = yield* Chain
    const chainCoins = yield* ChainCoins
    const pool = yield* Mempool
    const options = yield* AnswerOptions
    const { network } = chain.params

    const createrawtransaction = method({
      name: "createrawtransaction",
      right: "read",
      group: "Raw transactions",
      summary: "Makes a transaction from inputs and outputs. The node does not sign, store or send it.",
      params: TRANSACTION_PARAMS,
      results: [{ schema: Result.hex("The transaction") }],
      examples: [[[{ txid: "11".repeat(32), vout: 0 }], [{ [ADDRESS]: 0.01 }, { data: "c0ffee" }]]],
      errors: [
        "-8 Invalid parameter, missing vout key",
        "-8 Invalid parameter, vout cannot be negative",
        "-8 Invalid parameter, sequence number is out of range",
        "-8 Invalid parameter, locktime out of range",
        "-8 Invalid parameter, version out of range(1~3)",
        "-5 Invalid address: <x>",
        "-8 Invalid parameter, duplicated address: <x>",
        "-8 Invalid parameter, duplicate key: data",
        "-8 Invalid parameter combination: Sequence number(s) contradict replaceable option"
      ],
      handler: (request, { turns }) =>
        Effect.map(readInTurns(turns, constructTransactionSteps(network, request)), ({ bytes }) => toHex(bytes))
    })

    const namerawtransaction = method({
      name: "namerawtransaction",
      right: "read",
      group: "Raw transactions",
      summary: "Adds a name operation to an output of a transaction.",
      params: {
        hexstring: hexText("The transaction."),
        vout: int32("Index of the output."),
        nameop: NAMEOP_PARAM
      },
      results: [{
        schema: Schema.Struct({
          rand: Schema.optional(Result.hex("The salt of a name_new; the owner needs it for name_firstupdate")),
          hex: Result.hex("The transaction")
        })
      }],
      examples: [[TRANSACTION, 0, { op: "name_update", name: "d/example", value: "{}" }]],
      errors: [
        "-22 TX decode failed",
        "-8 vout is out of range",
        "-8 Invalid name operation",
        "-22 rand must be hex",
        "-1000 Name/value is invalid for encoding <encoding>"
      ],
      handler: ({ hexstring, nameop, vout }) =>
        Effect.gen(function*() {
          const bytes = fromHex(hexstring)
          const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes)
          if (transaction === undefined) return yield* RpcError.deserialization("TX decode failed")
          const named = yield* withNameOperation(transaction, { vout, nameop }, options)
          return { rand: named.rand, hex: toHex(named.transaction.bytes) }
        })
    })

    const signrawtransactionwithkey = method({
      name: "signrawtransactionwithkey",
      right: "spend",
      group: "Raw transactions",
      summary: "Signs the inputs of a transaction with the given keys only.",
      params: {
        hexstring: hexText("The transaction."),
        privkeys: array(string("A private key as WIF."), "The keys."),
        prevtxs: PREVTXS_PARAM,
        sighashtype: SIGHASH_PARAM
      },
      results: [{ schema: SIGNED_TRANSACTION }],
      examples: [[TRANSACTION, []]],
      errors: [
        `-22 TX decode failed. ${MAKE_SURE}`,
        "-5 Invalid private key",
        "-8 '<x>' is not a valid sighash parameter."
      ],
      handler: ({ hexstring, prevtxs, privkeys, sighashtype }, { turns }) =>
        Effect.gen(function*() {
          const transaction = yield* decodeTransactionParam(hexstring)
          const keys = yield* readInTurns(turns, readSteps(privkeys, (text) => readKey(network, text)))
          const known = yield* findSpentOutputs({ chainCoins, pool }, transaction, turns)
          const given = yield* readInTurns(turns, readPrevouts(prevtxs ?? [], (key) => known.get(key)))
          const hashType = yield* readHashType(sighashtype)
          const coins = transaction.inputs.map(({ prevout }): SpentOutput | undefined => {
            const key = outpointKey(prevout)
            return given.outputs.get(key) ?? known.get(key)
          })
          const provider = yield* inTurns(turns, makeProviderSteps({ keys, scripts: given.scripts }))
          const signed = yield* inTurns(turns, signTransactionSteps(transaction, coins, { provider, hashType }))
          return yield* signedJson(signed, coins)
        })
    })

    const combinerawtransaction = method({
      name: "combinerawtransaction",
      right: "read",
      group: "Raw transactions",
      summary: "Combines the signatures of several copies of a transaction.",
      params: { txs: array(hexText("A transaction."), "The copies.") },
      results: [{ schema: Result.hex("The transaction") }],
      examples: [[[TRANSACTION]]],
      errors: [
        `-22 TX decode failed for tx <n>. ${MAKE_SURE}`,
        "-22 Missing transactions",
        "-25 Input not found or already spent"
      ],
      handler: ({ txs }, { turns }) =>
        Effect.gen(function*() {
          const [first, ...others] = yield* eachInTurns(turns, txs, (text, at) => {
            const bytes = fromHex(text)
            const transaction = bytes === undefined ? undefined : decodeWithInputs(bytes)
            return transaction === undefined
              ? RpcError.deserialization(`TX decode failed for tx ${at}. ${MAKE_SURE}`)
              : Effect.succeed(transaction)
          })
          if (first === undefined) return yield* RpcError.deserialization("Missing transactions")
          const known = yield* findSpentOutputs({ chainCoins, pool }, first, turns)
          const coins = first.inputs.flatMap(({ prevout }) => known.get(outpointKey(prevout)) ?? [])
          if (coins.length < first.inputs.length) {
            return yield* RpcError.verifyError("Input not found or already spent")
          }
          return toHex((yield* inTurns(turns, combineSignaturesSteps(first, others, coins))).bytes)
        })
    })

    return [
      createrawtransaction,
      namerawtransaction,
      signrawtransactionwithkey,
      combinerawtransaction,
      ...keyMethods(network)
    ]
  })
