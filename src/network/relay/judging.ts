import * as Effect from "effect/Effect"
import type { Mempool } from "../../mempool/Mempool.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { type Millis, type PeerId, wtxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Peer } from "../Peer.ts"
import type { Rejected, TxDownloads } from "./TxDownloads.ts"

/** Offers the transactions of peers to the mempool, and notes the verdicts. */

export interface JudgeParts {
  readonly mempool: typeof Mempool.Service
  readonly downloads: TxDownloads
  /** Milliseconds of a monotonic clock. */
  readonly now: Effect.Effect<Millis>
  /** A transaction of the peer was accepted at once. */
  readonly accepted: (peer: PeerId) => Effect.Effect<void>
  /** The peer sent a known transaction. */
  readonly again: (peer: PeerId, transaction: Transaction) => Effect.Effect<void>
  /** The peer must have these transactions: txids. */
  readonly knows: (peer: PeerId, txids: ReadonlyArray<Bytes>) => void
}

/** Validates a transaction of a peer; `retry` for an orphan. */
export type Judge = (peer: PeerId, transaction: Transaction, retry: boolean) => Effect.Effect<void>

/** The mempool has a transaction of a package with another witness. */
const OTHER_WITNESS = { kind: "conflict", reason: "txn-same-nonwitness-data-in-mempool" } as const

export interface Judging {
  readonly judge: Judge
  /** Validates the orphans of a peer whose parents arrived, before its next message, so that the work is its own. */
  readonly judgeOrphansOf: (peer: Peer) => Effect.Effect<void>
}

/** Judges one transaction at a time, so that none is judged twice at once. */
export const makeJudging = ({ accepted, again, downloads, knows, mempool, now }: JudgeParts): Judging => {
  const judging = Effect.unsafeMakeSemaphore(1)

  /** Notes a refusal. Returns an orphan that may pay for the transaction. */
  const noteRefused = (peer: PeerId, transaction: Transaction, refused: Omit<Rejected, "now">) =>
    Effect.gen(function*() {
      const facts = { txid: displayHash(transaction.txid), peer, reason: refused.refusal.reason }
      yield* Effect.logDebug("transaction refused", facts)
      const { child, parents } = downloads.rejected(peer, transaction, { ...refused, now: yield* now })
      // The peer sent the transaction, so it has the parents too.
      knows(peer, parents)
      return child
    })

  const noteUnjudged = (transaction: Transaction, { message }: StorageFailure): Effect.Effect<void> =>
    Effect.logError("transaction cannot be validated", { txid: displayHash(transaction.txid), reason: message })

  /** Validates a transaction that was refused for its fee, together with an orphan of the same peer. */
  const judgePackage = (peer: PeerId, parent: Transaction, child: Transaction): Effect.Effect<void> =>
    Effect.gen(function*() {
      const { outcomes, refused } = yield* mempool.submit([parent, child])
      yield* Effect.logDebug("package of a parent and a child judged", {
        parent: displayHash(parent.txid),
        child: displayHash(child.txid),
        peer,
        result: refused ?? "accepted"
      })
      if (refused !== undefined) downloads.packageRejected(parent, child)
      // The child first, so that it is no longer an orphan when its parent is noted.
      for (const transaction of [child, parent]) {
        const outcome = outcomes.get(wtxidKey(transaction.wtxid))
        if (outcome?.type === "rejected") {
          yield* noteRefused(peer, transaction, { refusal: outcome.rejected, retry: true })
        } else if (outcome?.type === "other-witness") {
          yield* noteRefused(peer, transaction, { refusal: OTHER_WITNESS, retry: true })
        }
      }
    }).pipe(Effect.catchAll((failure) => noteUnjudged(parent, failure)))

  /** Handles a known transaction, which may have been refused and have a child since. */
  const judgeAgain = (peer: PeerId, transaction: Transaction): Effect.Effect<void> =>
    Effect.gen(function*() {
      yield* again(peer, transaction)
      const child = downloads.childFor(peer, transaction)
      if (child !== undefined) yield* judgePackage(peer, transaction, child)
    })

  /** Validates a transaction of a peer with the mempool, and handles the result. */
  const judge: Judge = (peer, transaction, retry) =>
    Effect.gen(function*() {
      if (!retry && !downloads.isNews(transaction)) return yield* judgeAgain(peer, transaction)
      const result = yield* Effect.either(mempool.accept(transaction))
      if (result._tag === "Right") return retry ? undefined : yield* accepted(peer)
      const refusal = result.left
      if (refusal._tag !== "TransactionRejected") return yield* noteUnjudged(transaction, refusal)
      const child = yield* noteRefused(peer, transaction, { refusal, retry })
      if (child !== undefined) yield* judgePackage(peer, transaction, child)
    }).pipe(judging.withPermits(1), Effect.annotateLogs("subsystem", "mempool"))

  /** Waits for the transaction being judged now. */
  const idle = judging.withPermits(1)(Effect.void)

  const judgeOrphansOf = (peer: Peer): Effect.Effect<void> =>
    Effect.gen(function*() {
      for (let next = downloads.nextRetryOf(peer.id); next !== undefined && !peer.closed;) {
        yield* judge(peer.id, next, true)
        yield* peer.turn
        // An orphan of another peer may have been the parent of one of this peer.
        yield* idle
        next = downloads.nextRetryOf(peer.id)
      }
      yield* idle
    })

  return { judge, judgeOrphansOf }
}
