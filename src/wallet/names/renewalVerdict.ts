import { isExpired } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { NameEntry } from "../../names/NameEntry.ts"
import { type Bytes, equal } from "../../protocol/bytes.ts"
import type { RenewalEntry } from "../keys/registrationEntry.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import type { WalletTx } from "../ledger/WalletLedger.ts"
import type { Renewal } from "./WalletNames.ts"

/**
 * The state of a requested renewal, derived from the name's record and the wallet's transactions:
 *
 *     waiting ── NAME_UPDATE made ──▶ sent ── block ──▶ done
 *        └── another operation, another owner, or the expiry came first ──▶ skipped
 *
 * A NAME_UPDATE is made only while no wallet transaction spends the name's coin. So after a crash, the wallet finds the
 * NAME_UPDATE that it made and makes no second.
 */

/** The oldest are dropped first. */
const MAX_FINISHED = 1_000

export const RENEWAL_NOTES = {
  none: "the name is not registered",
  expired: "the name has expired: register it again",
  lost: "the name has another owner now",
  renewed: "another operation has renewed the name meanwhile",
  notHeld: "the wallet does not have the key of the name's owner",
  pending: "another operation on the name waits for a block",
  waitsForBlock: "waits for the block of its name_update",
  unsigned: "waits for a signature: sign its PSBT, and send it with sendpsbt",
  manyUnsigned: "waits until other renewals are signed and sent",
  notInPool: "its name_update waits to be offered again"
} as const

export interface RenewalFacts {
  readonly record: NameEntry | undefined
  /** The last block that the wallet has processed. */
  readonly height: number
  readonly params: ConsensusParams
  /** Whether the wallet has the key of the record's owner. */
  readonly isOwn: boolean
  readonly isPending: boolean
  /** Whether the record's transaction is the one that waited for a signature. It may come with its block. */
  readonly isSigned: boolean
  /** The wallet transaction that spends the record's coin. */
  readonly spender: WalletTx | undefined
}

export interface RenewalVerdict {
  readonly state: RenewalEntry["state"]
  readonly note: string
  readonly txid: Bytes | undefined
  readonly renews: boolean
}

const verdict = (
  state: RenewalEntry["state"],
  note: string,
  { renews = false, txid }: { readonly txid?: Bytes | undefined; readonly renews?: boolean } = {}
): RenewalVerdict => ({ state, note, txid, renews })

export const renewalVerdict = (entry: RenewalEntry, facts: RenewalFacts): RenewalVerdict => {
  const { height, isOwn, isPending, isSigned, params, record, spender } = facts
  const { txid } = entry
  if (record === undefined) return verdict("skipped", RENEWAL_NOTES.none)
  // The wallet has not processed this block: the record may be its own.
  if (record.height > height) return verdict(entry.state, entry.note, { txid })
  if (record.height !== entry.height) {
    // A lower height follows a reorg that removed an operation.
    if (isSigned || txid !== undefined && equal(record.txid, txid)) return verdict("done", "", { txid: record.txid })
    if (record.height > entry.height) return verdict("skipped", isOwn ? RENEWAL_NOTES.renewed : RENEWAL_NOTES.lost)
  }
  if (isExpired(record, height + 1, params)) return verdict("skipped", RENEWAL_NOTES.expired)
  if (spender !== undefined) {
    const note = spender.state.type === "pending" ? RENEWAL_NOTES.waitsForBlock : RENEWAL_NOTES.notInPool
    return verdict("sent", note, { txid: spender.transaction.txid })
  }
  if (!isOwn) return verdict("skipped", RENEWAL_NOTES.notHeld)
  if (isPending) return verdict("waiting", RENEWAL_NOTES.pending)
  return verdict("waiting", "", { renews: true })
}

export const isFinishedRenewal = ({ state }: Pick<RenewalEntry, "state">): boolean =>
  state === "done" || state === "skipped"

export const requestedRenewalOf = (
  { createdAt, height, name, note, state, txid }: RenewalEntry
): Omit<Renewal, "settled" | "unsigned"> => ({
  name,
  height,
  state,
  txid,
  note,
  createdAt
})

export const requestedIn = ({ requestedRenewals = [] }: WalletDocument): ReadonlyArray<RenewalEntry> =>
  requestedRenewals

/** Drops the oldest finished entries beyond the maximum. */
export const withRequested = (entries: ReadonlyArray<RenewalEntry>) => (document: WalletDocument): WalletDocument => {
  const { requestedRenewals: _, ...rest } = document
  let surplus = entries.filter(isFinishedRenewal).length - MAX_FINISHED
  const kept = entries.filter((entry) => !isFinishedRenewal(entry) || surplus-- <= 0)
  return kept.length === 0 ? rest : { ...rest, requestedRenewals: kept }
}

/**
 * The wallet makes no more NAME_UPDATEs for the names, not even for an abandoned one. A sent transaction stays valid.
 */
export const withdrawn = (isMeant: (name: Bytes) => boolean) => (document: WalletDocument): WalletDocument => {
  const entries = requestedIn(document)
  const kept = entries.filter((entry) => isFinishedRenewal(entry) || !isMeant(entry.name))
  return kept.length === entries.length ? document : withRequested(kept)(document)
}

export const withRenewalEntry = (after: RenewalEntry) => (document: WalletDocument): WalletDocument =>
  withRequested(
    requestedIn(document).map((entry) => equal(entry.name, after.name) && !isFinishedRenewal(entry) ? after : entry)
  )(document)
