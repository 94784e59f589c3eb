import { formatMoney } from "../../protocol/amount.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import type { TransactionRejected } from "../errors.ts"
import type { Pool } from "../Pool.ts"
import type { PoolEntry } from "../PoolEntry.ts"
import { refuse } from "../refusal.ts"
import { feeOf } from "./feeRate.ts"
import { MAX_REPLACED_CLUSTERS } from "./limits.ts"
import type { ClusterLimits, Policy } from "./Policy.ts"

/** Replacement of transactions: full replace-by-fee, without a signal (reference/protocol.md 5.5). */

/** The transactions to replace, and the additional payment required. */
export interface Replacement {
  readonly leaving: ReadonlySet<TxidKey>
  /** Whether one of them is replaced only because its parent may have one child. */
  readonly evictsSibling: boolean
  readonly policy: Policy
}

/** Whether the cluster that a transaction would join or form is within the limits, with `without` removed. */
export const fitsCluster = (
  pool: Pool,
  { transaction, weight }: Pick<PoolEntry, "transaction" | "weight">,
  { limits, without }: { readonly without: ReadonlySet<TxidKey>; readonly limits: ClusterLimits }
): boolean => {
  const parents = [...pool.parentsOf(transaction)].filter((parent) => !without.has(parent))
  const cluster = pool.graph.clusterWith(parents, without, limits.count - 1)
  return cluster.count + 1 <= limits.count && cluster.weight + weight <= limits.weight
}

/** What replaces others: its id, for messages, and what it pays. */
interface Replacing extends Pick<PoolEntry, "modifiedFee" | "vsize"> {
  /** In display order. */
  readonly id: string
}

/** Rules 3 and 4 of BIP 125. Returns what is wrong. Source: upstream `policy/rbf.cpp`, `PaysForRBF`. */
export const underpays = (
  { id, modifiedFee, vsize }: Replacing,
  replaced: ReadonlyArray<PoolEntry>,
  incrementalFeeRate: number
): string | undefined => {
  const fees = replaced.reduce((sum, entry) => sum + entry.modifiedFee, 0)
  if (modifiedFee < fees) {
    return `rejecting replacement ${id}, less fees than conflicting txs; ${formatMoney(modifiedFee)} < ${
      formatMoney(fees)
    }`
  }
  const more = modifiedFee - fees
  const asked = feeOf(incrementalFeeRate, vsize)
  return more < asked
    ? `rejecting replacement ${id}, not enough additional fees to relay; ${formatMoney(more)} < ${formatMoney(asked)}`
    : undefined
}

/** Rule 5. Returns what is wrong. Source: upstream `policy/rbf.cpp`, `GetEntriesForConflicts`. */
export const tooManyClusters = (pool: Pool, id: string, leaving: ReadonlySet<TxidKey>): string | undefined => {
  const clusters = pool.graph.clustersAffected(leaving)
  return clusters > MAX_REPLACED_CLUSTERS
    ? `rejecting replacement ${id}; too many conflicting clusters (${clusters} > ${MAX_REPLACED_CLUSTERS})`
    : undefined
}

/**
 * Checks a replacement of `leaving`. Returns the transactions to remove, with their descendants. Source: upstream
 * `validation.cpp`, `MemPoolAccept::ReplacementChecks` and what follows.
 */
export const planReplacement = (
  pool: Pool,
  entry: PoolEntry,
  { evictsSibling, leaving, policy }: Replacement
): ReadonlyArray<PoolEntry> | TransactionRejected => {
  const { modifiedFee: fee, transaction, weight } = entry
  const { txidKey: key } = transaction
  const id = displayHash(transaction.txid)
  const also = evictsSibling ? " (including sibling eviction)" : ""
  const tooMany = tooManyClusters(pool, id, leaving)
  if (tooMany !== undefined) {
    return refuse(transaction, "policy", { reason: `too many potential replacements${also}`, detail: tooMany })
  }
  const removed = pool.withDescendants(leaving)
  const replaced = pool.inOrder(removed)
  const underpaid = underpays({ ...entry, id }, replaced, policy.incrementalFeeRate)
  if (underpaid !== undefined) {
    return refuse(transaction, "underpaid", { reason: `insufficient fee${also}`, detail: underpaid })
  }
  if (!fitsCluster(pool, entry, { without: removed, limits: policy.cluster })) {
    return refuse(transaction, "policy", { reason: "too-large-cluster" })
  }
  const parents = [...pool.parentsOf(transaction)].filter((parent) => !removed.has(parent))
  if (!pool.graph.improves(removed, [{ key, fee, weight, parents }])) {
    const detail = "insufficient feerate: does not improve feerate diagram"
    return refuse(transaction, "underpaid", { reason: "replacement-failed", detail })
  }
  const spent = spentConflict(pool, entry, leaving)
  if (spent === undefined) return replaced
  const detail = `${id} spends conflicting transaction ${displayHash(spent.transaction.txid)}`
  return refuse(transaction, "consensus", { reason: "bad-txns-spends-conflicting-tx", detail })
}

/** A transaction that the replacement both replaces and depends on. Source: upstream `EntriesAndTxidsDisjoint`. */
const spentConflict = (
  pool: Pool,
  { transaction }: PoolEntry,
  leaving: ReadonlySet<TxidKey>
): PoolEntry | undefined => {
  for (const parent of pool.parentsOf(transaction)) {
    for (const ancestor of [parent, ...pool.graph.ancestors(parent)]) {
      if (leaving.has(ancestor)) return pool.get(ancestor)
    }
  }
  return undefined
}
