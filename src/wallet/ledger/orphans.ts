import { txidOf } from "../../protocol/keys.ts"
import type { Ledger } from "./Ledger.ts"
import type { LedgerEntry } from "./LedgerEntry.ts"

/**
 * Whether it depends on a block reward that a reorg orphaned, or on the coin of a name that expired: such a transaction
 * can never be valid again, unless the chain returns.
 */
export const dependsOnLost = (ledger: Pick<Ledger, "entry" | "spendsExpired">, entry: LedgerEntry): boolean => {
  const ancestors = new Set([entry])
  for (const ancestor of ancestors) {
    if (ledger.spendsExpired(ancestor)) return true
    for (const input of ancestor.inputs) {
      const parent = ledger.entry(txidOf(input))
      if (parent === undefined || parent.block !== undefined) continue
      if (parent.coinbase) return true
      ancestors.add(parent)
    }
  }
  return false
}

/** Abandoning them frees their other coins (upstream `CWallet::blockDisconnected`). */
export const dependentsOf = (
  ledger: Pick<Ledger, "withDescendants">,
  rewards: ReadonlyArray<LedgerEntry>
): ReadonlyArray<LedgerEntry> => {
  const found = new Set(rewards.flatMap(({ key }) => ledger.withDescendants(key)))
  return [...found].filter(({ abandoned, coinbase }) => !abandoned && !coinbase)
}

/**
 * What waits for a name that has expired meanwhile, with all that spends its outputs. Another name's coin may be among
 * what these keep, and its renewal would fail.
 */
export const lateUpdates = (
  ledger: Pick<Ledger, "spendsExpired" | "unconfirmed" | "withDescendants">
): ReadonlyArray<LedgerEntry> => {
  const late = ledger.unconfirmed().filter((entry) => entry.state.type === "inactive" && ledger.spendsExpired(entry))
  return dependentsOf(ledger, late).filter(waits)
}

type LostLedger = Pick<Ledger, "claimant" | "entry" | "refused" | "report" | "spendsExpired" | "unconfirmed">

/**
 * Abandons them until what they depend on is back, which frees their other coins. Undoes this for earlier ones that a
 * block may have again. Returns all that changed.
 */
export const settleLost = (ledger: LostLedger, lost: ReadonlyArray<LedgerEntry>): ReadonlyArray<LedgerEntry> => {
  for (const { key } of lost) ledger.report(key, { type: "inactive", abandoned: true, lost: true })
  return [...lost, ...takeUpAgain(ledger)]
}

/**
 * What waits again, because a reorg brought the coin back and no other transaction has a coin of it now, is offered
 * again. What the owner abandoned stays so, with all that spends its outputs.
 */
const takeUpAgain = (ledger: LostLedger): ReadonlyArray<LedgerEntry> => {
  const isPossible = (entry: LedgerEntry): boolean =>
    !dependsOnLost(ledger, entry) && entry.displacedBy.size === 0 &&
    ledger.claimant(entry.transaction) === undefined &&
    entry.inputs.every((input) => ledger.entry(txidOf(input))?.abandoned !== true)
  // Each takes its coins before the next one is looked at. Parents come first.
  return ledger.unconfirmed().filter((entry) => {
    if (!entry.lost || !isPossible(entry)) return false
    ledger.report(entry.key, { type: "inactive", abandoned: false })
    // No mempool has kept it.
    ledger.refused.add(entry.key)
    return true
  })
}

const waits = ({ state }: LedgerEntry): boolean => state.type === "inactive" && !state.abandoned
