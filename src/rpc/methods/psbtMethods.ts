import * as Effect from "effect/Effect"
import { secureRandom } from "../../base/entropy.ts"
import { shuffled } from "../../base/random.ts"
import { Chain } from "../../chain/Chain.ts"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { combinePsbtsSteps, joinPsbtsSteps } from "../../protocol/psbt/combine.ts"
import { type Psbt, psbtOf, withTransaction } from "../../protocol/psbt/Psbt.ts"
import { analyzePsbtSteps, type InputAnalysis } from "../../wallet/signing/analyzePsbt.ts"
import { parsePsbtSteps, psbtTextSteps } from "../../wallet/signing/psbtText.ts"
import { extractTransaction, finalizePsbtSteps } from "../../wallet/signing/signPsbt.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import {
  ANALYZEPSBT,
  COMBINEPSBT,
  CONVERTTOPSBT,
  CREATEPSBT,
  DECODEPSBT,
  FINALIZEPSBT,
  JOINPSBTS,
  NAMEPSBT,
  type PSBT_MISSING
} from "../contract/transactions/psbt.ts"
import { Amount, itemsOf } from "../json/encodeJson.ts"
import { eachInTurns, inTurns, readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { decodeAnyTransaction } from "../shapes/decodeTransaction.ts"
import { psbtJson } from "../shapes/psbt.ts"
import type { CallTurns } from "../SlowLane.ts"
import { withNameOperation } from "./nameOperations.ts"
import { constructTransactionSteps } from "./transactionParams.ts"

/** reference/rpc.md 3.4. */

/** Characters: twice a whole block in base64. A PSBT for signing is far shorter. */
const MAX_PSBT = 10_700_000

export const decodePsbtParam = (text: string, turns: CallTurns): Effect.Effect<Psbt, RpcError> => {
  if (text.length > MAX_PSBT) {
    return RpcError.deserialization(`TX decode failed the PSBT is longer than ${MAX_PSBT} characters`)
  }
  return Effect.flatMap(inTurns(turns, parsePsbtSteps(text)), (result) =>
    "error" in result
      ? RpcError.deserialization(`TX decode failed ${result.error}`)
      : Effect.succeed(result.psbt))
}

export const encodedPsbt = (psbt: Psbt, turns: CallTurns): Effect.Effect<string> => inTurns(turns, psbtTextSteps(psbt))

const missingJson = ({ missing }: InputAnalysis): Result.ValueOf<typeof PSBT_MISSING> | undefined => {
  if (missing === undefined) return undefined
  const { pubkeys, redeemScript, signatures, witnessScript } = missing
  const members = {
    pubkeys: pubkeys.length === 0 ? undefined : pubkeys.map(toHex),
    redeemscript: redeemScript === undefined ? undefined : toHex(redeemScript),
    witnessscript: witnessScript === undefined ? undefined : toHex(witnessScript),
    signatures: signatures.length === 0 ? undefined : signatures.map(toHex)
  }
  return Object.values(members).every((member) => member === undefined) ? undefined : members
}

const amountOf = (units: number | undefined): Amount | undefined => units === undefined ? undefined : new Amount(units)

const converttopsbt = method(
  CONVERTTOPSBT,
  ({ hexstring, iswitness, permitsigdata }, { turns }) =>
    Effect.suspend(() => {
      const bytes = fromHex(hexstring)
      const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes, iswitness)
      if (transaction === undefined) return RpcError.deserialization("TX decode failed")
      // Larger amounts are inexact in this program, so the PSBT would be wrong.
      if (!transaction.outputs.every(({ value }) => Number.isSafeInteger(value))) {
        return RpcError.deserialization("TX decode failed")
      }
      const isSigned = transaction.inputs.some(({ scriptSig, witness }) => scriptSig.length > 0 || witness.length > 0)
      if (isSigned && !permitsigdata) {
        return RpcError.deserialization("Inputs must not have scriptSigs and scriptWitnesses")
      }
      return encodedPsbt(psbtOf(transaction), turns)
    })
)

const combinepsbt = method(COMBINEPSBT, ({ txs }, { turns }) =>
  Effect.gen(function*() {
    const [first, ...others] = yield* eachInTurns(turns, txs, (text) => decodePsbtParam(text, turns))
    if (first === undefined) return yield* RpcError.invalidParameter("Parameter 'txs' cannot be empty")
    const combined = yield* inTurns(turns, combinePsbtsSteps(first, others))
    if (combined !== undefined) return yield* encodedPsbt(combined, turns)
    return yield* RpcError.invalidParameter("PSBTs not compatible (different transactions)")
  }))

const joinpsbts = method(JOINPSBTS, ({ txs }, { turns }) =>
  Effect.gen(function*() {
    if (txs.length < 2) {
      return yield* RpcError.invalidParameter("At least two PSBTs are required to join PSBTs.")
    }
    const psbts = yield* eachInTurns(turns, txs, (text) => decodePsbtParam(text, turns))
    const random = secureRandom()
    const joined = yield* inTurns(turns, joinPsbtsSteps(psbts, (items) => shuffled(random, items)))
    if ("error" in joined) return yield* RpcError.invalidParameter(joined.error)
    return yield* encodedPsbt(joined.psbt, turns)
  }))

const finalizepsbt = method(FINALIZEPSBT, ({ extract, psbt }, { turns }) =>
  Effect.gen(function*() {
    const decoded = yield* decodePsbtParam(psbt, turns)
    const { complete, psbt: finished } = yield* inTurns(turns, finalizePsbtSteps(decoded))
    return complete && extract
      ? { hex: toHex(extractTransaction(finished).bytes), complete }
      : { psbt: yield* encodedPsbt(finished, turns), complete }
  }))

const analyzepsbt = method(ANALYZEPSBT, ({ psbt }, { turns }) =>
  Effect.gen(function*() {
    const decoded = yield* decodePsbtParam(psbt, turns)
    const analysis = yield* inTurns(turns, analyzePsbtSteps(decoded))
    const inputs = itemsOf(analysis.inputs, (input) => ({
      has_utxo: input.hasUtxo,
      is_final: input.isFinal,
      next: input.next,
      missing: missingJson(input)
    }))
    return {
      inputs: analysis.inputs.length === 0 ? undefined : inputs,
      estimated_vsize: analysis.estimatedVirtualSize,
      estimated_feerate: amountOf(analysis.estimatedFeeRate),
      fee: amountOf(analysis.fee),
      next: analysis.next,
      error: analysis.error
    }
  }))

export const psbtMethods: Methods<
  Chain | AnswerOptions
> = Effect.gen(function*() {
  const chain = yield* Chain
  const options = yield* AnswerOptions
  const { network } = chain.params
  const context = { network, ...options }

  const createpsbt = method(CREATEPSBT, (request, { turns }) =>
    Effect.flatMap(
      readInTurns(turns, constructTransactionSteps(network, request)),
      (made) => encodedPsbt(psbtOf(made), turns)
    ))

  const decodepsbt = method(
    DECODEPSBT,
    ({ psbt }, { turns }) => Effect.map(decodePsbtParam(psbt, turns), (decoded) => psbtJson(context, decoded))
  )

  const namepsbt = method(NAMEPSBT, ({ nameop, psbt, vout }, { turns }) =>
    Effect.gen(function*() {
      const decoded = yield* decodePsbtParam(psbt, turns)
      const { rand, transaction } = yield* withNameOperation(decoded.transaction, { vout, nameop }, options)
      return { rand, psbt: yield* encodedPsbt(withTransaction(decoded, transaction), turns) }
    }))

  return [
    createpsbt,
    converttopsbt,
    decodepsbt,
    combinepsbt,
    joinpsbts,
    finalizepsbt,
    analyzepsbt,
    namepsbt
  ]
})
