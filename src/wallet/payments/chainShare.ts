import type { Mempool } from "../../mempool/Mempool.ts"
import type { TxidKey } from "../../protocol/keys.ts"

/** Limit of older nodes on unconfirmed ancestors or descendants, itself included. Upstream `policy.h`. */
const MAX_RELATED = 25

/** The share of the mempool's limits that a payment with this coin would use; 0 outside the mempool. */
export const chainShare = (
  mempool: Pick<typeof Mempool.Service, "get" | "ancestors" | "cluster" | "policy">,
  parent: TxidKey
): number => {
  if (mempool.get(parent) === undefined) return 0
  const limit = Math.min(MAX_RELATED, mempool.policy.cluster.count)
  const cluster = mempool.cluster(parent).reduce((sum, { entries }) => sum + entries.length, 0)
  // The coin's transaction is its own ancestor, and the payment comes on top.
  return Math.max(mempool.ancestors(parent).length + 2, cluster + 1) / limit
}
