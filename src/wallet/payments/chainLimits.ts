import type { Mempool } from "../../mempool/Mempool.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import { txidKey } from "../../protocol/keys.ts"
import { prevoutTxid, type Transaction } from "../../protocol/transaction.ts"

/**
 * Whether a transaction would depend on more unconfirmed transactions than the mempool takes (`-walletrejectlongchains`).
 * Upstream `node/interfaces.cpp`, `checkChainLimits`.
 */
export const isTooLongChain = (
  mempool: Pick<typeof Mempool.Service, "get" | "cluster" | "policy">,
  { inputs, weight }: Transaction
): boolean => {
  const { cluster: limits } = mempool.policy
  const known = new Set<TxidKey>()
  let total = weight
  for (const { prevout } of inputs) {
    const parent = txidKey(prevoutTxid(prevout))
    if (known.has(parent) || mempool.get(parent) === undefined) continue
    for (const { entries } of mempool.cluster(parent)) {
      for (const { transaction } of entries) {
        if (known.has(transaction.txidKey)) continue
        known.add(transaction.txidKey)
        total += transaction.weight
      }
    }
  }
  return known.size + 1 > limits.count || total > limits.weight
}
