import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import * as Result from "../../method/results.ts"

export const SYNC_STATUS = Schema.Struct({
  phase: Result.string(
    "What the node works on: headers, window, signatures, blocks, or ready if it waits for nothing"
  ),
  proof: Result.string("What answers about names rest on: work, signatures or full"),
  height: Result.integer("The last block whose names are known"),
  headers: Result.integer("Height of the last header"),
  synced: Result.boolean("Whether all names are known up to the tip of the network"),
  percent: Result.number("The part of the phase's work that is done, 0 to 100"),
  secondsleft: Schema.NullOr(Result.number("Seconds until it is done; null while that is unknown")),
  offline: Schema.optional(
    Result.boolean("Only where the operator wants no peers (-maxpeers 0): true, and no blocks come from peers")
  ),
  window: Schema.NullOr(
    Schema.Struct({
      blocks: Result.integer("Blocks in the window"),
      of: Result.integer("Blocks of the complete window; 0 before it begins"),
      names: Result.integer("Names in the window"),
      unchecked: Result.integer("Signatures that are not checked yet")
    }).annotations({ description: "The window from which names are answered; null if the whole chain answers" })
  )
})

export const GETSYNCSTATUS = contract({
  name: "getsyncstatus",
  right: "read",
  group: "Blockchain",
  summary: "Returns how far the node is, and what its answers about names rest on.",
  params: {},
  results: [{ schema: SYNC_STATUS }],
  examples: [[]]
})
