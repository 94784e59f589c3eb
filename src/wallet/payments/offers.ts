import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { displayHash, fromHex, toHex } from "../../protocol/bytes.ts"
import { decodeTransaction, type Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { documentEntry, withEntries } from "../ledger/entries.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import { followPool } from "./commit.ts"
import type { WalletPayments } from "./WalletPayments.ts"

/** The transactions that the wallet offers to the mempool repeatedly: its own that the mempool lost, and the queue. */
export interface Offers extends Pick<WalletPayments, "queue" | "enqueue" | "dequeue"> {
  readonly step: Effect.Effect<void, StorageFailure>
}

/** The transaction of a queue entry; `undefined` if a wallet did not write it. */
const decoded = (hex: string): Transaction | undefined => {
  const bytes = fromHex(hex)
  if (bytes === undefined) return undefined
  try {
    return decodeTransaction(bytes)
  } catch {
    return undefined
  }
}

/** The result of an offer. */
type Outcome =
  | { readonly type: "in" }
  | { readonly type: "never"; readonly reason: string }
  | { readonly type: "later"; readonly reason: string }

export const makeOffers = (parts: WalletParts): Offers => {
  const { file, ledger, mempool } = parts

  const offer = (transaction: Transaction): Effect.Effect<Outcome, StorageFailure> =>
    mempool.accept(transaction).pipe(
      Effect.as<Outcome>({ type: "in" }),
      Effect.catchTag("TransactionRejected", ({ kind, reason }) => {
        if (mempool.get(transaction.txidKey) !== undefined) return Effect.succeed<Outcome>({ type: "in" })
        return Effect.succeed<Outcome>({ type: kind === "consensus" || kind === "witness" ? "never" : "later", reason })
      }),
      Effect.tap(({ type }) => Effect.sync(() => type === "in" && mempool.broadcastLater(transaction.txidKey)))
    )

  const queue = (): ReadonlyArray<Transaction> => file.document.queue.flatMap((hex) => decoded(hex) ?? [])

  const dropped = (transaction: Transaction) => {
    const hex = toHex(transaction.bytes)
    return (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.filter((line) => line !== hex)
  }

  /** Removes a transaction from the queue. A transaction of the wallet is stored like all others. */
  const leave = (transaction: Transaction): Effect.Effect<void, StorageFailure> =>
    Effect.gen(function*() {
      const time = yield* unixTime
      const without = dropped(transaction)
      const before = ledger.entry(transaction.txidKey)
      // After a failed write, the ledger has the transaction and the file does not.
      const ours = before?.state.type !== "confirmed" && ledger.spendsOwn(transaction)
        ? [before ?? ledger.put({ transaction, time, state: { type: "inactive", abandoned: false } })]
        : []
      followPool(parts, transaction.txidKey)
      yield* update(parts, (document) =>
        withEntries({ ...document, queue: without(document.queue) }, ours.map(documentEntry)))
    })

  const tryQueued = (transaction: Transaction): Effect.Effect<void, StorageFailure> =>
    Effect.gen(function*() {
      const txid = displayHash(transaction.txid)
      if (ledger.entry(transaction.txidKey)?.state.type === "confirmed") return yield* leave(transaction)
      const outcome = yield* offer(transaction)
      if (outcome.type === "in") {
        yield* leave(transaction)
        yield* Effect.logInfo("queued transaction sent", { txid })
      }
      if (outcome.type === "never") {
        const without = dropped(transaction)
        yield* update(parts, (document) => ({ ...document, queue: without(document.queue) }))
        yield* Effect.logWarning("queued transaction can never be valid and was dropped", {
          txid,
          reason: outcome.reason
        })
      }
    })

  const rebroadcast = Effect.gen(function*() {
    for (const entry of ledger.unconfirmed()) {
      followPool(parts, entry.key)
      const { coinbase, key, notes, state, transaction } = entry
      const offered = state.type === "inactive" && !state.abandoned && !coinbase && notes.replacedBy === undefined
      if (!offered || ledger.underway.has(key) || !ledger.isOurs(entry)) continue
      const outcome = yield* offer(transaction)
      followPool(parts, key)
      yield* Effect.logDebug("wallet transaction resubmitted", {
        txid: displayHash(transaction.txid),
        ...outcome.type === "in" ? {} : { refused: outcome.reason }
      })
    }
  })

  return {
    step: Effect.gen(function*() {
      yield* rebroadcast
      yield* Effect.forEach(queue(), tryQueued, { discard: true })
    }),
    queue,
    enqueue: (transaction) =>
      Effect.gen(function*() {
        const outcome = yield* offer(transaction)
        if (outcome.type === "in") return
        if (outcome.type === "never") {
          return yield* new InvalidWalletRequest({
            code: "not-eligible",
            reason: `Invalid transaction (${outcome.reason})`
          })
        }
        const hex = toHex(transaction.bytes)
        yield* update(parts, (document) =>
          document.queue.includes(hex) ? document : { ...document, queue: [...document.queue, hex] })
      }).pipe(Effect.uninterruptible),
    dequeue: (txid) =>
      Effect.suspend(() => {
        const found = queue().find(({ txidKey }) => txidKey === txid)
        if (found === undefined) return Effect.succeed(false)
        const without = dropped(found)
        return Effect.as(update(parts, (document) => ({ ...document, queue: without(document.queue) })), true)
      })
  }
}
