import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { unixTime } from "../../base/clock.ts"
import { rejectionText, type TransactionRejected } from "../../mempool/errors.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { shownTxid, type TxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import type { TransactionEntry } from "../keys/WalletDocument.ts"
import { documentEntry, withEntries, withoutEntries } from "../ledger/entries.ts"
import { dependsOnLost } from "../ledger/orphans.ts"
import { markUsed } from "../ledger/scanBlocks.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import type { WalletPayments } from "./WalletPayments.ts"

export const followPool = ({ ledger, mempool }: Pick<WalletParts, "ledger" | "mempool">, txid: TxidKey): void => {
  const entry = ledger.entry(txid)
  const inPool = mempool.get(txid) !== undefined
  if (entry === undefined || entry.block !== undefined || entry.pooled === inPool) return
  const lost = !inPool && dependsOnLost(ledger, entry)
  ledger.report(txid, inPool ? { type: "pending" } : { type: "inactive", abandoned: lost, lost })
}

const replacedEntry = (
  { ledger }: WalletParts,
  replaces: TxidKey | undefined,
  replacedBy: TxidKey
): ReadonlyArray<TransactionEntry> => {
  const entry = replaces === undefined ? undefined : ledger.entry(replaces)
  return entry === undefined ? [] : [{ ...documentEntry(entry), replacedBy: shownTxid(replacedBy) }]
}

const refuse = (reason: string): InvalidWalletRequest => new InvalidWalletRequest({ code: "not-eligible", reason })

const alreadySpent = (txid: Uint8Array): InvalidWalletRequest =>
  refuse(
    `a coin of this transaction is spent by another transaction of the wallet, ${displayHash(txid)}; try again`
  )

type CommitFailure = TransactionRejected | InvalidWalletRequest | StorageFailure

/**
 * On disk before any other part learns about it, then offered to the mempool. A refused transaction stays and is
 * offered again later (reference/rpc.md 5.7; upstream `CWallet::CommitTransaction`). It is removed without a trace if
 * the mempool fails, if it replaces another one, or if a reorg made it premature, so that the caller makes a new one.
 */
export const makeCommit = (parts: WalletParts): WalletPayments["commit"] => {
  const { ledger, mempool, ring, rules } = parts
  type Notes = NonNullable<Parameters<WalletPayments["commit"]>[1]>

  const keep = (transaction: Transaction, notes: Notes, time: number): Effect.Effect<void, CommitFailure> =>
    Effect.suspend((): Effect.Effect<void, CommitFailure> => {
      // No other fiber runs between this check and the claim by `put`.
      const claimant = ledger.claimant(transaction)
      const { keepPremature: _, replaces, ...comments } = notes
      if (claimant !== undefined && claimant.key !== replaces) return alreadySpent(claimant.transaction.txid)
      const entry = ledger.put({
        transaction,
        time,
        notes: replaces === undefined ? comments : { ...comments, replaces: shownTxid(replaces) },
        state: { type: "inactive", abandoned: false }
      })
      return Effect.onError(
        update(parts, (document) =>
          withEntries(ring.save(document), [
            ...replacedEntry(parts, replaces, entry.key),
            documentEntry(entry)
          ])),
        () => Effect.sync(() => ledger.remove(entry.key))
      )
    })

  /** Undoes `keep`, on disk first: a transaction that stays there is sent later. */
  const takeBack = (transaction: Transaction, replaces: TxidKey | undefined): Effect.Effect<void, StorageFailure> => {
    const txid = displayHash(transaction.txid)
    const write = update(parts, (document) => {
      const replaced = replaces === undefined ? undefined : ledger.entry(replaces)
      const entries = replaced === undefined ? [] : [documentEntry(replaced)]
      return withEntries(withoutEntries(document, new Set([txid])), entries)
    })
    return Effect.matchCauseEffect(write, {
      onSuccess: () => Effect.sync(() => ledger.remove(transaction.txidKey)),
      onFailure: (cause) => {
        ledger.refused.add(transaction.txidKey)
        const failure = Option.getOrUndefined(Cause.failureOption(cause))
        return new StorageUnavailable({
          file: parts.file.path,
          doing: "writing",
          reason: `${failure?.message ?? "unexpectedly"}. Transaction ${txid} was not sent and cannot be ` +
            "removed: it stays in the wallet and is sent later, unless it is abandoned"
        })
      }
    })
  }

  const keepRefused = (refusal: TransactionRejected, key: TxidKey): Effect.Effect<void> =>
    Effect.suspend(() => {
      ledger.refused.add(key)
      return Effect.logWarning("the mempool refuses a transaction of the wallet; it is offered again later", {
        txid: refusal.txid,
        reason: rejectionText(refusal)
      })
    })

  const offer = (
    transaction: Transaction,
    isNew: boolean,
    { keepPremature = false, replaces }: Notes
  ): Effect.Effect<void, TransactionRejected | StorageFailure> =>
    !rules.walletBroadcast ? Effect.void : Effect.catchAllCause(Effect.asVoid(mempool.accept(transaction)), (cause) => {
      if (mempool.get(transaction.txidKey) !== undefined) return Effect.void
      const failure = Option.getOrUndefined(Cause.failureOption(cause))
      const isKept = keepPremature || failure?._tag !== "TransactionRejected" || failure.kind !== "premature"
      if (failure?._tag === "TransactionRejected" && isKept && replaces === undefined) {
        return keepRefused(failure, transaction.txidKey)
      }
      return Effect.zipRight(isNew ? takeBack(transaction, replaces) : Effect.void, Effect.failCause(cause))
    })

  const send = (transaction: Transaction, notes: Notes): Effect.Effect<void, CommitFailure> =>
    Effect.gen(function*() {
      const { txid, txidKey } = transaction
      const time = yield* unixTime
      const isNew = !ledger.has(txidKey)
      if (isNew) yield* keep(transaction, notes, time)
      yield* offer(transaction, isNew, notes)
      // Written with the next change: the file has the transaction until it is settled.
      if (ledger.has(txidKey)) markUsed(ring, transaction)
      followPool(parts, txidKey)
      if (notes.replaces !== undefined) {
        ledger.annotate(notes.replaces, { replacedBy: displayHash(txid) })
        followPool(parts, notes.replaces)
      }
      if (rules.walletBroadcast) mempool.broadcastLater(txidKey)
      if (isNew) yield* parts.publish({ _tag: "TransactionAdded", txid })
    })

  // A concurrent second call could send a half-stored transaction that is then removed.
  return (transaction, notes = {}) =>
    Effect.uninterruptible(Effect.suspend(() => {
      const { txid, txidKey } = transaction
      if (ledger.underway.has(txidKey)) return refuse(`transaction ${displayHash(txid)} is being sent already`)
      ledger.underway.add(txidKey)
      return Effect.ensuring(send(transaction, notes), Effect.sync(() => ledger.underway.delete(txidKey)))
    })).pipe(Effect.withSpan("svcd.wallet.commit"))
}
