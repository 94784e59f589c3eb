import * as Schema from "effect/Schema"
import * as Result from "../../method/results.ts"

export const FINISHED = Schema.Struct({
  psbt: Schema.optional(Result.string("The PSBT in base64, if signatures are missing or nothing is sent")),
  txid: Schema.optional(Result.hex("The transaction, if it is complete")),
  hex: Schema.optional(Result.hex("The serialized transaction, if it is complete and not sent")),
  complete: Result.boolean("Whether every input is signed")
})
