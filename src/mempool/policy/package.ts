import { madeNameScripts } from "../../consensus/names.ts"
import { type OutpointKey, type TxidKey, txidKey } from "../../protocol/keys.ts"
import { outpointKey, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { type AcceptanceContext, type AcceptancePlan, checkFeeRate, planAcceptance } from "../acceptance.ts"
import { TransactionRejected } from "../errors.ts"
import { NamePool } from "../NamePool.ts"
import type { Pool } from "../Pool.ts"
import type { PoolEntry } from "../PoolEntry.ts"
import { refuse } from "../refusal.ts"
import { checkDustSpent } from "./dust.ts"
import { MAX_PACKAGE_COUNT, MAX_PACKAGE_WEIGHT } from "./limits.ts"
import { type PackagePayment, planPackageReplacement } from "./packageReplacement.ts"
import type { ClusterLimits, Policy } from "./Policy.ts"
import { checkTrucPackage } from "./truc.ts"

/** A package to accept once its scripts are checked. */
export interface PackagePlan {
  readonly plans: ReadonlyArray<AcceptancePlan>
  /** The transactions that it replaces, with their descendants, parents before children. */
  readonly replaced: ReadonlyArray<PoolEntry>
  readonly payment: PackagePayment
}

export interface PackageRefusal {
  /** The reference node's text. */
  readonly refused: string
  /** The refusal of the transaction to blame, if any. The others have no verdict. */
  readonly failed: TransactionRejected | undefined
}

export const ONE_FAILED = "transaction failed"

export const blame = (failed: TransactionRejected, refused = ONE_FAILED): PackageRefusal => ({ refused, failed })

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

/** What is wrong with a package by itself. Source: upstream `policy/packages.cpp`, `IsWellFormedPackage`. */
export const malformation = (transactions: ReadonlyArray<Transaction>): string | undefined => {
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

/** Merges a cluster into another if they share a transaction or `spent` has one of its transactions. */
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
    if (broken !== undefined) return refuse(transaction, "policy", broken)
  }
  return undefined
}

/** Whether the last transaction spends all others. Source: upstream `IsChildWithParents`. */
export const isChildWithParents = (transactions: ReadonlyArray<Transaction>): boolean => {
  const child = transactions.at(-1)
  if (child === undefined || transactions.length < 2) return false
  const spent = txidsSpentBy(child)
  return transactions.slice(0, -1).every(({ txidKey }) => spent.has(txidKey))
}

/** Whether this is a child with parents that do not spend each other. Source: upstream `IsChildWithParentsTree`. */
export const isChildWithParentsTree = (transactions: ReadonlyArray<Transaction>): boolean => {
  const parents = transactions.slice(0, -1)
  const txids = new Set(parents.map(({ txidKey }) => txidKey))
  return isChildWithParents(transactions) &&
    parents.every((parent) => [...txidsSpentBy(parent)].every((txid) => !txids.has(txid)))
}

/** Plans each transaction on its own, parents before children, or returns the first refusal. */
const planEach = (
  pool: Pool,
  transactions: ReadonlyArray<Transaction>,
  context: AcceptanceContext
): ReadonlyArray<AcceptancePlan> | TransactionRejected => {
  const before = new Map<TxidKey, Transaction>()
  // No two may register one name. The reference node stops where it adds the second.
  const names = new NamePool()
  const plans: Array<AcceptancePlan> = []
  for (const transaction of transactions) {
    if (names.refuses(transaction, madeNameScripts(transaction))) {
      return refuse(transaction, "conflict", { reason: "txn-mempool-name-error" })
    }
    const judged = planAcceptance(pool, transaction, { ...context, before })
    if (judged instanceof TransactionRejected) return judged
    before.set(transaction.txidKey, judged.entry.transaction)
    names.add(judged.entry)
    plans.push(judged)
  }
  return plans
}

const paymentOf = (plans: ReadonlyArray<AcceptancePlan>): PackagePayment => {
  let [modifiedFee, vsize] = [0, 0]
  for (const { entry } of plans) {
    modifiedFee += entry.modifiedFee
    vsize += entry.vsize
  }
  return { modifiedFee, vsize }
}

/**
 * Checks the transactions of a package except for their scripts. Those of a test must pay for themselves and replace
 * none. Source: upstream `validation.cpp`, `MemPoolAccept::AcceptMultipleTransactionsInternal`.
 */
export const planPackage = (
  pool: Pool,
  transactions: ReadonlyArray<Transaction>,
  context: AcceptanceContext
): PackagePlan | PackageRefusal => {
  const { origin, policy } = context
  const refused = (text: string): PackageRefusal => ({ refused: text, failed: undefined })
  const malformed = malformation(transactions)
  if (malformed !== undefined) return refused(malformed)
  const plans = planEach(pool, transactions, context)
  if (plans instanceof TransactionRejected) return blame(plans)
  const entries = plans.map(({ entry }) => entry)
  const truc = checkTrucPackage(pool, entries)
  if (truc !== undefined) return refused(`TRUC-violation, ${truc}`)
  const payment = paymentOf(plans)
  const last = entries.at(-1)
  const unpaid = origin === "package" && last !== undefined ? checkFeeRate(last, payment, context) : undefined
  if (unpaid !== undefined) return blame(unpaid)
  const replaced = planPackageReplacement(pool, plans, { payment, policy })
  if (typeof replaced === "string") return refused(replaced)
  if (!fitsClusters(pool, entries, policy.cluster)) return refused("too-large-cluster")
  const unspent = policy.requireStandard ? leftDust(pool, transactions, policy) : undefined
  return unspent === undefined ? { plans, replaced, payment } : blame(unspent, "unspent-dust")
}
