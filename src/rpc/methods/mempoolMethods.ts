import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Mempool } from "../../mempool/Mempool.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import { lazily, LazyMap } from "../json/encodeJson.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { boolean, hash, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import {
  CLUSTER,
  clusterJson,
  DIAGRAM,
  diagramJson,
  displayTxid,
  MEMPOOL_INFO,
  mempoolInfoJson,
  POOL_ENTRY,
  poolEntryJson
} from "../shapes/mempool.ts"

/** Methods that return the contents of the mempool (reference/rpc.md 3.6 and parts of 3.10). */

const TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

const TXIDS = Schema.Array(Result.hex("A transaction"))
const ENTRIES = Result.map("txid", POOL_ENTRY)

const NOT_IN_MEMPOOL = "-5 Transaction not in mempool"

type Pool = typeof Mempool.Service

const entryOf = (pool: Pool, txid: Bytes): Effect.Effect<PoolEntry, RpcError> => {
  const entry = pool.get(txidKey(txid))
  return entry === undefined ? RpcError.invalidAddressOrKey("Transaction not in mempool") : Effect.succeed(entry)
}

const txidsOf = (entries: Iterable<PoolEntry>) => Array.from(entries, displayTxid)

/** Omits transactions that left the pool since the call began: their relatives are unknown now. */
const entriesOf = (pool: Pool, entries: Iterable<PoolEntry>) =>
  new LazyMap(lazily([...entries], (entry) =>
    pool.get(entry.transaction.txidKey) === entry
      ? [displayTxid(entry), poolEntryJson(pool, entry)] as const
      : undefined))

const listOf = (pool: Pool, entries: Iterable<PoolEntry>, verbose: boolean) =>
  verbose ? entriesOf(pool, entries) : txidsOf(entries)

/** Of the methods that list relatives of a transaction in the mempool. */
const RELATIVES_PARAMS = {
  txid: hash("The transaction."),
  verbose: withDefault(boolean("Whether to return details instead of ids."), false)
}

const RELATIVES = [
  { when: "verbose is false", schema: TXIDS },
  { when: "verbose is true", schema: ENTRIES }
] as const

export const mempoolMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool> = Effect.map(Mempool, (pool) => {
  const getmempoolinfo = method({
    name: "getmempoolinfo",
    right: "read",
    group: "Mempool",
    summary: "Returns the size and the limits of the mempool.",
    params: {},
    results: [{ schema: MEMPOOL_INFO }],
    examples: [[]],
    handler: () => Effect.sync(() => mempoolInfoJson(pool.info(), pool.policy))
  })

  const getrawmempool = method({
    name: "getrawmempool",
    right: "read",
    group: "Mempool",
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
    errors: ["-8 Verbose results cannot contain mempool sequence values."],
    handler: ({ mempool_sequence, verbose }) =>
      Effect.suspend(() => {
        if (verbose && mempool_sequence) {
          return RpcError.invalidParameter("Verbose results cannot contain mempool sequence values.")
        }
        const entries = pool.entries()
        return Effect.succeed(
          mempool_sequence
            ? { txids: txidsOf(entries), mempool_sequence: pool.info().sequence }
            : listOf(pool, entries, verbose)
        )
      })
  })

  const getmempoolentry = method({
    name: "getmempoolentry",
    right: "read",
    group: "Mempool",
    summary: "Returns the mempool entry of a transaction.",
    params: { txid: hash("The transaction.") },
    results: [{ schema: POOL_ENTRY }],
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid }) => Effect.map(entryOf(pool, txid), (entry) => poolEntryJson(pool, entry))
  })

  const getmempoolancestors = method({
    name: "getmempoolancestors",
    right: "read",
    group: "Mempool",
    summary: "Lists all ancestors of a transaction in the mempool.",
    params: RELATIVES_PARAMS,
    results: RELATIVES,
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid, verbose }) =>
      Effect.map(
        entryOf(pool, txid),
        ({ transaction }) => listOf(pool, pool.ancestors(transaction.txidKey), verbose)
      )
  })

  const getmempooldescendants = method({
    name: "getmempooldescendants",
    right: "read",
    group: "Mempool",
    summary: "Lists all descendants of a transaction in the mempool.",
    params: RELATIVES_PARAMS,
    results: RELATIVES,
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid, verbose }) =>
      Effect.map(
        entryOf(pool, txid),
        ({ transaction }) => listOf(pool, pool.descendants(transaction.txidKey), verbose)
      )
  })

  const getmempoolcluster = method({
    name: "getmempoolcluster",
    right: "read",
    group: "Mempool",
    summary: "Returns the cluster of a transaction in the mempool: all transactions connected with it, in chunks in " +
      "mining order.",
    params: { txid: hash("The transaction.") },
    results: [{ schema: CLUSTER }],
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid }) =>
      Effect.map(entryOf(pool, txid), ({ transaction }) => clusterJson(pool.cluster(transaction.txidKey)))
  })

  const savemempool = method({
    name: "savemempool",
    writes: true,
    group: "Mempool",
    summary: "Saves the mempool to its file.",
    params: {},
    results: [{ schema: Schema.Struct({ filename: Result.string("The file") }) }],
    examples: [[]],
    errors: ["-1 The mempool was not loaded yet", "-1 Unable to dump mempool to disk"],
    handler: () =>
      Effect.suspend(() => {
        if (!pool.info().loaded) return RpcError.misc("The mempool was not loaded yet")
        return pool.save.pipe(
          Effect.map((filename) => ({ filename })),
          Effect.tapError((failure) => Effect.logError("the mempool cannot be saved", { reason: failure.message })),
          Effect.mapError(() => RpcError.misc("Unable to dump mempool to disk"))
        )
      })
  })

  const getmempoolfeeratediagram = method({
    name: "getmempoolfeeratediagram",
    right: "read",
    group: "Hidden",
    summary: "Returns the cumulative fees and weight of the mempool's chunks, best chunk first.",
    params: {},
    results: [{ schema: DIAGRAM }],
    examples: [[]],
    handler: () => Effect.sync(() => diagramJson(pool.chunks()))
  })

  return [
    getmempoolinfo,
    getrawmempool,
    getmempoolentry,
    getmempoolancestors,
    getmempooldescendants,
    getmempoolcluster,
    savemempool,
    getmempoolfeeratediagram
  ]
})
