import * as Schema from "effect/Schema"
import { rawContract } from "../../method/contract.ts"
import { array, hexText, int32, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EXAMPLE_ADDRESS } from "../examples.ts"
import { NAMEOP_PARAM } from "../names/nameParams.ts"
import { PREVTXS_PARAM, SIGHASH_PARAM, TRANSACTION_PARAMS } from "./transactionParams.ts"

const TRANSACTION = "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

export const MAKE_SURE = "Make sure the tx has at least one input."

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

export const CREATERAWTRANSACTION = rawContract({
  name: "createrawtransaction",
  right: "read",
  summary: "Makes a transaction from inputs and outputs. The node does not sign, store or send it.",
  params: TRANSACTION_PARAMS,
  results: [{ schema: Result.hex("The transaction") }],
  examples: [[[{ txid: "11".repeat(32), vout: 0 }], [{ [EXAMPLE_ADDRESS]: 0.01 }, { data: "c0ffee" }]]],
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
  ]
})

export const NAMERAWTRANSACTION = rawContract({
  name: "namerawtransaction",
  right: "read",
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
  ]
})

export const SIGNRAWTRANSACTIONWITHKEY = rawContract({
  name: "signrawtransactionwithkey",
  coins: "any",
  right: "spend",
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
  ]
})

export const COMBINERAWTRANSACTION = rawContract({
  name: "combinerawtransaction",
  right: "read",
  summary: "Combines the signatures of several copies of a transaction.",
  params: { txs: array(hexText("A transaction."), "The copies.") },
  results: [{ schema: Result.hex("The transaction") }],
  examples: [[[TRANSACTION]]],
  errors: [
    `-22 TX decode failed for tx <n>. ${MAKE_SURE}`,
    "-22 Missing transactions",
    "-25 Input not found or already spent"
  ]
})
