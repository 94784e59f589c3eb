import * as Schema from "effect/Schema"
import { chainContract } from "../../method/contract.ts"
import { asArgument, freeText, namedOptions, optional, orEmpty, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { BLOCK_ERRORS, hashOrHeight } from "./hashOrHeight.ts"

const WRITTEN = Schema.Struct({
  coins_written: Result.integer("Coins in the file"),
  base_hash: Result.hex("Hash of the base block"),
  base_height: Result.integer("Height of the base block"),
  path: Result.string("Absolute path of the file"),
  txoutset_hash: Result.hex("Hash over all coins, as gettxoutsetinfo returns it (hash_serialized_3)"),
  nchaintx: Result.integer("Transactions of the chain up to the base block")
})

const LOADED = Schema.Struct({
  coins_loaded: Result.integer("Coins in the file"),
  tip_hash: Result.hex("Hash of the base block"),
  base_height: Result.integer("Height of the base block"),
  path: Result.string("Absolute path of the file")
})

const CHAINSTATE = Schema.Struct({
  blocks: Result.integer("Height of its last block"),
  bestblockhash: Result.hex("Hash of its last block"),
  bits: Result.hex("Target of its last block, in compact form"),
  target: Result.hex("That target"),
  difficulty: Result.number("Difficulty of its last block"),
  verificationprogress: Result.number(
    "Checked part of the chain, 0 to 1, as in getblockchaininfo; for a second state, by its height"
  ),
  coins_db_cache_bytes: Result.integer("Memory for database pages, in bytes"),
  coins_tip_cache_bytes: Result.integer("Bytes of memory for coins"),
  snapshot_blockhash: Schema.optional(
    Result.hex("Base block of the snapshot it started from; missing once validated")
  ),
  validated: Result.boolean("Whether all its blocks are validated; false for an unvalidated snapshot")
})

const CHAINSTATES = Schema.Struct({
  headers: Result.integer("Height of the best known header"),
  chainstates: Schema.Array(CHAINSTATE)
})

export const DUMPTXOUTSET = chainContract({
  name: "dumptxoutset",
  coins: "any",
  summary: "Writes the coins of a block to a file for loadtxoutset of svcd or Namecoin Core. The node keeps " +
    "connecting blocks, and an earlier block does not change its tip.",
  // Writing all coins takes minutes: if the node stops or the caller disconnects, the file is removed.
  waits: true,
  params: {
    path: freeText(string("The file, relative to the data directory. It must not exist.")),
    type: freeText(withDefault(string("latest for the tip, rollback for the block of that option."), "")),
    options: orEmpty(
      namedOptions(
        { rollback: asArgument("json or text", optional(hashOrHeight("The block, by hash or height."))) },
        "Options."
      )
    )
  },
  results: [{ schema: WRITTEN }],
  examples: [["utxo.dat", "latest"], ["utxo.dat", "rollback", { rollback: 800000 }]],
  errors: [
    "-8 Invalid snapshot type \"<x>\" specified with rollback option",
    "-8 Invalid snapshot type \"<x>\" specified. Please specify \"rollback\" or \"latest\"",
    "-8 <path> already exists. If you are sure this is what you want, move it out of the way first",
    "-8 Couldn't open file <path>.incomplete for writing.",
    "-1 Could not roll back to requested height.",
    ...BLOCK_ERRORS
  ]
})

export const LOADTXOUTSET = chainContract({
  name: "loadtxoutset",
  coins: "any",
  summary:
    "Loads coins and names from a file written by dumptxoutset, and continues from its base block. The blocks up to " +
    "that block are validated in the background: see getchainstates. The headers up to that block must be known, and the hash of the coins must be -snapshothash, " +
    "or known to this version.",
  waits: true,
  params: { path: freeText(string("The file, relative to the data directory.")) },
  results: [{ schema: LOADED }],
  examples: [["utxo.dat"]],
  errors: [
    "-8 Couldn't open file <path> for reading.",
    "-22 Unable to parse metadata: <reason>",
    "-32603 Unable to load UTXO snapshot: <reason>. (<path>)"
  ]
})

export const GETCHAINSTATES = chainContract({
  name: "getchainstates",
  right: "read",
  summary:
    "Returns the chain states of the node; the last one is in use. After a snapshot is loaded, there are two until the " +
    "blocks below its base are validated: the first connects them from genesis, the second started from the snapshot.",
  params: {},
  results: [{ schema: CHAINSTATES }],
  examples: [[]]
})
