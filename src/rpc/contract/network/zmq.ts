import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"

export const GETZMQNOTIFICATIONS = contract({
  name: "getzmqnotifications",
  right: "read",
  group: "Util",
  summary: "Returns the ZeroMQ publishers of the node (-zmqpubhashblock and others).",
  params: {},
  results: [{
    schema: Schema.Array(Schema.Struct({
      type: Result.string("pubhashblock, pubhashtx, pubrawblock, pubrawtx or pubsequence"),
      address: Result.string("Address of the publisher"),
      hwm: Result.integer("Messages that are kept for a slow subscriber")
    }))
  }],
  examples: [[]]
})
