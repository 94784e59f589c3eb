import type { TxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { Pool } from "../Pool.ts"
import type { PoolEntry } from "../PoolEntry.ts"
import { idsOf } from "../refusal.ts"

// Transactions of version 3 stay in small families, as protection against pinning: a parent and a child, both of that
// version (BIP 431; upstream `policy/truc_policy.cpp`). Name transactions have their own version and are not affected.

const TRUC_VERSION = 3

export const isTruc = (version: number): boolean => version === TRUC_VERSION

/** A transaction with its ancestors, or with its descendants (policy). */
const FAMILY = 2

/** Virtual bytes of any such transaction, and of one with an unconfirmed parent (policy). */
const MAX_VSIZE = 10_000
const MAX_CHILD_VSIZE = 1_000

/** The largest virtual size of a transaction by version, and whether it has an unconfirmed parent (policy). */
export const trucMaxVsize = (version: number, isChild: boolean): number => {
  if (!isTruc(version)) return Infinity
  return isChild ? MAX_CHILD_VSIZE : MAX_VSIZE
}

/** A violation, with the reference node's details. */
export interface TrucViolation {
  readonly detail: string
  /** The other child of the same parent, if it is the only obstacle and may be replaced. */
  readonly sibling: PoolEntry | undefined
}

const violation = (detail: string, sibling?: PoolEntry): TrucViolation => ({ detail, sibling })

/** The violation if only one of a parent and a child has version 3. */
const strangers = (transaction: Transaction, parent: Transaction): string | undefined => {
  if (isTruc(transaction.version) === isTruc(parent.version)) return undefined
  const [own, other] = isTruc(transaction.version)
    ? ["version=3", "non-version=3"]
    : ["non-version=3", "version=3"]
  return `${own} tx ${idsOf(transaction)} cannot spend from ${other} tx ${idsOf(parent)}`
}

const tooManyAncestors = (transaction: Transaction): string => `tx ${idsOf(transaction)} would have too many ancestors`

const tooManyDescendants = (parent: Transaction): string => `tx ${idsOf(parent)} would exceed descendant count limit`

type Sized = Pick<PoolEntry, "transaction" | "vsize">

const tooBig = ({ transaction, vsize }: Sized, what: string, limit: number): string =>
  `${what} tx ${idsOf(transaction)} is too big: ${vsize} > ${limit} virtual bytes`

const ancestorCount = (pool: Pool, { transaction: { txidKey } }: PoolEntry): number =>
  pool.graph.ancestors(txidKey).size

/** Whether a child of a pool transaction would be the third generation of its family. */
const isTooDeep = (pool: Pool, parent: PoolEntry): boolean => ancestorCount(pool, parent) + 2 > FAMILY

/** The transactions that take the place of a further child. */
const siblingsBelow = (pool: Pool, { transaction: { txidKey } }: PoolEntry): ReadonlySet<TxidKey> =>
  pool.graph.descendants(txidKey)

/**
 * Whether a new transaction of a version may spend outputs of a pool transaction, as far as that one decides: both or
 * neither are of version 3, and a family of version 3 has space for a child that replaces no other.
 */
export const trucTakesChild = (pool: Pool, parent: PoolEntry, version: number): boolean => {
  if (isTruc(version) !== isTruc(parent.transaction.version)) return false
  return !isTruc(version) || !isTooDeep(pool, parent) && siblingsBelow(pool, parent).size === 0
}

/**
 * Checks a transaction on its own. `replaced` are the transactions whose outpoints it also spends. Source: upstream
 * `SingleTRUCChecks`.
 */
export const checkTruc = (
  pool: Pool,
  entry: Sized,
  replaced: ReadonlySet<TxidKey>
): TrucViolation | undefined => {
  const { transaction, vsize } = entry
  const parents = pool.inOrder(pool.parentsOf(transaction))
  for (const parent of parents) {
    const broken = strangers(transaction, parent.transaction)
    if (broken !== undefined) return violation(broken)
  }
  if (!isTruc(transaction.version)) return undefined
  if (vsize > MAX_VSIZE) return violation(tooBig(entry, "version=3", MAX_VSIZE))
  const [parent] = parents
  if (parent === undefined) return undefined
  if (parents.length + 1 > FAMILY || isTooDeep(pool, parent)) {
    return violation(tooManyAncestors(transaction))
  }
  if (vsize > MAX_CHILD_VSIZE) return violation(tooBig(entry, "version=3 child", MAX_CHILD_VSIZE))
  const siblings = [...siblingsBelow(pool, parent)]
  if (siblings.length === 0 || siblings.some((sibling) => replaced.has(sibling))) return undefined
  // A reorg may have made a larger family. Upstream does not define which of several children to replace.
  const [only] = siblings
  const sibling = siblings.length === 1 && only !== undefined ? pool.get(only) : undefined
  const alone = sibling !== undefined && ancestorCount(pool, sibling) + 1 === FAMILY
  return violation(tooManyDescendants(parent.transaction), alone ? sibling : undefined)
}

interface Member {
  readonly entry: Sized
  /** Unconfirmed parents in the pool. */
  readonly parents: ReadonlyArray<PoolEntry>
  /** Parents among the members before it. */
  readonly within: ReadonlyArray<Transaction>
}

const checkMember = (pool: Pool, { entry, parents, within }: Member, all: ReadonlyArray<Transaction>) => {
  const { transaction, vsize } = entry
  if (!isTruc(transaction.version)) {
    const parent = [...parents.map((one) => one.transaction), ...within].find(({ version }) => isTruc(version))
    return parent === undefined ? undefined : strangers(transaction, parent)
  }
  const [first] = parents
  const before = first === undefined ? 0 : ancestorCount(pool, first) + 1
  if (Math.max(before, parents.length) + within.length + 1 > FAMILY) return tooManyAncestors(transaction)
  const parent = first?.transaction ?? within[0]
  if (parent === undefined) return undefined
  if (vsize > MAX_CHILD_VSIZE) return tooBig(entry, "version=3 child", MAX_CHILD_VSIZE)
  const broken = strangers(transaction, parent)
  if (broken !== undefined) return broken
  for (const other of all) {
    if (other === transaction) continue
    if (spends(other, parent)) return tooManyDescendants(parent)
    if (spends(other, transaction)) return tooManyAncestors(other)
  }
  return first !== undefined && pool.graph.descendants(parent.txidKey).size > 0
    ? tooManyDescendants(parent)
    : undefined
}

const spends = (transaction: Transaction, parent: Transaction): boolean =>
  transaction.inputs.some(({ prevout }) => parent.txid.every((byte, i) => prevout[i] === byte))

/**
 * Checks the transactions of a package, parents before children, after each passed `checkTruc`. Returns the first
 * violation. Source: upstream `PackageTRUCChecks`.
 */
export const checkTrucPackage = (pool: Pool, entries: ReadonlyArray<PoolEntry>): string | undefined => {
  const all = entries.map(({ transaction }) => transaction)
  for (const [i, entry] of entries.entries()) {
    const parents = pool.inOrder(pool.parentsOf(entry.transaction))
    const within = all.slice(0, i).filter((other) => spends(entry.transaction, other))
    const broken = checkMember(pool, { entry, parents, within }, all)
    if (broken !== undefined) return broken
  }
  return undefined
}
