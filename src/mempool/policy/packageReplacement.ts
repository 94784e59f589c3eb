import { COIN } from "../../protocol/amount.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import type { AcceptancePlan } from "../acceptance.ts"
import { rejectionText, type TransactionRejected } from "../errors.ts"
import type { Pool } from "../Pool.ts"
import type { PoolEntry } from "../PoolEntry.ts"
import { compareRates, rateOf } from "./feeRate.ts"
import type { Policy } from "./Policy.ts"
import { tooManyClusters, underpays } from "./replacement.ts"

/** Replacement by a parent and the child that pays for it (upstream `MemPoolAccept::PackageRBFChecks`). */

export interface PackagePayment {
  readonly modifiedFee: number
  readonly vsize: number
}

const rateText = (payment: PackagePayment): string => {
  const rate = rateOf({ fee: payment.modifiedFee, vsize: payment.vsize })
  return `${Math.floor(rate / COIN)}.${String(rate % COIN).padStart(8, "0")} NMC/kvB`
}

const failed = ({ detail, reason }: Pick<TransactionRejected, "detail" | "reason">): string =>
  rejectionText({ reason: `package RBF failed: ${reason}`, detail })

/** Refuses a child that pays only for the replacement and not for its parent, as they must be mined together. */
const checkRates = (parent: PoolEntry, payment: PackagePayment): string | undefined => {
  const order = compareRates({ fee: payment.modifiedFee, weight: payment.vsize }, {
    fee: parent.modifiedFee,
    weight: parent.vsize
  })
  return order > 0 ? undefined : failed({
    reason: "package feerate is less than or equal to parent feerate",
    detail: `package feerate ${rateText(payment)} <= parent feerate is ${rateText(parent)}`
  })
}

/**
 * Returns the transactions that a package replaces, parents before children, none without conflicts; or the refusal of
 * the package.
 */
export const planPackageReplacement = (
  pool: Pool,
  plans: ReadonlyArray<AcceptancePlan>,
  { payment, policy }: { readonly payment: PackagePayment; readonly policy: Policy }
): ReadonlyArray<PoolEntry> | string => {
  const leaving = new Set<TxidKey>()
  for (const { conflicts } of plans) for (const key of conflicts) leaving.add(key)
  if (leaving.size === 0) return []
  const [first, last, ...more] = plans
  if (first === undefined || last === undefined || more.length > 0) {
    return failed({ reason: "package must be 1-parent-1-child" })
  }
  if ([first, last].some(({ entry }) => pool.parentsOf(entry.transaction).size > 0)) {
    return failed({ reason: "new transaction cannot have mempool ancestors" })
  }
  const [parent, child] = [first.entry, last.entry]
  const id = displayHash(child.transaction.txid)
  const tooMany = tooManyClusters(pool, id, leaving)
  if (tooMany !== undefined) return failed({ reason: "too many potential replacements", detail: tooMany })
  const removed = pool.withDescendants(leaving)
  const replaced = pool.inOrder(removed)
  const underpaid = underpays({ id, ...payment }, replaced, policy.incrementalFeeRate)
  if (underpaid !== undefined) return failed({ reason: "insufficient anti-DoS fees", detail: underpaid })
  const unequal = checkRates(parent, payment)
  if (unequal !== undefined) return unequal
  const added = [parent, child].map(({ modifiedFee: fee, transaction, weight }) => ({
    key: transaction.txidKey,
    fee,
    weight,
    parents: transaction === child.transaction ? [parent.transaction.txidKey] : []
  }))
  return pool.graph.improves(removed, added)
    ? replaced
    : failed({ reason: "insufficient feerate: does not improve feerate diagram" })
}
