import * as Schema from "effect/Schema"
import { DEFAULT_CHECK } from "../../../chain/repair/verifyChain.ts"
import { chainContract, utilContract } from "../../method/contract.ts"
import { int32, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"

export const VERIFYCHAIN = chainContract({
  name: "verifychain",
  coins: "any",
  // More than reading: the chain stops while it runs.
  right: "admin",
  // Checking all blocks takes hours: ends when the node stops or the caller disconnects.
  waits: true,
  summary: "Checks the last blocks of the best chain, tip first. The node connects no block meanwhile. A damaged " +
    "block counts as missing, and the node requests it from peers.",
  params: {
    checklevel: withDefault(
      int32(
        "Level: 0 reads the blocks, 1 checks their rules, 2 their undo data, 3 their coins, 4 their scripts."
      ),
      DEFAULT_CHECK.level
    ),
    nblocks: withDefault(int32("Number of blocks; 0 for all."), DEFAULT_CHECK.blocks)
  },
  results: [{ schema: Result.boolean("Whether all blocks are intact; the log names each problem") }],
  examples: [[], [4, 100]]
})

export const GETCHECKINFO = utilContract({
  name: "getcheckinfo",
  right: "read",
  summary: "Returns the progress of the background check, which verifies the data on disk.",
  params: {},
  results: [{
    schema: Schema.Struct({
      parts: Result.map(
        "part",
        Schema.Struct({
          unit: Result.string("Unit of the counts: blocks or pages"),
          checked: Result.integer("Units checked in this pass"),
          total: Result.integer("All units"),
          passes: Result.integer("Complete passes since the node started"),
          damaged: Result.integer("Damaged units since the node started")
        })
      ),
      missing_blocks: Result.integer("Missing blocks of the best chain, requested from peers"),
      doubts: Schema.Array(Schema.Struct({
        what: Result.string("The file or store"),
        reason: Result.string("The damage, and what the node does about it")
      })),
      notices: Schema.Array(Schema.Struct({
        what: Result.string("The file or store"),
        reason: Result.string("Notice for the operator; answers stay correct")
      }))
    })
  }],
  examples: [[]]
})
