import * as Schema from "effect/Schema"
import { rawContract } from "../../method/contract.ts"
import { array, boolean, freeText, hexText, int32, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { DECODED_PSBT } from "../../shapes/psbt.ts"
import { EXAMPLE_ADDRESS } from "../examples.ts"
import { NAMEOP_PARAM } from "../names/nameParams.ts"
import { TRANSACTION_PARAMS } from "./transactionParams.ts"

export const PSBT_EXAMPLE = "cHNidP8BACwBAAAAAAFAQg8AAAAAABl2qRTV49HhSaxO2DBhB3+qbY2SFSk4wIisAAAAAAAA"

const TRANSACTION = "01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

export const PSBT = string("The PSBT in base64.")

export const PSBT_SIGNING = {
  bip32derivs: withDefault(boolean("Whether to include derivation paths."), true),
  finalize: withDefault(boolean("Whether to finalize the inputs that are complete."), true)
}

export const SIGNED_PSBT = Schema.Struct({
  psbt: Result.string("The PSBT in base64"),
  complete: Result.boolean("Whether every input is final"),
  hex: Schema.optional(Result.hex("The transaction, if complete"))
})

export const DECODE_FAILED = "-22 TX decode failed <why>"

const ROLE = "Role that acts next: updater, signer, finalizer or extractor"

export const PSBT_MISSING = Schema.Struct({
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
    missing: Schema.optional(PSBT_MISSING)
  }))),
  estimated_vsize: Schema.optional(Result.integer("Virtual bytes of the signed transaction")),
  estimated_feerate: Schema.optional(Result.amount("Fee per 1000 virtual bytes")),
  fee: Schema.optional(Result.amount("The fee")),
  next: Result.string(ROLE),
  error: Schema.optional(Result.string("Reason why it is invalid"))
})

export const CONVERTTOPSBT = rawContract({
  name: "converttopsbt",
  right: "read",
  heavy: true,
  summary: "Converts a transaction to a PSBT.",
  params: {
    hexstring: hexText("The transaction."),
    permitsigdata: withDefault(boolean("Whether to drop signatures instead of refusing them."), false),
    iswitness: optional(boolean("Whether the transaction is in witness format."), "tries both")
  },
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[TRANSACTION]],
  errors: ["-22 TX decode failed", "-22 Inputs must not have scriptSigs and scriptWitnesses"]
})

export const COMBINEPSBT = rawContract({
  name: "combinepsbt",
  right: "read",
  heavy: true,
  summary: "Combines several PSBTs of one transaction.",
  params: { txs: array(PSBT, "The PSBTs.") },
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[[PSBT_EXAMPLE, PSBT_EXAMPLE]]],
  errors: [
    "-8 Parameter 'txs' cannot be empty",
    DECODE_FAILED,
    "-8 PSBTs not compatible (different transactions)"
  ]
})

export const JOINPSBTS = rawContract({
  name: "joinpsbts",
  right: "read",
  heavy: true,
  summary: "Joins several PSBTs into one with the inputs and outputs of all, in random order, unsigned.",
  params: { txs: array(PSBT, "The PSBTs.") },
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[[PSBT_EXAMPLE, PSBT_EXAMPLE]]],
  errors: [
    "-8 At least two PSBTs are required to join PSBTs.",
    DECODE_FAILED,
    "-8 Input <txid>:<vout> exists in multiple PSBTs"
  ]
})

export const FINALIZEPSBT = rawContract({
  name: "finalizepsbt",
  right: "read",
  heavy: true,
  summary: "Makes scriptSigs and witnesses from the signatures of a PSBT, and the transaction if it is complete.",
  params: {
    psbt: freeText(PSBT),
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
  errors: [DECODE_FAILED]
})

export const ANALYZEPSBT = rawContract({
  name: "analyzepsbt",
  right: "read",
  heavy: true,
  summary: "Returns the state of a PSBT, its missing data, and the role that acts next.",
  params: { psbt: freeText(PSBT) },
  results: [{ schema: ANALYZED_PSBT }],
  examples: [[PSBT_EXAMPLE]],
  errors: [DECODE_FAILED]
})

export const CREATEPSBT = rawContract({
  name: "createpsbt",
  right: "read",
  summary: "Makes a PSBT from inputs and outputs. The node does not sign, store or send it.",
  params: TRANSACTION_PARAMS,
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[[{ txid: "11".repeat(32), vout: 0 }], [{ [EXAMPLE_ADDRESS]: 0.01 }]]],
  errors: ["-5 Invalid address: <x>", "-8 Invalid parameter, <reason>"]
})

export const DECODEPSBT = rawContract({
  name: "decodepsbt",
  right: "read",
  heavy: true,
  summary: "Decodes a PSBT.",
  params: { psbt: freeText(PSBT) },
  results: [{ schema: DECODED_PSBT }],
  examples: [[PSBT_EXAMPLE]],
  errors: [DECODE_FAILED]
})

export const NAMEPSBT = rawContract({
  name: "namepsbt",
  right: "read",
  summary: "Adds a name operation to an output of a PSBT.",
  params: { psbt: PSBT, vout: int32("Index of the output."), nameop: NAMEOP_PARAM },
  results: [{
    schema: Schema.Struct({
      rand: Schema.optional(Result.hex("The salt of a name_new; the owner needs it for name_firstupdate")),
      psbt: Result.string("The PSBT in base64")
    })
  }],
  examples: [[PSBT_EXAMPLE, 0, { op: "name_update", name: "d/example", value: "{}" }]],
  errors: [DECODE_FAILED, "-8 vout is out of range", "-8 Invalid name operation", "-22 rand must be hex"]
})
