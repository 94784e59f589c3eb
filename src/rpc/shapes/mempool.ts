import type { Mempool, MempoolChunk, MempoolInfo } from "../../mempool/Mempool.ts"
import { virtualSize } from "../../mempool/policy/feeRate.ts"
import { MAX_CLUSTER_COUNT, MAX_CLUSTER_WEIGHT, MAX_NULL_DATA } from "../../mempool/policy/limits.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { Amount } from "../json/encodeJson.ts"
import type { Members } from "./context.ts"

/** The mempool and its transactions (reference/rpc.md 3.6). Source: upstream `rpc/mempool.cpp`. */

/** The highest sequence of an input that signals replacement (BIP 125). */
const MAX_REPLACEABLE_SEQUENCE = 0xfffffffd

export const displayTxid = ({ transaction }: PoolEntry): string => displayHash(transaction.txid)

/** Figures of the pool. Source: `MempoolInfoToJSON`. */
export const mempoolInfoJson = (info: MempoolInfo): Members => ({
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
  permitbaremultisig: true,
  maxdatacarriersize: MAX_NULL_DATA,
  limitclustercount: MAX_CLUSTER_COUNT,
  limitclustersize: virtualSize(MAX_CLUSTER_WEIGHT),
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

/** One transaction of the pool. Source: `entryToJSON`. */
export const poolEntryJson = (pool: typeof Mempool.Service, entry: PoolEntry): Members => {
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

/** The chunks of a cluster. Source: `clusterToJSON`. */
export const clusterJson = (chunks: ReadonlyArray<MempoolChunk>): Members => {
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

/** The cumulative weight and fees of a block of the best chunks, chunk by chunk. Source: `GetFeerateDiagram`. */
export const diagramJson = (chunks: ReadonlyArray<MempoolChunk>): ReadonlyArray<Members> => {
  let weight = 0
  let fee = 0
  const points: Array<Members> = [{ weight, fee: new Amount(fee) }]
  for (const chunk of chunks) {
    weight += chunk.weight
    fee += chunk.fee
    points.push({ weight, fee: new Amount(fee) })
  }
  return points
}
