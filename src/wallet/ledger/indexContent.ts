import { txidKey } from "../../protocol/keys.ts"
import { storedTransaction } from "../keys/documentParts.ts"
import type { KeyRing } from "../keys/KeyRing.ts"
import type { WalletDocument } from "../keys/WalletDocument.ts"
import type { WalletFile } from "../keys/WalletFile.ts"
import { notesOf } from "./entries.ts"
import type { IndexContent, IndexStore } from "./IndexStore.ts"
import type { Ledger } from "./Ledger.ts"
import { markUsed } from "./scanBlocks.ts"

/** Seconds since 1970. */
export const earliest = ({ birthday, imports, rescanFrom = birthday }: WalletDocument): number =>
  imports.reduce((least, { timestamp }) => Math.min(least, timestamp), Math.min(birthday, rescanFrom))

/** Each with the time of its possible first use. */
export const sourcesOf = ({ accounts, birthday, imports }: WalletDocument): ReadonlyMap<string, number> =>
  new Map([
    ...accounts.map(({ xpub }) => [xpub, birthday] as const),
    ...imports.map(({ descriptor, timestamp }) => [descriptor, timestamp] as const)
  ])

export const withoutRescan = (document: WalletDocument): WalletDocument => {
  if (document.rescanFrom === undefined) return document
  const { rescanFrom: _rescanFrom, ...rest } = document
  return rest
}

/** Upstream text (`wallet/rpc/transactions.cpp`, `rescanblockchain`). */
export const BEYOND_PRUNED =
  "Can't rescan beyond pruned data. Use RPC call getblockchaininfo to determine your pruned height."

/** Throws `StorageFailure`. */
export const load = (
  store: IndexStore,
  { file, ledger, ring }: { readonly file: WalletFile; readonly ledger: Ledger; readonly ring: KeyRing }
): void => {
  const rows = store.rows()
  const kept = file.document.transactions
    .flatMap((entry) => {
      const transaction = storedTransaction(entry.hex)
      return transaction === undefined ? [] : [{ entry, transaction }]
    })
    .sort((a, b) => a.entry.order - b.entry.order)
  // First use of an address extends the watched range, and the new scripts may have been used as well.
  for (let grew = true; grew;) {
    grew = false
    for (const { transaction } of rows) if (markUsed(ring, transaction, true)) grew = true
    for (const { transaction } of kept) if (markUsed(ring, transaction)) grew = true
  }
  for (const { blockTime, hash, height, order, position, time, transaction } of rows) {
    const state = { type: "confirmed", height, hash, index: position, blockTime } as const
    ledger.put({ transaction, time, order, state })
  }
  for (const { entry, transaction } of kept) {
    const notes = notesOf(entry)
    if (ledger.has(transaction.txidKey)) ledger.annotate(transaction.txidKey, notes)
    else {
      const state = { type: "inactive", abandoned: entry.abandoned, lost: entry.lost === true } as const
      ledger.put({ transaction, time: entry.time, order: entry.order, notes, state })
    }
  }
  for (const { height, txid } of store.conflicts()) ledger.conflict(txidKey(txid), height)
}

export const contentOf = (ledger: Ledger): IndexContent => ({
  rows: ledger.confirmedAbove(-1).flatMap(({ block, order, time, transaction }) => {
    if (block === undefined) return []
    const { blockTime, hash, height, index: position } = block
    const { bytes, txid } = transaction
    return [{ txid, bytes, height, hash, position, blockTime, time, order }]
  }),
  conflicts: ledger.unconfirmed().flatMap(({ forbiddenAt, transaction: { txid } }) =>
    Array.from(forbiddenAt, (height) => ({ txid, height }))
  ),
  cursor: ledger.tip.height < 0 ? undefined : ledger.tip
})
