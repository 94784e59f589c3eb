import { chainContract } from "../../method/contract.ts"
import { asArgument, boolean, hash, json, optional, string, uint32, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { COIN_STATISTICS, INDEXED_COIN_STATISTICS, UNSPENT_OUTPUT } from "../../shapes/coins.ts"
import { BLOCK_ERRORS } from "./hashOrHeight.ts"

export const GETTXOUT = chainContract({
  name: "gettxout",
  right: "read",
  summary: "Returns an unspent output; null if it is spent or unknown, or if its name expired. With the mempool, " +
    "includes its outputs and excludes the outputs that it spends.",
  params: {
    txid: hash("The transaction."),
    n: uint32("Index of the output."),
    include_mempool: withDefault(boolean("Whether to include the mempool."), true)
  },
  results: [
    { when: "the output is unspent", schema: UNSPENT_OUTPUT },
    { when: "it is spent or unknown", schema: Result.nothing("") }
  ],
  examples: [["0c686779a1dcc867039a3c71934d6cde487c4eabd9cd2efd0bdcf15262ed9886", 0]]
})

export const GETTXOUTSETINFO = chainContract({
  name: "gettxoutsetinfo",
  right: "read",
  // Ends when the caller disconnects.
  waits: true,
  summary: "Counts and hashes all unspent outputs. Reads all of them, as they are at the tip at the call; with " +
    "-coinstatsindex it answers at once, for any block, except for hash_serialized_3.",
  params: {
    hash_type: withDefault(string("hash_serialized_3, muhash or none."), "hash_serialized_3"),
    hash_or_height: asArgument(
      "json or text",
      optional(
        json("A block other than the tip, by hash or height; needs -coinstatsindex.", { words: "string or numeric" })
      )
    ),
    use_index: withDefault(boolean("Whether to use the index, if there is one."), true)
  },
  results: [
    { when: "the index is not used", schema: COIN_STATISTICS },
    { when: "the index is used", schema: INDEXED_COIN_STATISTICS }
  ],
  examples: [[], ["muhash"]],
  errors: [
    "-8 '<x>' is not a valid hash_type",
    "-8 Querying specific block heights requires coinstatsindex",
    "-8 hash_serialized_3 hash type cannot be queried for a specific block",
    "-8 Cannot set use_index to false when querying for a specific block",
    ...BLOCK_ERRORS,
    "-32603 Unable to get data because coinstatsindex is still syncing. Current height: <n>",
    "-32603 Unable to read UTXO set"
  ]
})
