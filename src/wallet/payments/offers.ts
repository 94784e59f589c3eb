import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { unixTime } from "../../base/clock.ts"
import { displayHash, toHex } from "../../protocol/bytes.ts"
import { type TxidKey, txidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { InvalidWalletRequest } from "../errors.ts"
import { storedTransaction } from "../keys/documentParts.ts"
import { documentEntry, withEntries } from "../ledger/entries.ts"
import type { LedgerEntry } from "../ledger/LedgerEntry.ts"
import { update, type WalletParts } from "../WalletParts.ts"
import { followPool } from "./commit.ts"
import type { WalletPayments } from "./WalletPayments.ts"

/** What the wallet broadcasts repeatedly: its own transactions that the mempool lost, and the queue. */
export interface Offers extends Pick<WalletPayments, "queue" | "enqueue" | "dequeue"> {
  /** Runs at the start, after each block, and every minute. */
  readonly step: Effect.Effect<void, StorageFailure>
}

/**
 * Rebroadcast interval: 12 hours plus up to 24 at random. A peer that sees a repeated announcement by one node learns
 * its sender (upstream `CWallet::ShouldResend`).
 */
const LEAST_HOURS = 12
const SPREAD_HOURS = 24

/** Younger transactions may just be waiting. */
const SETTLED_SECONDS = 300

type Outcome =
  | { readonly type: "in" }
  | { readonly type: "never"; readonly reason: string }
  | { readonly type: "later"; readonly reason: string }

export const makeOffers = (parts: WalletParts): Offers => {
  const { chain, file, ledger, mempool, rules } = parts

  /** `forMining`: without announcing it to peers. */
  const offer = (transaction: Transaction, forMining = false): Effect.Effect<Outcome, StorageFailure> => {
    const { txidKey } = transaction
    const isIn: Outcome = { type: "in" }
    return mempool.accept(transaction).pipe(
      Effect.map(() => {
        if (!forMining) mempool.broadcastLater(txidKey)
        return isIn
      }),
      Effect.catchTag("TransactionRejected", ({ kind, reason }) => {
        // Peers that do not know it yet get it with the next round.
        if (mempool.get(txidKey) !== undefined) {
          return Effect.as(forMining ? Effect.void : mempool.announceAgain(txidKey), isIn)
        }
        return Effect.succeed<Outcome>({ type: kind === "consensus" || kind === "witness" ? "never" : "later", reason })
      })
    )
  }

  const queue = (): ReadonlyArray<Transaction> => file.document.queue.flatMap((hex) => storedTransaction(hex) ?? [])

  const dropped = (transaction: Transaction) => {
    const hex = toHex(transaction.bytes)
    return (lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.filter((line) => line !== hex)
  }

  /** A wallet transaction is stored like all others. */
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

  /** Transactions of automatic registrations must not miss their block. */
  const registering = (): ReadonlySet<TxidKey> =>
    new Set(
      file.document.registrations.flatMap(({ firstUpdateTxid, newTxid, value }) =>
        value === undefined ? [] : [newTxid, ...firstUpdateTxid === undefined ? [] : [firstUpdateTxid]].map(txidKey)
      )
    )

  const reoffer = (entry: LedgerEntry, forMining: boolean): Effect.Effect<void, StorageFailure> =>
    Effect.gen(function*() {
      const outcome = yield* offer(entry.transaction, forMining)
      if (outcome.type === "in") ledger.refused.delete(entry.key)
      followPool(parts, entry.key)
      yield* Effect.logDebug("wallet transaction resubmitted", {
        txid: displayHash(entry.transaction.txid),
        ...outcome.type === "in" ? {} : { refused: outcome.reason }
      })
    })

  type Choice = "leave" | "offer" | "announce"

  const reofferSome = (choose: (entry: LedgerEntry) => Choice): Effect.Effect<void, StorageFailure> =>
    Effect.gen(function*() {
      for (const entry of ledger.unconfirmed()) {
        followPool(parts, entry.key)
        const { coinbase, key, notes, state } = entry
        const isWaiting = state.type === "pending" || (state.type === "inactive" && !state.abandoned)
        if (!isWaiting || coinbase || notes.replacedBy !== undefined) continue
        if (ledger.underway.has(key) || !ledger.isOurs(entry)) continue
        const choice = choose(entry)
        if (choice !== "leave") yield* reoffer(entry, choice === "offer")
      }
    })

  /** Milliseconds since 1970; `undefined` before the first step. */
  let resendAt: number | undefined

  const rebroadcast = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const first = resendAt === undefined
    const due = resendAt !== undefined && now >= resendAt
    if (first || due) resendAt = now + 3_600_000 * (LEAST_HOURS + SPREAD_HOURS * (yield* Random.next))
    const { header } = yield* chain.tip
    const isSettled = ({ time }: LedgerEntry): boolean => time <= header.time - SETTLED_SECONDS
    if (due) return yield* reofferSome((entry) => isSettled(entry) ? "announce" : "leave")
    const automatic = registering()
    return yield* reofferSome((entry) => {
      if (entry.state.type === "pending") return "leave"
      if (ledger.refused.has(entry.key) || automatic.has(entry.key)) return "announce"
      // After a start the mempool may have lost it. No peer has seen anything younger than the tip.
      if (first) return isSettled(entry) ? "offer" : "announce"
      return "leave"
    })
  })

  return {
    step: Effect.gen(function*() {
      if (rules.walletBroadcast) yield* rebroadcast
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
