import * as Schema from "effect/Schema"
import { hiddenContract, mempoolContract } from "../../method/contract.ts"
import { boolean, freeText, hash, namedOptions, orEmpty, string, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { CLUSTER, DIAGRAM, MEMPOOL_INFO, POOL_ENTRY } from "../../shapes/mempool.ts"
import { EXAMPLE_TXID } from "../examples.ts"

const TXIDS = Schema.Array(Result.hex("A transaction"))

const ENTRIES = Result.map("txid", POOL_ENTRY)

const NOT_IN_MEMPOOL = "-5 Transaction not in mempool"

const RELATIVES_PARAMS = {
  txid: hash("The transaction."),
  verbose: withDefault(boolean("Whether to return details instead of ids."), false)
}

const RELATIVES = [
  { when: "verbose is false", schema: TXIDS },
  { when: "verbose is true", schema: ENTRIES }
] as const

export const GETMEMPOOLINFO = mempoolContract({
  name: "getmempoolinfo",
  right: "read",
  summary: "Returns the size and the limits of the mempool.",
  params: {},
  results: [{ schema: MEMPOOL_INFO }],
  examples: [[]]
})

export const GETRAWMEMPOOL = mempoolContract({
  name: "getrawmempool",
  right: "read",
  heavy: true,
  summary: "Lists the transactions in the mempool.",
  params: {
    verbose: withDefault(boolean("Whether to return details instead of ids."), false),
    mempool_sequence: withDefault(boolean("Whether to add the mempool's sequence. Not with verbose."), false)
  },
  results: [
    { when: "verbose is false", schema: TXIDS },
    { when: "verbose is true", schema: ENTRIES },
    {
      when: "mempool_sequence is true",
      schema: Schema.Struct({
        txids: TXIDS,
        mempool_sequence: Result.integer("Counts additions and removals since the start of the node")
      })
    }
  ],
  examples: [[], [true], [false, true]],
  errors: ["-8 Verbose results cannot contain mempool sequence values."]
})

export const GETMEMPOOLENTRY = mempoolContract({
  name: "getmempoolentry",
  right: "read",
  summary: "Returns the mempool entry of a transaction.",
  params: { txid: hash("The transaction.") },
  results: [{ schema: POOL_ENTRY }],
  examples: [[EXAMPLE_TXID]],
  errors: [NOT_IN_MEMPOOL]
})

export const GETMEMPOOLANCESTORS = mempoolContract({
  name: "getmempoolancestors",
  right: "read",
  summary: "Lists all ancestors of a transaction in the mempool.",
  params: RELATIVES_PARAMS,
  results: RELATIVES,
  examples: [[EXAMPLE_TXID]],
  errors: [NOT_IN_MEMPOOL]
})

export const GETMEMPOOLDESCENDANTS = mempoolContract({
  name: "getmempooldescendants",
  right: "read",
  summary: "Lists all descendants of a transaction in the mempool.",
  params: RELATIVES_PARAMS,
  results: RELATIVES,
  examples: [[EXAMPLE_TXID]],
  errors: [NOT_IN_MEMPOOL]
})

export const GETMEMPOOLCLUSTER = mempoolContract({
  name: "getmempoolcluster",
  right: "read",
  summary: "Returns the cluster of a transaction in the mempool: all transactions connected with it, in chunks in " +
    "mining order.",
  params: { txid: hash("The transaction.") },
  results: [{ schema: CLUSTER }],
  examples: [[EXAMPLE_TXID]],
  errors: [NOT_IN_MEMPOOL]
})

export const SAVEMEMPOOL = mempoolContract({
  name: "savemempool",
  coins: "any",
  writes: true,
  summary: "Saves the mempool to its file.",
  params: {},
  results: [{ schema: Schema.Struct({ filename: Result.string("The file") }) }],
  examples: [[]],
  errors: ["-1 The mempool was not loaded yet", "-1 Unable to dump mempool to disk"]
})

export const GETMEMPOOLFEERATEDIAGRAM = hiddenContract({
  name: "getmempoolfeeratediagram",
  right: "read",
  summary: "Returns the cumulative fees and weight of the mempool's chunks, best chunk first.",
  params: {},
  results: [{ schema: DIAGRAM }],
  examples: [[]]
})

export const DOWNLOADING = "Can only import the mempool after the block download and sync is done."

export const UNUSABLE = "Unable to import mempool file, see debug.log for details."

export const IMPORTMEMPOOL = mempoolContract({
  name: "importmempool",
  coins: "any",
  writes: true,
  summary: "Offers the transactions of a file to the mempool. The file is that of savemempool, or the mempool.dat " +
    "of Namecoin Core. The log tells how many were accepted. Do not take over the rest of the file of another " +
    "operator.",
  params: {
    filepath: freeText(string("The file.")),
    options: orEmpty(namedOptions({
      use_current_time: withDefault(
        boolean("Whether the transactions count as arriving now, not at the times of the file."),
        true
      ),
      apply_fee_delta_priority: withDefault(
        boolean("Whether to add the fee changes of the file to those of the node."),
        false
      ),
      apply_unbroadcast_set: withDefault(
        boolean("Whether to announce transactions that no peer of the other node had requested until a peer does."),
        false
      )
    }, "Options."))
  },
  results: [{ schema: Schema.Struct({}) }],
  examples: [["/path/to/mempool.dat"]],
  errors: [`-10 ${DOWNLOADING}`, `-1 ${UNUSABLE}`]
})
