import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { array, boolean, hash, withDefault } from "../../method/params.ts"
import { EVENT } from "../../shapes/activity.ts"
import { SCAN_ERRORS, SCAN_OBJECTS } from "./scanObjects.ts"

export const GETDESCRIPTORACTIVITY = contract({
  name: "getdescriptoractivity",
  right: "read",
  group: "Blockchain",
  heavy: true,
  summary:
    "Lists the outputs that pay to descriptors and the inputs that spend from them, in given blocks and in the " +
    "mempool.",
  params: {
    blockhashes: array(hash("A block of the best chain.", { label: "blockhash" }), "The blocks, in any order."),
    scanobjects: SCAN_OBJECTS,
    include_mempool: withDefault(boolean("Whether to include the mempool."), true)
  },
  results: [{ schema: Schema.Struct({ activity: Schema.Array(EVENT) }) }],
  examples: [[
    ["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"],
    ["raw(76a91411b366edfc0a8b66feebae5c2e25a7b6a5d1cf3188ac)#fm24fxxy"]
  ]],
  errors: [
    "-5 Block not found",
    "-8 Block is not in main chain",
    "-1 Block not available (not fully downloaded)",
    "-1 Can't read undo data from disk",
    ...SCAN_ERRORS
  ]
})
