import * as Schema from "effect/Schema"
import { chainContract } from "../../method/contract.ts"
import { boolean, hash, int32, namedOptions, optional, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { OPTIONAL_SCAN_OBJECTS, SCAN_ERRORS, SCAN_RUNS } from "./scanObjects.ts"

const FOUND_BLOCKS = Schema.Struct({
  from_height: Result.integer("Height of the first block"),
  to_height: Result.integer("Height of the last block that was read"),
  relevant_blocks: Schema.Array(Result.hex("Hash of a block that may have a script")),
  completed: Result.boolean("False for a search that was aborted")
})

const FILTER_TYPE = withDefault(string("The type of the filter: basic."), "basic")

export const UNKNOWN_TYPE = "Unknown filtertype"

export const GETBLOCKFILTER = chainContract({
  name: "getblockfilter",
  right: "read",
  summary: "Returns the compact filter of a block (BIP 158). Needs -blockfilterindex.",
  params: { blockhash: hash("The block."), filtertype: FILTER_TYPE },
  results: [{
    schema: Schema.Struct({
      filter: Result.hex("The filter"),
      header: Result.hex("The filter header (BIP 157)")
    })
  }],
  examples: [["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"]],
  errors: [
    `-5 ${UNKNOWN_TYPE}`,
    "-1 Index is not enabled for filtertype basic",
    "-5 Block not found",
    "-5 Filter not found. Block was not connected to active chain.",
    "-1 Filter not found. Block filters are still in the process of being indexed."
  ]
})

export const SCANBLOCKS = chainContract({
  name: "scanblocks",
  right: "read",
  // Ends when the caller disconnects.
  waits: true,
  summary: "Searches blocks by their filters for scripts of descriptors. Needs -blockfilterindex.",
  params: {
    action: string("start, abort or status."),
    scanobjects: OPTIONAL_SCAN_OBJECTS,
    start_height: withDefault(int32("Height of the first block."), 0),
    stop_height: optional(int32("Height of the last block."), "the tip"),
    filtertype: FILTER_TYPE,
    options: optional(namedOptions({
      filter_false_positives: withDefault(boolean("Whether to read each block that a filter matches."), false)
    }, "Options."))
  },
  results: [
    { when: "action is start", schema: FOUND_BLOCKS },
    { when: "action is abort", schema: Result.boolean("Whether a search was running") },
    {
      when: "action is status and a search is running",
      schema: Schema.Struct({
        progress: Result.integer("Percent"),
        current_height: Result.integer("Height of the last block that was read")
      })
    },
    { when: "action is status and no search is running", schema: Result.nothing("") }
  ],
  examples: [["status"], ["abort"]],
  errors: [
    `-8 ${SCAN_RUNS}`,
    "-8 Invalid action '<x>'",
    `-5 ${UNKNOWN_TYPE}`,
    "-1 Index is not enabled for filtertype basic",
    "-1 Invalid start_height",
    "-1 Invalid stop_height",
    ...SCAN_ERRORS
  ]
})
