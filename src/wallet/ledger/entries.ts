import { displayHash, fromHex, toHex } from "../../protocol/bytes.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"
import type { TransactionEntry, WalletDocument } from "../keys/WalletDocument.ts"
import { hasNotes, type LedgerEntry, type TransactionNotes } from "./LedgerEntry.ts"

/** What wallet.json keeps of transactions: those that are in no block, and what the owner noted. */

/** How an entry stands in the file. */
export const documentEntry = (entry: LedgerEntry): TransactionEntry => {
  const { abandoned, notes: { comment, commentTo, replacedBy, replaces }, order, time, transaction } = entry
  return {
    txid: displayHash(transaction.txid),
    hex: toHex(transaction.bytes),
    time,
    order,
    ...comment === undefined ? {} : { comment },
    ...commentTo === undefined ? {} : { commentTo },
    ...replaces === undefined ? {} : { replaces },
    ...replacedBy === undefined ? {} : { replacedBy },
    abandoned
  }
}

/** The notes of an entry of the file. */
export const notesOf = ({ comment, commentTo, replacedBy, replaces }: TransactionEntry): TransactionNotes => ({
  comment,
  commentTo,
  replaces,
  replacedBy
})

/** The transaction of an entry of the file; `undefined` for bytes that are none. */
export const ledgerTransactionOf = ({ hex }: TransactionEntry): Transaction | undefined => {
  const bytes = fromHex(hex)
  if (bytes === undefined) return undefined
  try {
    return decodeTransaction(bytes)
  } catch {
    return undefined
  }
}

/** Puts entries into a document, in the place of those with the same txid. */
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

/** Takes entries out of a document, by their txids as people see them. */
export const withoutEntries = (document: WalletDocument, txids: ReadonlySet<string>): WalletDocument => {
  const transactions = document.transactions.filter(({ txid }) => !txids.has(txid))
  return transactions.length === document.transactions.length ? document : { ...document, transactions }
}

/** Whether an entry stays in the file wherever the chain has it: the owner wrote a note on it. */
export const keptForGood = (entry: TransactionEntry): boolean => hasNotes(notesOf(entry))
