import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Mempool } from "../../mempool/Mempool.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
import { type TxidKey, txidKey } from "../../protocol/keys.ts"
import { mapSteps } from "../../protocol/steps.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import { itemsOf, lazily, LazyMap } from "../json/encodeJson.ts"
import { checkedInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import {
  boolean,
  hash,
  int32,
  longArray,
  namedOptions,
  object,
  optional,
  refined,
  withDefault
} from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import type { Members } from "../shapes/context.ts"
import { clusterJson, diagramJson, displayTxid, mempoolInfoJson, poolEntryJson } from "../shapes/mempool.ts"

/** Methods that return the contents of the mempool (reference/rpc.md 3.6 and parts of 3.10). */

const TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

const INFO = Schema.Struct({
  loaded: Result.boolean("Whether the saved mempool of the last run is loaded"),
  size: Result.integer("Transactions"),
  bytes: Result.integer("Their virtual bytes"),
  usage: Result.integer("Bytes of memory"),
  total_fee: Result.amount("Sum of their fees"),
  maxmempool: Result.integer("Maximum bytes of memory"),
  mempoolminfee: Result.amount("Current minimum fee per 1000 virtual bytes"),
  minrelaytxfee: Result.amount("The same while the mempool is not full"),
  incrementalrelayfee: Result.amount("Additional fee of a replacement per 1000 virtual bytes"),
  unbroadcastcount: Result.integer("Own transactions that no peer has requested yet"),
  fullrbf: Result.boolean("Whether transactions can be replaced without signaling it"),
  permitbaremultisig: Result.boolean("Whether bare multisig outputs are relayed"),
  maxdatacarriersize: Result.integer("Maximum bytes of null data in a transaction"),
  limitclustercount: Result.integer("Maximum transactions in a cluster"),
  limitclustersize: Result.integer("Maximum virtual bytes of a cluster"),
  optimal: Result.boolean("Whether all transactions are in optimal order")
})

const ENTRY = Schema.Struct({
  vsize: Result.integer("Virtual bytes, adjusted for signature operations"),
  weight: Result.integer("Weight units"),
  time: Result.time("Time at which it entered the mempool"),
  height: Result.integer("Height of the tip at that time"),
  descendantcount: Result.integer("Descendants, itself included"),
  descendantsize: Result.integer("Virtual bytes of the descendants"),
  ancestorcount: Result.integer("Ancestors, itself included"),
  ancestorsize: Result.integer("Virtual bytes of the ancestors"),
  wtxid: Result.hex("Its hash with witnesses"),
  chunkweight: Result.integer("Weight of its chunk, which a block takes as a whole"),
  fees: Schema.Struct({
    base: Result.amount("Fee of the transaction"),
    modified: Result.amount("Fee with the change by prioritisetransaction"),
    ancestor: Result.amount("Modified fees of its ancestors and itself"),
    descendant: Result.amount("Modified fees of its descendants and itself"),
    chunk: Result.amount("Modified fees of its chunk")
  }),
  depends: Schema.Array(Result.hex("Transactions of the pool whose outputs it spends")),
  spentby: Schema.Array(Result.hex("Transactions of the pool that spend its outputs")),
  "bip125-replaceable": Result.boolean("Whether it or one of its ancestors signals replacement"),
  unbroadcast: Result.boolean("Whether it is an own transaction that no peer has requested yet")
})

const CLUSTER = Schema.Struct({
  clusterweight: Result.integer("Weight of all transactions of the cluster"),
  txcount: Result.integer("Number of transactions"),
  chunks: Schema.Array(Schema.Struct({
    chunkfee: Result.amount("Modified fees of the chunk"),
    chunkweight: Result.integer("Weight of the chunk"),
    txs: Schema.Array(Result.hex("Transactions of the chunk in mining order"))
  }))
})

const TXIDS = Schema.Array(Result.hex("A transaction"))
const ENTRIES = Result.map("txid", ENTRY)

const SPENDING = Schema.Array(Schema.Struct({
  txid: Result.hex("The output's transaction"),
  vout: Result.integer("Its index"),
  spendingtxid: Schema.optional(Result.hex("The transaction of the pool that spends the output, if any")),
  spendingtx: Schema.optional(Result.hex("That transaction, if requested"))
}))

const NOT_IN_MEMPOOL = "-5 Transaction not in mempool"

const outputIndex = refined(int32("The index of the output."), (vout) => {
  if (vout < 0) return RpcError.invalidParameter("Invalid parameter, vout cannot be negative")
  return vout
})

export const mempoolMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool> = Effect.map(Mempool, (pool) => {
  const entryOf = (txid: Bytes): Effect.Effect<PoolEntry, RpcError> => {
    const entry = pool.get(txidKey(txid))
    return entry === undefined ? RpcError.invalidAddressOrKey("Transaction not in mempool") : Effect.succeed(entry)
  }

  const listOf = (entries: Iterable<PoolEntry>, verbose: boolean) =>
    verbose
      // Omits transactions that left the pool since the call began: their relatives are unknown now.
      ? new LazyMap(lazily([...entries], (entry): readonly [string, Members] | undefined =>
        pool.get(entry.transaction.txidKey) === entry
          ? [displayTxid(entry), poolEntryJson(pool, entry)]
          : undefined))
      : Array.from(entries, displayTxid)

  const getmempoolinfo = method({
    name: "getmempoolinfo",
    group: "Mempool",
    summary: "Returns the size and the limits of the mempool.",
    params: {},
    results: [{ schema: INFO }],
    examples: [[]],
    handler: () => Effect.sync(() => mempoolInfoJson(pool.info()))
  })

  const getrawmempool = method({
    name: "getrawmempool",
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
        const list = listOf(pool.entries(), verbose)
        return Effect.succeed(mempool_sequence ? { txids: list, mempool_sequence: pool.info().sequence } : list)
      })
  })

  const getmempoolentry = method({
    name: "getmempoolentry",
    group: "Mempool",
    summary: "Returns the mempool entry of a transaction.",
    params: { txid: hash("The transaction.") },
    results: [{ schema: ENTRY }],
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid }) => Effect.map(entryOf(txid), (entry) => poolEntryJson(pool, entry))
  })

  const relatives = (
    name: string,
    summary: string,
    of: (txid: TxidKey) => ReadonlyArray<PoolEntry>
  ): Method =>
    method({
      name,
      group: "Mempool",
      summary,
      params: {
        txid: hash("The transaction."),
        verbose: withDefault(boolean("Whether to return details instead of ids."), false)
      },
      results: [
        { when: "verbose is false", schema: TXIDS },
        { when: "verbose is true", schema: ENTRIES }
      ],
      examples: [[TXID]],
      errors: [NOT_IN_MEMPOOL],
      handler: ({ txid, verbose }) =>
        Effect.map(entryOf(txid), ({ transaction }) => listOf(of(transaction.txidKey), verbose))
    })

  const getmempoolancestors = relatives(
    "getmempoolancestors",
    "Lists all ancestors of a transaction in the mempool.",
    pool.ancestors
  )

  const getmempooldescendants = relatives(
    "getmempooldescendants",
    "Lists all descendants of a transaction in the mempool.",
    pool.descendants
  )

  const getmempoolcluster = method({
    name: "getmempoolcluster",
    group: "Mempool",
    summary: "Returns the cluster of a transaction in the mempool: all transactions connected with it, in chunks in " +
      "mining order.",
    params: { txid: hash("The transaction.") },
    results: [{ schema: CLUSTER }],
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid }) =>
      Effect.map(entryOf(txid), ({ transaction }) => clusterJson(pool.cluster(transaction.txidKey)))
  })

  const gettxspendingprevout = method({
    name: "gettxspendingprevout",
    group: "Mempool",
    summary: "Lists the transactions of the mempool that spend given outputs.",
    params: {
      outputs: longArray(
        object({ txid: hash("The output's transaction."), vout: outputIndex }, "An output.", "refuse"),
        "The outputs."
      ),
      options: optional(namedOptions({
        mempool_only: withDefault(
          boolean("Whether to search only the mempool. If false, an output unspent in it is an error: no index."),
          true
        ),
        return_spending_tx: withDefault(boolean("Whether to return the whole transactions."), false)
      }, "Options."))
    },
    results: [{ schema: SPENDING }],
    examples: [[[{ txid: TXID, vout: 0 }]], [[{ txid: TXID, vout: 0 }], { return_spending_tx: true }]],
    errors: [
      "-8 Invalid parameter, outputs are missing",
      "-8 Invalid parameter, vout cannot be negative",
      "-1 No spending tx for the outpoint <txid>:<vout> in mempool, and txospenderindex is unavailable."
    ],
    handler: ({ options, outputs }, { turns }) =>
      Effect.gen(function*() {
        const asked = yield* checkedInTurns(turns, outputs())
        if (asked.length === 0) {
          return yield* RpcError.invalidParameter("Invalid parameter, outputs are missing")
        }
        const spenders = yield* checkedInTurns(
          turns,
          mapSteps(asked, ({ txid, vout }) => {
            const spender = pool.spender(outpointKey(outpoint(txid, vout)))
            if (spender !== undefined || options?.mempool_only !== false) return spender
            throw RpcError.misc(
              `No spending tx for the outpoint ${displayHash(txid)}:${vout} in mempool, and txospenderindex is ` +
                "unavailable."
            )
          })
        )
        return itemsOf(asked, ({ txid, vout }, at): Members => {
          const spender = spenders[at]
          return {
            txid: displayHash(txid),
            vout,
            spendingtxid: spender && displayTxid(spender),
            spendingtx: options?.return_spending_tx === true && spender ? toHex(spender.transaction.bytes) : undefined
          }
        })
      })
  })

  const savemempool = method({
    name: "savemempool",
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
    group: "Hidden",
    summary: "Returns the cumulative fees and weight of the mempool's chunks, best chunk first.",
    params: {},
    results: [{
      schema: Schema.Array(Schema.Struct({
        weight: Result.integer("Weight of the chunks so far"),
        fee: Result.amount("Modified fees of the chunks so far")
      }))
    }],
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
    gettxspendingprevout,
    savemempool,
    getmempoolfeeratediagram
  ]
})
