import { displayHash, toHex } from "../../protocol/bytes.ts"
import type { TransactionEntry, WalletDocument } from "../keys/WalletDocument.ts"
import { hasNotes, type LedgerEntry, type TransactionNotes } from "./LedgerEntry.ts"

/** Transactions in wallet.json: unconfirmed ones, and those with the owner's notes. */

export const documentEntry = (entry: LedgerEntry): TransactionEntry => {
  const { abandoned, lost, notes: { comment, commentTo, replacedBy, replaces }, order, time, transaction } = entry
  return {
    txid: displayHash(transaction.txid),
    hex: toHex(transaction.bytes),
    time,
    order,
    ...comment === undefined ? {} : { comment },
    ...commentTo === undefined ? {} : { commentTo },
    ...replaces === undefined ? {} : { replaces },
    ...replacedBy === undefined ? {} : { replacedBy },
    abandoned,
    ...lost ? { lost } : {}
  }
}

export const notesOf = ({ comment, commentTo, replacedBy, replaces }: TransactionEntry): TransactionNotes => ({
  comment,
  commentTo,
  replaces,
  replacedBy
})

/** Replaces entries with the same txid. */
export const withEntries = (
  document: WalletDocument,
  entries: ReadonlyArray<TransactionEntry>
): WalletDocument => {
  if (entries.length === 0) return document
  const fresh = new Map(entries.map((entry) => [entry.txid, entry]))
  const kept = document.transactions.map((entry) => {
    const next = fresh.get(entry.txid)
    fresh.delete(entry.txid)
    return next ?? entry
  })
  return { ...document, transactions: [...kept, ...fresh.values()] }
}

/** By txid in display order. */
export const withoutEntries = (document: WalletDocument, txids: ReadonlySet<string>): WalletDocument => {
  const transactions = document.transactions.filter(({ txid }) => !txids.has(txid))
  return transactions.length === document.transactions.length ? document : { ...document, transactions }
}

/** Entries with notes stay in the file at any depth. */
export const keptForGood = (entry: TransactionEntry): boolean => hasNotes(notesOf(entry))
