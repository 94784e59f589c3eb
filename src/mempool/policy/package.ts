import { type OutpointKey, type TxidKey, txidKey } from "../../protocol/keys.ts"
import { outpointKey, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { type AcceptanceContext, type AcceptancePlan, planAcceptance } from "../acceptance.ts"
import { TransactionRejected } from "../errors.ts"
import type { Pool } from "../Pool.ts"
import type { PoolEntry } from "../PoolEntry.ts"
import { refuse } from "../refusal.ts"
import type { Trial } from "../Trial.ts"
import { checkDustSpent } from "./dust.ts"
import { MAX_PACKAGE_COUNT, MAX_PACKAGE_WEIGHT } from "./limits.ts"
import type { ClusterLimits, Policy } from "./Policy.ts"
import { checkTrucPackage } from "./truc.ts"

/** The result of a package before its script checks: the test results, or a plan for each transaction. */
export type JudgedPackage =
  | { readonly trials: ReadonlyArray<Trial> }
  | { readonly plans: ReadonlyArray<AcceptancePlan> }

const txidsSpentBy = ({ inputs }: Transaction): ReadonlySet<TxidKey> =>
  new Set(inputs.map(({ prevout }) => txidKey(prevoutTxid(prevout))))

/** Whether a transaction precedes one that it spends. */
const isUnsorted = (transactions: ReadonlyArray<Transaction>): boolean => {
  const later = new Set(transactions.map(({ txidKey }) => txidKey))
  return transactions.some((transaction) => {
    const unsorted = [...txidsSpentBy(transaction)].some((txid) => later.has(txid))
    later.delete(transaction.txidKey)
    return unsorted
  })
}

/** Whether two transactions spend the same outpoint, or one has no inputs. */
const isInconsistent = (transactions: ReadonlyArray<Transaction>): boolean => {
  const seen = new Set<OutpointKey>()
  return transactions.some(({ inputs }) => {
    const keys = inputs.map(({ prevout }) => outpointKey(prevout))
    if (keys.length === 0 || keys.some((key) => seen.has(key))) return true
    for (const key of keys) seen.add(key)
    return false
  })
}

/** Returns what is wrong with a package by itself. Source: upstream `policy/packages.cpp`, `IsWellFormedPackage`. */
const malformation = (transactions: ReadonlyArray<Transaction>): string | undefined => {
  if (transactions.length > MAX_PACKAGE_COUNT) return "package-too-many-transactions"
  const weight = transactions.reduce((sum, transaction) => sum + transaction.weight, 0)
  if (weight > MAX_PACKAGE_WEIGHT) return "package-too-large"
  if (new Set(transactions.map(({ txidKey }) => txidKey)).size < transactions.length) {
    return "package-contains-duplicates"
  }
  if (isUnsorted(transactions)) return "package-not-sorted"
  return isInconsistent(transactions) ? "conflict-in-package" : undefined
}

interface Cluster {
  readonly keys: Set<TxidKey>
  weight: number
}

/** Whether the clusters of the pool that a package joins stay within the limits. */
const fitsClusters = (pool: Pool, entries: ReadonlyArray<PoolEntry>, limits: ClusterLimits): boolean => {
  let clusters: Array<Cluster> = []
  for (const { transaction, weight } of entries) {
    const joined: Cluster = { keys: new Set([transaction.txidKey]), weight }
    for (const parent of pool.parentsOf(transaction)) {
      for (const key of pool.graph.cluster(parent)) {
        if (joined.keys.has(key)) continue
        joined.keys.add(key)
        joined.weight += pool.get(key)?.weight ?? 0
      }
    }
    const spent = txidsSpentBy(transaction)
    clusters = [joined, ...clusters.filter((cluster) => !absorb(pool, joined, { cluster, spent }))]
  }
  return clusters.every(({ keys, weight }) => keys.size <= limits.count && weight <= limits.weight)
}

/** A cluster, and the txids that a transaction beside it spends. */
interface Absorbed {
  readonly cluster: Cluster
  readonly spent: ReadonlySet<TxidKey>
}

/** Merges a cluster into another one if they share a transaction or `spent` contains one of its transactions. */
const absorb = (pool: Pool, into: Cluster, { cluster, spent }: Absorbed): boolean => {
  const keys = [...cluster.keys]
  if (!keys.some((key) => into.keys.has(key) || spent.has(key))) return false
  const common = keys.filter((key) => into.keys.has(key))
  into.weight += cluster.weight - common.reduce((sum, key) => sum + (pool.get(key)?.weight ?? 0), 0)
  for (const key of keys) into.keys.add(key)
  return true
}

/** The first transaction that leaves a parent's dust unspent. Source: upstream `CheckEphemeralSpends`. */
const leftDust = (pool: Pool, transactions: ReadonlyArray<Transaction>, { dustFeeRate }: Policy) => {
  for (const [index, transaction] of transactions.entries()) {
    const spent = txidsSpentBy(transaction)
    const within = transactions.slice(0, index).filter(({ txidKey }) => spent.has(txidKey))
    const around = pool.inOrder(spent).map((entry) => entry.transaction)
    const broken = checkDustSpent(transaction, [...within, ...around], dustFeeRate)
    if (broken !== undefined) return { index, rejected: refuse(transaction, "policy", broken) }
  }
  return undefined
}

/**
 * Checks the transactions of a package for a test, except for their scripts. Each has to pay for itself; none may
 * replace any. If one fails, the others get no result.
 * Source: upstream `validation.cpp`, `MemPoolAccept::AcceptMultipleTransactionsInternal`.
 */
export const judgePackage = (
  pool: Pool,
  transactions: ReadonlyArray<Transaction>,
  context: AcceptanceContext
): JudgedPackage => {
  const unjudged = (packageError?: string): Array<Trial> => transactions.map(() => ({ type: "unjudged", packageError }))
  const failing = (index: number, rejected: TransactionRejected): JudgedPackage => ({
    trials: unjudged().with(index, { type: "rejected", rejected })
  })
  const malformed = malformation(transactions)
  if (malformed !== undefined) return { trials: unjudged(malformed) }
  const before = new Map<TxidKey, Transaction>()
  const plans: Array<AcceptancePlan> = []
  for (const [index, transaction] of transactions.entries()) {
    const judged = planAcceptance(pool, transaction, { ...context, before })
    if (judged instanceof TransactionRejected) return failing(index, judged)
    before.set(transaction.txidKey, judged.entry.transaction)
    plans.push(judged)
  }
  const entries = plans.map(({ entry }) => entry)
  const truc = checkTrucPackage(pool, entries)
  if (truc !== undefined) return { trials: unjudged(`TRUC-violation, ${truc}`) }
  if (!fitsClusters(pool, entries, context.policy.cluster)) return { trials: unjudged("too-large-cluster") }
  const dust = context.policy.requireStandard ? leftDust(pool, transactions, context.policy) : undefined
  return dust === undefined ? { plans } : failing(dust.index, dust.rejected)
}
