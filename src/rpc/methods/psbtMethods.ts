import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { secureRandom, shuffled } from "../../base/random.ts"
import { Chain } from "../../chain/Chain.ts"
import { fromHex, toHex } from "../../protocol/bytes.ts"
import { combinePsbtsSteps, joinPsbtsSteps } from "../../protocol/psbt/combine.ts"
import { type Psbt, psbtOf, withTransaction } from "../../protocol/psbt/Psbt.ts"
import { analyzePsbtSteps, type InputAnalysis } from "../../wallet/signing/analyzePsbt.ts"
import { parsePsbtSteps, psbtTextSteps } from "../../wallet/signing/psbtText.ts"
import { extractTransaction, finalizePsbtSteps } from "../../wallet/signing/signPsbt.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { Amount, itemsOf } from "../json/encodeJson.ts"
import { eachInTurns, inTurns, readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { array, boolean, hexText, int32, optional, string, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { decodeAnyTransaction } from "../shapes/decodeTransaction.ts"
import { DECODED_PSBT, psbtJson } from "../shapes/psbt.ts"
import type { CallTurns } from "../SlowLane.ts"
import { NAMEOP_PARAM, withNameOperation } from "./nameOperations.ts"
import { constructTransactionSteps, TRANSACTION_PARAMS } from "./transactionParams.ts"

/** Methods for partially signed transactions (PSBT) that need no wallet (reference/rpc.md 3.4). */

export const PSBT_EXAMPLE = "cHNidP8BACwBAAAAAAFAQg8AAAAAABl2qRTV49HhSaxO2DBhB3+qbY2SFSk4wIisAAAAAAAA"

const TRANSACTION = "01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"

export const PSBT = string("The PSBT in base64.")

/** Parameters of the methods that sign a PSBT. */
export const PSBT_SIGNING = {
  bip32derivs: withDefault(boolean("Whether to include derivation paths."), true),
  finalize: withDefault(boolean("Whether to finalize the inputs that are complete."), true)
}

export const SIGNED_PSBT = Schema.Struct({
  psbt: Result.string("The PSBT in base64"),
  complete: Result.boolean("Whether every input is final"),
  hex: Schema.optional(Result.hex("The transaction, if complete"))
})

/** Maximum characters of a PSBT: twice a whole block, in base64. A PSBT for signing is far shorter. */
const MAX_PSBT = 10_700_000

export const DECODE_FAILED = "-22 TX decode failed <why>"

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

const ROLE = "Role that acts next: updater, signer, finalizer or extractor"

const MISSING = Schema.Struct({
  pubkeys: Schema.optional(Schema.Array(Result.hex("HASH160 of an unknown public key"))),
  redeemscript: Schema.optional(Result.hex("HASH160 of the redeem script")),
  witnessscript: Schema.optional(Result.hex("SHA-256 of the witness script")),
  signatures: Schema.optional(Schema.Array(Result.hex("HASH160 of the public key of a signature")))
}).annotations({ description: "Missing data" })

const ANALYZED_PSBT = Schema.Struct({
  inputs: Schema.optional(Schema.Array(Schema.Struct({
    has_utxo: Result.boolean("Whether the spent output is known"),
    is_final: Result.boolean("Whether the input is final"),
    next: Result.string(ROLE),
    missing: Schema.optional(MISSING)
  }))),
  estimated_vsize: Schema.optional(Result.integer("Virtual bytes of the signed transaction")),
  estimated_feerate: Schema.optional(Result.amount("Fee per 1000 virtual bytes")),
  fee: Schema.optional(Result.amount("The fee")),
  next: Result.string(ROLE),
  error: Schema.optional(Result.string("Reason why it is invalid"))
})

const missingJson = ({ missing }: InputAnalysis): Result.ValueOf<typeof MISSING> | undefined => {
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

const converttopsbt = method({
  name: "converttopsbt",
  right: "read",
  group: "Raw transactions",
  heavy: true,
  summary: "Converts a transaction to a PSBT.",
  params: {
    hexstring: hexText("The transaction."),
    permitsigdata: withDefault(boolean("Whether to drop signatures instead of refusing them."), false),
    iswitness: optional(boolean("Whether the transaction is in witness format."), "tries both")
  },
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[TRANSACTION]],
  errors: ["-22 TX decode failed", "-22 Inputs must not have scriptSigs and scriptWitnesses"],
  handler: ({ hexstring, iswitness, permitsigdata }, { turns }) =>
    Effect.suspend(() => {
      const bytes = fromHex(hexstring)
      const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes, iswitness)
      if (transaction === undefined) return RpcError.deserialization("TX decode failed")
      // Larger amounts are not exact in this program, and the PSBT would have another one.
      if (!transaction.outputs.every(({ value }) => Number.isSafeInteger(value))) {
        return RpcError.deserialization("TX decode failed")
      }
      const isSigned = transaction.inputs.some(({ scriptSig, witness }) => scriptSig.length > 0 || witness.length > 0)
      if (isSigned && !permitsigdata) {
        return RpcError.deserialization("Inputs must not have scriptSigs and scriptWitnesses")
      }
      return encodedPsbt(psbtOf(transaction), turns)
    })
})

const combinepsbt = method({
  name: "combinepsbt",
  right: "read",
  group: "Raw transactions",
  heavy: true,
  summary: "Combines several PSBTs of one transaction.",
  params: { txs: array(PSBT, "The PSBTs.") },
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[[PSBT_EXAMPLE, PSBT_EXAMPLE]]],
  errors: [
    "-8 Parameter 'txs' cannot be empty",
    DECODE_FAILED,
    "-8 PSBTs not compatible (different transactions)"
  ],
  handler: ({ txs }, { turns }) =>
    Effect.gen(function*() {
      const [first, ...others] = yield* eachInTurns(turns, txs, (text) => decodePsbtParam(text, turns))
      if (first === undefined) return yield* RpcError.invalidParameter("Parameter 'txs' cannot be empty")
      const combined = yield* inTurns(turns, combinePsbtsSteps(first, others))
      if (combined !== undefined) return yield* encodedPsbt(combined, turns)
      return yield* RpcError.invalidParameter("PSBTs not compatible (different transactions)")
    })
})

const joinpsbts = method({
  name: "joinpsbts",
  right: "read",
  group: "Raw transactions",
  heavy: true,
  summary: "Joins several PSBTs into one with the inputs and outputs of all, in random order, unsigned.",
  params: { txs: array(PSBT, "The PSBTs.") },
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[[PSBT_EXAMPLE, PSBT_EXAMPLE]]],
  errors: [
    "-8 At least two PSBTs are required to join PSBTs.",
    DECODE_FAILED,
    "-8 Input <txid>:<vout> exists in multiple PSBTs"
  ],
  handler: ({ txs }, { turns }) =>
    Effect.gen(function*() {
      if (txs.length < 2) {
        return yield* RpcError.invalidParameter("At least two PSBTs are required to join PSBTs.")
      }
      const psbts = yield* eachInTurns(turns, txs, (text) => decodePsbtParam(text, turns))
      const random = secureRandom()
      const joined = yield* inTurns(turns, joinPsbtsSteps(psbts, (items) => shuffled(random, items)))
      if ("error" in joined) return yield* RpcError.invalidParameter(joined.error)
      return yield* encodedPsbt(joined.psbt, turns)
    })
})

const finalizepsbt = method({
  name: "finalizepsbt",
  right: "read",
  group: "Raw transactions",
  heavy: true,
  summary: "Makes scriptSigs and witnesses from the signatures of a PSBT, and the transaction if it is complete.",
  params: {
    psbt: PSBT,
    extract: withDefault(boolean("Whether to return a complete transaction instead of a PSBT."), true)
  },
  results: [{
    schema: Schema.Struct({
      psbt: Schema.optional(Result.string("The PSBT in base64, if it is incomplete or extract is false")),
      hex: Schema.optional(Result.hex("The transaction")),
      complete: Result.boolean("Whether every input is signed")
    })
  }],
  examples: [[PSBT_EXAMPLE]],
  errors: [DECODE_FAILED],
  handler: ({ extract, psbt }, { turns }) =>
    Effect.gen(function*() {
      const decoded = yield* decodePsbtParam(psbt, turns)
      const { complete, psbt: finished } = yield* inTurns(turns, finalizePsbtSteps(decoded))
      return complete && extract
        ? { hex: toHex(extractTransaction(finished).bytes), complete }
        : { psbt: yield* encodedPsbt(finished, turns), complete }
    })
})

const analyzepsbt = method({
  name: "analyzepsbt",
  right: "read",
  group: "Raw transactions",
  heavy: true,
  summary: "Returns the state of a PSBT, its missing data, and the role that acts next.",
  params: { psbt: PSBT },
  results: [{ schema: ANALYZED_PSBT }],
  examples: [[PSBT_EXAMPLE]],
  errors: [DECODE_FAILED],
  handler: ({ psbt }, { turns }) =>
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
    })
})

export const psbtMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | AnswerOptions
> = Effect
  .gen(function*() {
    const chain = yield* Chain
    const options = yield* AnswerOptions
    const { network } = chain.params
    const context = { network, ...options }

    const createpsbt = method({
      name: "createpsbt",
      right: "read",
      group: "Raw transactions",
      summary: "Makes a PSBT from inputs and outputs. The node does not sign, store or send it.",
      params: TRANSACTION_PARAMS,
      results: [{ schema: Result.string("The PSBT in base64") }],
      examples: [[[{ txid: "11".repeat(32), vout: 0 }], [{ [ADDRESS]: 0.01 }]]],
      errors: ["-5 Invalid address: <x>", "-8 Invalid parameter, <reason>"],
      handler: (request, { turns }) =>
        Effect.flatMap(
          readInTurns(turns, constructTransactionSteps(network, request)),
          (made) => encodedPsbt(psbtOf(made), turns)
        )
    })

    const decodepsbt = method({
      name: "decodepsbt",
      right: "read",
      group: "Raw transactions",
      heavy: true,
      summary: "Decodes a PSBT.",
      params: { psbt: PSBT },
      results: [{ schema: DECODED_PSBT }],
      examples: [[PSBT_EXAMPLE]],
      errors: [DECODE_FAILED],
      handler: ({ psbt }, { turns }) =>
        Effect.map(decodePsbtParam(psbt, turns), (decoded) => psbtJson(context, decoded))
    })

    const namepsbt = method({
      name: "namepsbt",
      right: "read",
      group: "Raw transactions",
      summary: "Adds a name operation to an output of a PSBT.",
      params: { psbt: PSBT, vout: int32("Index of the output."), nameop: NAMEOP_PARAM },
      results: [{
        schema: Schema.Struct({
          rand: Schema.optional(Result.hex("The salt of a name_new; the owner needs it for name_firstupdate")),
          psbt: Result.string("The PSBT in base64")
        })
      }],
      examples: [[PSBT_EXAMPLE, 0, { op: "name_update", name: "d/example", value: "{}" }]],
      errors: [DECODE_FAILED, "-8 vout is out of range", "-8 Invalid name operation", "-22 rand must be hex"],
      handler: ({ nameop, psbt, vout }, { turns }) =>
        Effect.gen(function*() {
          const decoded = yield* decodePsbtParam(psbt, turns)
          const { rand, transaction } = yield* withNameOperation(decoded.transaction, { vout, nameop }, options)
          return { rand, psbt: yield* encodedPsbt(withTransaction(decoded, transaction), turns) }
        })
    })

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
