import type { Mempool } from "../../mempool/Mempool.ts"
import type { TxidKey } from "../../protocol/keys.ts"

/** The most unconfirmed ancestors or descendants, itself included, that older nodes take. Upstream `policy.h`. */
const MAX_RELATED = 25

/**
 * How much of the limits of dependent transactions a payment with a coin of an unconfirmed transaction would use: more
 * than 1 if the mempool would refuse it. 0 for a transaction that is not in the mempool.
 */
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
