import * as Effect from "effect/Effect"
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
import {
  COMBINERAWTRANSACTION,
  CREATERAWTRANSACTION,
  MAKE_SURE,
  NAMERAWTRANSACTION,
  type SIGNED_TRANSACTION,
  SIGNRAWTRANSACTIONWITHKEY
} from "../contract/transactions/rawTransaction.ts"
import { eachInTurns, inTurns, readInTurns, readSteps } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { decodeAnyTransaction, decodeWithInputs } from "../shapes/decodeTransaction.ts"
import { keyMethods, readKey } from "./keyMethods.ts"
import { withNameOperation } from "./nameOperations.ts"
import { readPrevouts } from "./prevouts.ts"
import { findSpentOutputs } from "./spentOutputs.ts"
import { constructTransactionSteps, readHashType } from "./transactionParams.ts"

/** reference/rpc.md 3.4, 3.8. */

export const decodeTransactionParam = (text: string): Effect.Effect<Transaction, RpcError> =>
  Effect.suspend(() => {
    const bytes = fromHex(text)
    const transaction = bytes === undefined ? undefined : decodeWithInputs(bytes)
    return transaction === undefined
      ? RpcError.deserialization(`TX decode failed. ${MAKE_SURE}`)
      : Effect.succeed(transaction)
  })

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

export const rawTransactionMethods: Methods<
  Chain | ChainCoins | Mempool | AnswerOptions
> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const pool = yield* Mempool
  const options = yield* AnswerOptions
  const { network } = chain.params

  const createrawtransaction = method(
    CREATERAWTRANSACTION,
    (request, { turns }) =>
      Effect.map(readInTurns(turns, constructTransactionSteps(network, request)), ({ bytes }) => toHex(bytes))
  )

  const namerawtransaction = method(NAMERAWTRANSACTION, ({ hexstring, nameop, vout }) =>
    Effect.gen(function*() {
      const bytes = fromHex(hexstring)
      const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes)
      if (transaction === undefined) return yield* RpcError.deserialization("TX decode failed")
      const named = yield* withNameOperation(transaction, { vout, nameop }, options)
      return { rand: named.rand, hex: toHex(named.transaction.bytes) }
    }))

  const signrawtransactionwithkey = method(
    SIGNRAWTRANSACTIONWITHKEY,
    ({ hexstring, prevtxs, privkeys, sighashtype }, { turns }) =>
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
  )

  const combinerawtransaction = method(COMBINERAWTRANSACTION, ({ txs }, { turns }) =>
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
    }))

  return [
    createrawtransaction,
    namerawtransaction,
    signrawtransactionwithkey,
    combinerawtransaction,
    ...keyMethods(network)
  ]
})
