import * as Schema from "effect/Schema"
import { chainContract } from "../../method/contract.ts"
import { array, asArgument, hash, int32, optional, shownAs, string } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { BLOCK_STATS, CHOSEN_STATS } from "../../shapes/blockStats.ts"
import { BLOCK_ERRORS, hashOrHeight } from "./hashOrHeight.ts"

const CHAIN_TX_STATS = Schema.Struct({
  time: Result.time("Time of the last block of the window"),
  txcount: Result.integer("Transactions of the chain up to this block"),
  window_final_block_hash: Result.hex("Hash of the last block of the window"),
  window_final_block_height: Result.integer("Height of the last block of the window"),
  window_block_count: Result.integer("Blocks of the window"),
  window_interval: Schema.optional(Result.integer("Seconds of the window; only if it has blocks")),
  window_tx_count: Schema.optional(Result.integer("Transactions of the window; only if it has blocks")),
  txrate: Schema.optional(Result.number("Transactions per second; only if the interval is above zero"))
})

export const INVALID_COUNT = "Invalid block count: should be between 0 and the block's height - 1"

export const GETBLOCKSTATS = chainContract({
  name: "getblockstats",
  right: "read",
  heavy: true,
  summary: "Returns statistics of a block. Amounts are in the smallest unit.",
  params: {
    hash_or_height: asArgument("json or text", hashOrHeight("The block.")),
    stats: optional(shownAs(array(string("A statistic."), "The wanted statistics."), "stats"), "all")
  },
  results: [
    { when: "no statistics are given", schema: BLOCK_STATS },
    { when: "statistics are given", schema: CHOSEN_STATS }
  ],
  examples: [[300, ["minfeerate", "avgfeerate"]]],
  errors: [
    ...BLOCK_ERRORS,
    "-8 Invalid selected statistic '<x>'",
    "-1 Block not available (not fully downloaded)",
    "-1 Block not found on disk",
    "-1 Undo data not available",
    "-1 Can't read undo data from disk"
  ]
})

export const GETCHAINTXSTATS = chainContract({
  name: "getchaintxstats",
  right: "read",
  heavy: true,
  summary: "Returns the number of transactions of the chain, and their rate in a window of blocks.",
  params: {
    nblocks: optional(int32("Blocks of the window."), "one month"),
    blockhash: optional(hash("The last block of the window."), "the tip")
  },
  results: [{ schema: CHAIN_TX_STATS }],
  examples: [[], [144]],
  errors: ["-5 Block not found", "-8 Block is not in main chain", `-8 ${INVALID_COUNT}`]
})
