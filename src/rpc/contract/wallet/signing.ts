import * as Schema from "effect/Schema"
import { rawContract, walletContract } from "../../method/contract.ts"
import { boolean, freeText, hexText, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EXAMPLE_OWN_ADDRESS } from "../examples.ts"
import { DECODE_FAILED, PSBT, PSBT_EXAMPLE, PSBT_SIGNING, SIGNED_PSBT } from "../transactions/psbt.ts"
import { SIGNED_TRANSACTION } from "../transactions/rawTransaction.ts"
import { PREVTXS_PARAM, SIGHASH_PARAM } from "../transactions/transactionParams.ts"
import { LOCKED } from "./walletParams.ts"

const TRANSACTION = "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

export const NO_KEY = "Private key not available"

export const SIGNMESSAGE = walletContract({
  name: "signmessage",
  coins: "any",
  right: "spend",
  summary: "Signs a message with the private key of an address.",
  params: {
    address: string("The address; must be the address of a single key."),
    message: freeText(string("The message."))
  },
  results: [{ schema: Result.string("The signature in base64") }],
  examples: [[EXAMPLE_OWN_ADDRESS, "a message"]],
  errors: [`-13 ${LOCKED}`, "-5 Invalid address", "-3 Address does not refer to key", `-4 ${NO_KEY}`]
})

export const SIGNRAWTRANSACTIONWITHWALLET = rawContract({
  name: "signrawtransactionwithwallet",
  coins: "any",
  right: "spend",
  summary: "Signs the inputs of a transaction with the keys of the wallet.",
  params: { hexstring: hexText("The transaction."), prevtxs: PREVTXS_PARAM, sighashtype: SIGHASH_PARAM },
  results: [{ schema: SIGNED_TRANSACTION }],
  examples: [[TRANSACTION]],
  errors: [
    "-22 TX decode failed. Make sure the tx has at least one input.",
    `-13 ${LOCKED}`,
    "-8 '<x>' is not a valid sighash parameter."
  ]
})

export const WALLETPROCESSPSBT = walletContract({
  name: "walletprocesspsbt",
  coins: "any",
  right: "spend",
  writes: true,
  summary: "Adds the wallet's data to a PSBT, and signs the inputs for which the wallet has keys.",
  params: {
    psbt: freeText(PSBT),
    sign: withDefault(boolean("Whether to sign."), true),
    sighashtype: freeText(SIGHASH_PARAM),
    ...PSBT_SIGNING
  },
  results: [{ schema: SIGNED_PSBT }],
  examples: [[PSBT_EXAMPLE]],
  errors: [
    "-22 TX decode failed <why>",
    "-8 '<x>' is not a valid sighash parameter.",
    "-22 Specified sighash value does not match value stored in PSBT",
    `-13 ${LOCKED}`
  ]
})

/** Characters: its signatures are checked, and an owner reads it. */
export const LONGEST_REVIEWED = 60_000

export const REVIEWPSBT = walletContract({
  name: "reviewpsbt",
  coins: "any",
  right: "names",
  heavy: true,
  summary:
    "Says in words what a PSBT does to the names and coins of the wallet, as svcd-wallet show does: for an owner " +
    "who is about to sign or send it. Only the wallet's own scripts count as its own, whatever the PSBT claims.",
  params: { psbt: freeText(PSBT) },
  results: [{
    schema: Schema.Struct({
      lines: Schema.Array(Result.string("A line: the name, the payments, the fee, the inputs with their signatures")),
      warnings: Schema.Array(Result.string("What the owner has to look at first")),
      complete: Result.boolean("Whether it has all its signatures, so that sendpsbt can send it")
    })
  }],
  examples: [[PSBT_EXAMPLE]],
  errors: [DECODE_FAILED, `-8 the PSBT is longer than ${LONGEST_REVIEWED} characters`]
})
