import { chainContract } from "../../method/contract.ts"
import { alias, boolean, hash, verbosity, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { BLOCK_WITH_COINS, BLOCK_WITH_TRANSACTIONS, BLOCK_WITH_TXIDS, HEADER } from "../../shapes/block.ts"

/** The first block of the main network, for the examples. */
const GENESIS = "000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"

export const GETBLOCK = chainContract({
  name: "getblock",
  right: "read",
  heavy: true,
  summary: "Returns a block, as hexadecimal digits or as an object.",
  params: {
    blockhash: hash("The block."),
    verbosity: withDefault(
      alias(
        verbosity("0: hexadecimal digits; 1: txids; 2: transactions; 3: with the coins they spend."),
        "verbose"
      ),
      1
    )
  },
  results: [
    { when: "verbosity is 0 or less", schema: Result.hex("The block with its merged-mining proof") },
    { when: "verbosity is 1", schema: BLOCK_WITH_TXIDS },
    { when: "verbosity is 2", schema: BLOCK_WITH_TRANSACTIONS },
    { when: "verbosity is 3 or more", schema: BLOCK_WITH_COINS }
  ],
  examples: [[GENESIS], [GENESIS, 0]],
  errors: [
    "-5 Block not found",
    "-1 Block not available (not fully downloaded)",
    "-1 Block not available (pruned data)",
    "-1 Block not found on disk",
    "-1 Can't read undo data from disk"
  ]
})

export const GETBLOCKHEADER = chainContract({
  name: "getblockheader",
  right: "read",
  summary: "Returns a header with its merged-mining proof, as hexadecimal digits or as an object.",
  params: {
    blockhash: hash("The block.", { label: "hash" }),
    verbose: withDefault(boolean("Whether to return an object."), true)
  },
  results: [
    { when: "verbose is true", schema: HEADER },
    { when: "verbose is false", schema: Result.hex("The header, and the proof if the version has the flag") }
  ],
  examples: [[GENESIS], [GENESIS, false]],
  errors: [
    "-5 Block not found",
    "-1 Block not available (not fully downloaded)",
    "-1 Block not available (pruned data)"
  ]
})
