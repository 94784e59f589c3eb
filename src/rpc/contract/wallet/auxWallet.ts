import { contract } from "../../method/contract.ts"
import { hexText, optional } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { AUX_ERRORS, CANDIDATE, CREATE_ERRORS, SUBMIT_ERRORS } from "../mining/aux.ts"
import { WATCH_ONLY } from "./walletContext.ts"

export const GETAUXBLOCK = contract({
  name: "getauxblock",
  coins: "any",
  writes: true,
  group: "Mining",
  summary:
    "Without arguments, makes a block for merged mining that pays to the wallet. With arguments, submits such a " +
    "block with its merged-mining proof.",
  params: { hash: optional(hexText("Hash of the block.")), auxpow: optional(hexText("The proof.")) },
  results: [
    { when: "without arguments", schema: CANDIDATE },
    { when: "with arguments", schema: Result.boolean("Whether the block is accepted") }
  ],
  examples: [[]],
  errors: [
    `-4 ${WATCH_ONLY}`,
    "-12 Failed to generate mining address: <why>",
    ...AUX_ERRORS,
    ...CREATE_ERRORS,
    ...SUBMIT_ERRORS
  ]
})
