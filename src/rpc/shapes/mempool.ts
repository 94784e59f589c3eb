import * as Schema from "effect/Schema"
import type { Mempool, MempoolChunk, MempoolInfo } from "../../mempool/Mempool.ts"
import { virtualSize } from "../../mempool/policy/feeRate.ts"
import type { Policy } from "../../mempool/policy/Policy.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { Amount } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"

/** The mempool (reference/rpc.md 3.6). Source: upstream `rpc/mempool.cpp`. */

/** The highest sequence of an input that signals replacement (BIP 125). */
const MAX_REPLACEABLE_SEQUENCE = 0xfffffffd

export const displayTxid = ({ transaction }: PoolEntry): string => displayHash(transaction.txid)

export const MEMPOOL_INFO = Schema.Struct({
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

/** Source: `MempoolInfoToJSON`. */
export const mempoolInfoJson = (info: MempoolInfo, policy: Policy): Result.ValueOf<typeof MEMPOOL_INFO> => ({
  loaded: info.loaded,
  size: info.size,
  bytes: info.bytes,
  usage: info.usage,
  total_fee: new Amount(info.totalFee),
  maxmempool: info.maxUsage,
  mempoolminfee: new Amount(Math.max(info.minFeeRate, info.minRelayFeeRate)),
  minrelaytxfee: new Amount(info.minRelayFeeRate),
  incrementalrelayfee: new Amount(info.incrementalFeeRate),
  unbroadcastcount: info.unbroadcast,
  fullrbf: true,
  permitbaremultisig: policy.bareMultisig,
  maxdatacarriersize: policy.maxNullData,
  limitclustercount: policy.cluster.count,
  limitclustersize: virtualSize(policy.cluster.weight),
  optimal: true
})

const sumOf = (entries: ReadonlyArray<PoolEntry>, of: (entry: PoolEntry) => number): number => {
  let sum = 0
  for (const entry of entries) sum += of(entry)
  return sum
}

const vsizeOf = ({ vsize }: PoolEntry): number => vsize
const modifiedFeeOf = ({ modifiedFee }: PoolEntry): number => modifiedFee

const signalsReplacement = ({ transaction }: PoolEntry): boolean =>
  transaction.inputs.some(({ sequence }) => sequence <= MAX_REPLACEABLE_SEQUENCE)

export const POOL_ENTRY = Schema.Struct({
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

/** Source: `entryToJSON`. */
export const poolEntryJson = (
  pool: typeof Mempool.Service,
  entry: PoolEntry
): Result.ValueOf<typeof POOL_ENTRY> => {
  const { transaction } = entry
  const key = transaction.txidKey
  const ancestors = [...pool.ancestors(key), entry]
  const descendants = [entry, ...pool.descendants(key)]
  const chunk = pool.chunkOf(key)
  return {
    vsize: entry.vsize,
    weight: transaction.weight,
    time: entry.time,
    height: entry.height,
    descendantcount: descendants.length,
    descendantsize: sumOf(descendants, vsizeOf),
    ancestorcount: ancestors.length,
    ancestorsize: sumOf(ancestors, vsizeOf),
    wtxid: displayHash(transaction.wtxid),
    chunkweight: chunk?.weight ?? entry.weight,
    fees: {
      base: new Amount(entry.fee),
      modified: new Amount(entry.modifiedFee),
      ancestor: new Amount(sumOf(ancestors, modifiedFeeOf)),
      descendant: new Amount(sumOf(descendants, modifiedFeeOf)),
      chunk: new Amount(chunk?.fee ?? entry.modifiedFee)
    },
    depends: pool.parents(key).map(displayTxid).sort(),
    spentby: pool.children(key).map(displayTxid),
    "bip125-replaceable": ancestors.some(signalsReplacement),
    unbroadcast: pool.isUnbroadcast(key)
  }
}

export const CLUSTER = Schema.Struct({
  clusterweight: Result.integer("Weight of all transactions of the cluster"),
  txcount: Result.integer("Number of transactions"),
  chunks: Schema.Array(Schema.Struct({
    chunkfee: Result.amount("Modified fees of the chunk"),
    chunkweight: Result.integer("Weight of the chunk"),
    txs: Schema.Array(Result.hex("Transactions of the chunk in mining order"))
  }))
})

/** Source: `clusterToJSON`. */
export const clusterJson = (chunks: ReadonlyArray<MempoolChunk>): Result.ValueOf<typeof CLUSTER> => {
  let clusterweight = 0
  let txcount = 0
  for (const { entries, weight } of chunks) {
    clusterweight += weight
    txcount += entries.length
  }
  return {
    clusterweight,
    txcount,
    chunks: chunks.map(({ entries, fee, weight }) => ({
      chunkfee: new Amount(fee),
      chunkweight: weight,
      txs: entries.map(displayTxid)
    }))
  }
}

export const DIAGRAM = Schema.Array(Schema.Struct({
  weight: Result.integer("Weight of the chunks so far"),
  fee: Result.amount("Modified fees of the chunks so far")
}))

/** Cumulative weight and fees of a block of the best chunks. Source: `GetFeerateDiagram`. */
export const diagramJson = (chunks: ReadonlyArray<MempoolChunk>): Result.ValueOf<typeof DIAGRAM> => {
  let weight = 0
  let fee = 0
  const points = [{ weight, fee: new Amount(fee) }]
  for (const chunk of chunks) {
    weight += chunk.weight
    fee += chunk.fee
    points.push({ weight, fee: new Amount(fee) })
  }
  return points
}
