import * as Schema from "effect/Schema"
import { chainContract } from "../../method/contract.ts"
import { array, boolean, hash, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { EVENT } from "../../shapes/activity.ts"
import { OPTIONAL_SCAN_OBJECTS, SCAN_ERRORS, SCAN_OBJECTS, SCAN_RUNS } from "./scanObjects.ts"

const FOUND_OUTPUT = Schema.Struct({
  txid: Result.hex("The transaction"),
  vout: Result.integer("Index of the output"),
  scriptPubKey: Result.hex("The script"),
  desc: Result.string("The descriptor of this script"),
  amount: Result.amount("Amount"),
  coinbase: Result.boolean("Whether it is the output of a coinbase"),
  height: Result.integer("Height of its block"),
  blockhash: Result.hex("Hash of its block"),
  confirmations: Result.integer("Confirmations")
})

const SCANNED = Schema.Struct({
  success: Result.boolean("False for a search that was aborted"),
  txouts: Result.integer("Outputs that were read"),
  height: Result.integer("Height of the tip"),
  bestblock: Result.hex("Hash of the tip"),
  unspents: Schema.Array(FOUND_OUTPUT),
  total_amount: Result.amount("Amount of all found outputs")
})

export const SCANTXOUTSET = chainContract({
  name: "scantxoutset",
  right: "read",
  // Ends when the caller disconnects.
  waits: true,
  summary: "Searches the unspent outputs at the current tip for those of descriptors.",
  params: { action: string("start, abort or status."), scanobjects: OPTIONAL_SCAN_OBJECTS },
  results: [
    { when: "action is start", schema: SCANNED },
    { when: "action is abort", schema: Result.boolean("Whether a search was running") },
    {
      when: "action is status and a search is running",
      schema: Schema.Struct({ progress: Result.integer("Percent") })
    },
    { when: "action is status and no search is running", schema: Result.nothing("") }
  ],
  examples: [["start", ["raw(76a91411b366edfc0a8b66feebae5c2e25a7b6a5d1cf3188ac)#fm24fxxy"]], ["status"], [
    "abort"
  ]],
  errors: [
    `-8 ${SCAN_RUNS}`,
    "-8 Invalid action '<x>'",
    "-1 scanobjects argument is required for the start action",
    ...SCAN_ERRORS
  ]
})

export const GETDESCRIPTORACTIVITY = chainContract({
  name: "getdescriptoractivity",
  right: "read",
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
