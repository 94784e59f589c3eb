import type { Mempool } from "../../mempool/Mempool.ts"
import { feeOf } from "../../mempool/policy/feeRate.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import { vsizeOf } from "./Candidate.ts"

/**
 * What a transaction must pay beyond its own fee to bring the unconfirmed `parents` it spends to its fee rate, smallest
 * units. Parents that miners take at that rate anyway do not count. Upstream `node/mini_miner.cpp`,
 * `CalculateTotalBumpFees`.
 */
export const bumpFeeOf = (
  mempool: Pick<typeof Mempool.Service, "get" | "ancestors" | "chunkOf">,
  parents: Iterable<TxidKey>,
  feeRate: number
): number => {
  const related = new Map<TxidKey, PoolEntry>()
  for (const parent of parents) {
    const entry = mempool.get(parent)
    if (entry === undefined || related.has(parent)) continue
    for (const each of [entry, ...mempool.ancestors(parent)]) related.set(each.transaction.txidKey, each)
  }
  let paid = 0
  let size = 0
  for (const [key, { modifiedFee, vsize }] of related) {
    const chunk = mempool.chunkOf(key)
    if (chunk !== undefined && chunk.fee >= feeOf(feeRate, vsizeOf(chunk.weight))) continue
    paid += modifiedFee
    size += vsize
  }
  return Math.max(0, feeOf(feeRate, size) - paid)
}
