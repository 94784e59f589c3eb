import { rawContract } from "../../method/contract.ts"
import { array, freeText, json, optional } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { knownDescriptors } from "../chain/scanObjects.ts"
import { DECODE_FAILED, PSBT, PSBT_EXAMPLE, PSBT_SIGNING, SIGNED_PSBT } from "./psbt.ts"
import { SIGHASH_PARAM } from "./transactionParams.ts"

const DESCRIPTORS = knownDescriptors(array(
  json("A descriptor, or an object with desc and, for a ranged descriptor, range."),
  "Descriptors."
))

const OPTIONAL_DESCRIPTORS = optional(DESCRIPTORS)

export const MISMATCH = "Specified sighash value does not match value stored in PSBT"

export const UTXOUPDATEPSBT = rawContract({
  name: "utxoupdatepsbt",
  right: "read",
  heavy: true,
  summary: "Adds to a PSBT the outputs that it spends, from the mempool and the chain, and data from descriptors.",
  params: {
    psbt: freeText(PSBT),
    descriptors: OPTIONAL_DESCRIPTORS
  },
  results: [{ schema: Result.string("The PSBT in base64") }],
  examples: [[PSBT_EXAMPLE]],
  errors: [DECODE_FAILED, "-5 <reason why the descriptor is invalid>"]
})

export const DESCRIPTORPROCESSPSBT = rawContract({
  name: "descriptorprocesspsbt",
  coins: "any",
  right: "spend",
  heavy: true,
  summary: "Adds to a PSBT the outputs that it spends and data from descriptors, and signs with their keys.",
  params: {
    psbt: freeText(PSBT),
    descriptors: DESCRIPTORS,
    sighashtype: freeText(SIGHASH_PARAM),
    ...PSBT_SIGNING
  },
  results: [{ schema: SIGNED_PSBT }],
  examples: [[PSBT_EXAMPLE, ["wpkh(02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9)"]]],
  errors: [
    DECODE_FAILED,
    "-5 <reason why the descriptor is invalid>",
    "-8 '<x>' is not a valid sighash parameter.",
    `-22 ${MISMATCH}`
  ]
})
