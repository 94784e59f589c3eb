import * as Effect from "effect/Effect"
import type { TransactionRejected } from "../../mempool/errors.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { TransactionEntry } from "../keys/WalletDocument.ts"
import { documentEntry, withEntries, withoutEntries } from "../ledger/entries.ts"
import type { Wallet } from "../Wallet.ts"
import { keyOfTxid, type LiveParts, nowInSeconds, shownTxid, update } from "./parts.ts"

/** Says anew where transactions in no block stand: what the mempool has is pending. */
export const followPool = ({ ledger, mempool }: Pick<LiveParts, "ledger" | "mempool">, txid: string): void => {
  const entry = ledger.entry(txid)
  if (entry === undefined || entry.state.type === "confirmed") return
  const inPool = mempool.get(txid) !== undefined
  if (inPool && entry.state.type !== "pending") ledger.setState(txid, { type: "pending" })
  if (!inPool && entry.state.type === "pending") ledger.setState(txid, { type: "inactive", abandoned: false })
}

/** The entry of the transaction that another replaces, noting that. */
const replacedEntry = (
  { ledger }: LiveParts,
  replaces: string | undefined,
  replacedBy: string
): ReadonlyArray<TransactionEntry> => {
  const entry = replaces === undefined ? undefined : ledger.entry(keyOfTxid(replaces) ?? "")
  return entry === undefined ? [] : [{ ...documentEntry(entry), replacedBy }]
}

/**
 * Keeps a transaction, then offers it to the mempool. It is on disk before anybody hears of it; where the mempool
 * refuses it, it is taken out again as if it had never been.
 */
export const makeCommit = (parts: LiveParts): Wallet["commit"] => {
  const { ledger, mempool, ring } = parts

  const keep = (transaction: Transaction, notes: NonNullable<Parameters<Wallet["commit"]>[1]>) =>
    Effect.gen(function*() {
      const time = yield* nowInSeconds
      const entry = ledger.put({ transaction, time, notes, state: { type: "inactive", abandoned: false } })
      const entries = [...replacedEntry(parts, notes.replaces, shownTxid(entry.key)), documentEntry(entry)]
      yield* Effect.tapError(
        update(parts, (document) => withEntries(ring.save(document), entries)),
        () => Effect.sync(() => ledger.remove(entry.key))
      )
    })

  /** Takes back what `keep` did. */
  const takeBack = (transaction: Transaction, replaces: string | undefined): Effect.Effect<void, StorageFailure> => {
    const txid = displayHash(transaction.txid)
    ledger.remove(transaction.txidKey)
    const replaced = replaces === undefined ? undefined : ledger.entry(keyOfTxid(replaces) ?? "")
    const entries = replaced === undefined ? [] : [documentEntry(replaced)]
    return update(parts, (document) => withEntries(withoutEntries(document, new Set([txid])), entries))
  }

  const offer = (
    transaction: Transaction,
    isNew: boolean,
    replaces: string | undefined
  ): Effect.Effect<void, TransactionRejected | StorageFailure> =>
    Effect.catchTag(Effect.asVoid(mempool.accept(transaction)), "TransactionRejected", (rejected) => {
      if (mempool.get(transaction.txidKey) !== undefined) return Effect.void
      return Effect.zipRight(isNew ? takeBack(transaction, replaces) : Effect.void, rejected)
    })

  return (transaction, notes = {}) =>
    Effect.gen(function*() {
      const { txid, txidKey } = transaction
      const before = ledger.entry(txidKey)
      if (before === undefined) yield* keep(transaction, notes)
      yield* offer(transaction, before === undefined, notes.replaces)
      followPool(parts, txidKey)
      if (notes.replaces !== undefined) {
        const replaced = keyOfTxid(notes.replaces)
        if (replaced !== undefined) {
          ledger.annotate(replaced, { replacedBy: displayHash(txid) })
          followPool(parts, replaced)
        }
      }
      mempool.broadcastLater(txidKey)
      if (before === undefined) yield* parts.publish({ _tag: "TransactionAdded", txid })
    }).pipe(Effect.uninterruptible)
}
