import * as Effect from "effect/Effect"
import { Mempool } from "../../mempool/Mempool.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { binaryString, type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
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
import { RpcError } from "../method/RpcError.ts"
import * as Shape from "../method/shape.ts"
import type { Members } from "../shapes/context.ts"
import { clusterJson, diagramJson, displayTxid, mempoolInfoJson, poolEntryJson } from "../shapes/mempool.ts"

/** Methods that show the mempool (reference/rpc.md 3.6, and of 3.10 what belongs to it). */

const TXID = "4fe1cfd5439d1fadb8cce35a4888595c161d7a1922d6191433b4d3e1d1030fa4"

const INFO = Shape.object({
  loaded: Shape.boolean("Whether what was kept from the last run has been taken in"),
  size: Shape.integer("Transactions"),
  bytes: Shape.integer("Their virtual bytes"),
  usage: Shape.integer("Bytes of memory"),
  total_fee: Shape.amount("Their fees"),
  maxmempool: Shape.integer("Bytes of memory, at most"),
  mempoolminfee: Shape.amount("What a transaction has to pay for 1000 virtual bytes to get in now"),
  minrelaytxfee: Shape.amount("The same while there is room"),
  incrementalrelayfee: Shape.amount("What a replacement has to pay more, for 1000 virtual bytes"),
  unbroadcastcount: Shape.integer("Transactions of our own that no peer asked for yet"),
  fullrbf: Shape.boolean("Whether a transaction can be replaced that does not announce it"),
  permitbaremultisig: Shape.boolean("Whether multisignature outputs without a hash are relayed"),
  maxdatacarriersize: Shape.integer("Bytes of null data in a transaction, at most"),
  limitclustercount: Shape.integer("Transactions in a cluster, at most"),
  limitclustersize: Shape.integer("Virtual bytes in a cluster, at most"),
  optimal: Shape.boolean("Whether all transactions are in the best order that can be found")
})

const ENTRY = Shape.object({
  vsize: Shape.integer("Virtual bytes, or what its signature operations count for"),
  weight: Shape.integer("Weight units"),
  time: Shape.time("When it came"),
  height: Shape.integer("Height of the tip when it came"),
  descendantcount: Shape.integer("Transactions that need it, itself included"),
  descendantsize: Shape.integer("Their virtual bytes"),
  ancestorcount: Shape.integer("Transactions that it needs, itself included"),
  ancestorsize: Shape.integer("Their virtual bytes"),
  wtxid: Shape.hex("Its hash with witnesses"),
  chunkweight: Shape.integer("Weight of the chunk that it would be mined with"),
  fees: Shape.object({
    base: Shape.amount("What it pays"),
    modified: Shape.amount("The same with what prioritisetransaction added"),
    ancestor: Shape.amount("Modified fees of all that it needs, its own included"),
    descendant: Shape.amount("Modified fees of all that need it, its own included"),
    chunk: Shape.amount("Modified fees of its chunk")
  }),
  depends: Shape.array(Shape.hex("Transactions of the pool that it spends from")),
  spentby: Shape.array(Shape.hex("Transactions of the pool that spend from it")),
  "bip125-replaceable": Shape.boolean("Whether it, or one that it needs, announces a replacement"),
  unbroadcast: Shape.boolean("Whether it is our own and no peer asked for it yet")
})

const CLUSTER = Shape.object({
  clusterweight: Shape.integer("Weight of all its transactions"),
  txcount: Shape.integer("How many there are"),
  chunks: Shape.array(Shape.object({
    chunkfee: Shape.amount("Modified fees of the chunk"),
    chunkweight: Shape.integer("Its weight"),
    txs: Shape.array(Shape.hex("Its transactions, in the order in which they would be mined"))
  }))
})

const TXIDS = Shape.array(Shape.hex("A transaction"))
const ENTRIES = Shape.map("txid", ENTRY)

const SPENDING = Shape.array(Shape.object({
  txid: Shape.hex("The output's transaction"),
  vout: Shape.integer("Its index"),
  spendingtxid: Shape.optional(Shape.hex("The transaction of the pool that spends it, if one does")),
  spendingtx: Shape.optional(Shape.hex("That transaction, where it was asked for"))
}))

const NOT_IN_MEMPOOL = "-5 Transaction not in mempool"

const outputIndex = refined(int32("The index of the output."), (vout) => {
  if (vout < 0) throw RpcError.invalidParameter("Invalid parameter, vout cannot be negative")
  return vout
})

export const mempoolMethods: Effect.Effect<ReadonlyArray<Method>, never, Mempool> = Effect.map(Mempool, (pool) => {
  const entryOf = (txid: Bytes): Effect.Effect<PoolEntry, RpcError> => {
    const entry = pool.get(binaryString(txid))
    return entry === undefined ? RpcError.invalidAddressOrKey("Transaction not in mempool") : Effect.succeed(entry)
  }

  const listOf = (entries: Iterable<PoolEntry>, verbose: boolean) =>
    verbose
      // What has left the pool since the call began is left out: its relatives are not known any more.
      ? new LazyMap(lazily([...entries], (entry): readonly [string, Members] | undefined =>
        pool.get(entry.transaction.txidKey) === entry
          ? [displayTxid(entry), poolEntryJson(pool, entry)]
          : undefined))
      : Array.from(entries, displayTxid)

  const getmempoolinfo = method({
    name: "getmempoolinfo",
    group: "Mempool",
    summary: "Returns size and limits of the mempool.",
    params: {},
    results: [{ shape: INFO }],
    examples: [[]],
    handler: () => Effect.sync(() => mempoolInfoJson(pool.info()))
  })

  const getrawmempool = method({
    name: "getrawmempool",
    group: "Mempool",
    heavy: true,
    summary: "Lists the transactions in the mempool.",
    params: {
      verbose: withDefault(boolean("Whether to tell more than their ids."), false),
      mempool_sequence: withDefault(boolean("Whether to add the mempool's sequence. Not together with verbose."), false)
    },
    results: [
      { when: "verbose is false", shape: TXIDS },
      { when: "verbose is true", shape: ENTRIES },
      {
        when: "mempool_sequence is true",
        shape: Shape.object({
          txids: TXIDS,
          mempool_sequence: Shape.integer("Counts what came and went; begins anew with each start")
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
    summary: "Returns what is known of a transaction in the mempool.",
    params: { txid: hash("The transaction.") },
    results: [{ shape: ENTRY }],
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid }) => Effect.map(entryOf(txid), (entry) => poolEntryJson(pool, entry))
  })

  const relatives = (
    name: string,
    summary: string,
    of: (txid: string) => ReadonlyArray<PoolEntry>
  ): Method =>
    method({
      name,
      group: "Mempool",
      summary,
      params: {
        txid: hash("The transaction."),
        verbose: withDefault(boolean("Whether to tell more than their ids."), false)
      },
      results: [
        { when: "verbose is false", shape: TXIDS },
        { when: "verbose is true", shape: ENTRIES }
      ],
      examples: [[TXID]],
      errors: [NOT_IN_MEMPOOL],
      handler: ({ txid, verbose }) =>
        Effect.map(entryOf(txid), ({ transaction }) => listOf(of(transaction.txidKey), verbose))
    })

  const getmempoolancestors = relatives(
    "getmempoolancestors",
    "Lists what a transaction needs of the mempool, directly or not.",
    pool.ancestors
  )

  const getmempooldescendants = relatives(
    "getmempooldescendants",
    "Lists what needs a transaction in the mempool, directly or not.",
    pool.descendants
  )

  const getmempoolcluster = method({
    name: "getmempoolcluster",
    group: "Mempool",
    summary: "Returns all that is connected with a transaction in the mempool, in the chunks in which it would be " +
      "mined.",
    params: { txid: hash("The transaction.") },
    results: [{ shape: CLUSTER }],
    examples: [[TXID]],
    errors: [NOT_IN_MEMPOOL],
    handler: ({ txid }) =>
      Effect.map(entryOf(txid), ({ transaction }) => clusterJson(pool.cluster(transaction.txidKey)))
  })

  const gettxspendingprevout = method({
    name: "gettxspendingprevout",
    group: "Mempool",
    summary: "Tells which transactions of the mempool spend outputs.",
    params: {
      outputs: longArray(
        object({ txid: hash("The output's transaction."), vout: outputIndex }, "An output.", { unknown: "refuse" }),
        "The outputs."
      ),
      options: optional(namedOptions({
        mempool_only: withDefault(
          boolean("Whether an output that nothing in the mempool spends is no error: there is no index to ask."),
          true
        ),
        return_spending_tx: withDefault(boolean("Whether to show the whole transactions."), false)
      }, "Options."))
    },
    results: [{ shape: SPENDING }],
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
    summary: "Writes the mempool to its file.",
    params: {},
    results: [{ shape: Shape.object({ filename: Shape.string("The file") }) }],
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
    summary: "Returns how fees grow with weight when the mempool is mined, best chunk first.",
    params: {},
    results: [{
      shape: Shape.array(Shape.object({
        weight: Shape.integer("Weight of all chunks so far"),
        fee: Shape.amount("Their modified fees")
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
