import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { Mempool } from "../../mempool/Mempool.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { type Millis, type PeerId, wtxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Peer } from "../Peer.ts"
import type { Message } from "../wire/message.ts"
import { hasItem, type InventoryItem, isTransactionItem, type ItemList, ItemType } from "../wire/messages/inv.ts"
import { getdataItems, kindOf, knownHash, type RelayParts } from "./RelayPeer.ts"
import { maySendTransactions } from "./relaysTransactions.ts"
import type { TxAnnouncer } from "./TxAnnouncer.ts"
import type { Rejected, TxDownloads } from "./TxDownloads.ts"
import { MAX_ANNOUNCEMENTS } from "./TxRequests.ts"

interface JudgeParts {
  readonly mempool: typeof Mempool.Service
  readonly downloads: TxDownloads
  /** Monotonic milliseconds. */
  readonly now: Effect.Effect<Millis>
  readonly accepted: (peer: PeerId) => Effect.Effect<void>
  readonly again: (peer: PeerId, transaction: Transaction) => Effect.Effect<void>
  readonly knows: (peer: PeerId, txids: ReadonlyArray<Bytes>) => void
}

/** `retry`: the transaction is an orphan. */
export type Judge = (peer: PeerId, transaction: Transaction, retry: boolean) => Effect.Effect<void>

/** The mempool has a transaction of a package with another witness. */
const OTHER_WITNESS = { kind: "conflict", reason: "txn-same-nonwitness-data-in-mempool" } as const

interface Judging {
  readonly judge: Judge
  /** Runs before the peer's next message, so that the work is charged to it. */
  readonly judgeOrphansOf: (peer: Peer) => Effect.Effect<void>
}

/** Judges one transaction at a time, so that none is judged twice at once. */
const makeJudging = ({ accepted, again, downloads, knows, mempool, now }: JudgeParts): Judging => {
  const judging = Effect.unsafeMakeSemaphore(1)

  /** Returns an orphan that may pay for the transaction. */
  const noteRefused = (peer: PeerId, transaction: Transaction, refused: Omit<Rejected, "now">) =>
    Effect.gen(function*() {
      const facts = { txid: displayHash(transaction.txid), peer, reason: refused.refusal.reason }
      yield* Effect.logDebug("transaction refused", facts)
      const { child, parents } = downloads.rejected(peer, transaction, { ...refused, now: yield* now })
      knows(peer, parents)
      return child
    })

  const noteUnjudged = (transaction: Transaction, { message }: StorageFailure): Effect.Effect<void> =>
    Effect.logError("transaction cannot be validated", { txid: displayHash(transaction.txid), reason: message })

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

  /** A known transaction may have been refused and have a child since. */
  const judgeAgain = (peer: PeerId, transaction: Transaction): Effect.Effect<void> =>
    Effect.gen(function*() {
      yield* again(peer, transaction)
      const child = downloads.childFor(peer, transaction)
      if (child !== undefined) yield* judgePackage(peer, transaction, child)
    })

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

/** Upstream `MAX_GETDATA_SZ`. */
const MAX_GETDATA = 1_000

/** Items of an `inv` processed between two turns of other peers. */
const ITEMS_IN_A_TURN = 100

/** The maximum in flight from a peer, including blocks. */
const MAX_NOT_FOUND = MAX_ANNOUNCEMENTS + 16

export interface Receiving {
  readonly inventory: (peer: Peer, items: ItemList) => Effect.Effect<void>
  readonly transaction: (peer: Peer, transaction: Transaction) => Effect.Effect<void>
  readonly notFound: (peer: Peer, items: ItemList) => void
  readonly takeRequests: (peer: Peer, now: number) => ReadonlyArray<Message>
  readonly retryOrphans: Effect.Effect<void>
}

export const makeReceiving = (parts: RelayParts, announcer: TxAnnouncer): Receiving => {
  const { blocksOnly, downloads, mempool, monotonic, states, status } = parts

  const takeRequests = (peer: Peer, now: number): ReadonlyArray<Message> => {
    const items = getdataItems(peer, downloads.requests(peer.id, now))
    const messages: Array<Message> = []
    for (let from = 0; from < items.length; from += MAX_GETDATA) {
      messages.push({ type: "getdata", items: items.slice(from, from + MAX_GETDATA) })
    }
    return messages
  }

  const sendRequests = (peer: Peer): Effect.Effect<void> =>
    Effect.flatMap(monotonic, (now) => Effect.forEach(takeRequests(peer, now), peer.send, { discard: true }))

  const noteAccepted = (peer: PeerId): Effect.Effect<void> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const state = states.get(peer)
      if (state !== undefined) state.lastTransaction = Math.floor(now / 1000)
    })

  /** Relays a known transaction of a peer with `forcerelay`, as the node is the gateway of nodes behind it. */
  const relayAgain = (id: PeerId, { txid, txidKey }: Transaction): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (states.get(id)?.peer.permissions.has("forcerelay") !== true) return Effect.void
      const entry = mempool.get(txidKey)
      const facts = { txid: displayHash(txid), peer: id }
      if (entry === undefined) return Effect.logInfo("forced relay refused: not in the mempool", facts)
      announcer.enqueueForAll(entry)
      return Effect.logInfo("transaction relayed again: the peer has the permission forcerelay", facts)
    })

  const { judge, judgeOrphansOf } = makeJudging({
    mempool,
    downloads,
    now: monotonic,
    accepted: noteAccepted,
    again: relayAgain,
    knows: (peer, txids) => {
      for (const txid of txids) states.get(peer)?.known.add(txid)
    }
  })

  const inventory = (peer: Peer, items: ItemList): Effect.Effect<void> =>
    Effect.gen(function*() {
      const other = peer.hello.wtxidRelay ? ItemType.tx : ItemType.wtx
      const isOffer = (item: InventoryItem): boolean => isTransactionItem(item) && item.type !== other
      if (!maySendTransactions(peer, blocksOnly)) {
        if (hasItem(items, isOffer)) {
          peer.disconnect({
            reason: "protocol violation: the peer announces transactions on a connection without transaction relay",
            misbehaving: false
          })
        }
        return
      }
      if (yield* status.initialDownload) return
      const state = states.get(peer.id)
      const now = yield* monotonic
      let looked = 0
      for (const item of items) {
        if (!isOffer(item)) continue
        // Before any lookup, as the message may have the maximum number of items.
        if (!downloads.hears(peer.id, looked)) break
        if (looked > 0 && looked % ITEMS_IN_A_TURN === 0) {
          yield* peer.turn
          if (peer.closed) return
        }
        looked += 1
        state?.known.add(item.hash)
        downloads.announced(peer.id, { hash: item.hash, kind: kindOf(item), now })
      }
      yield* sendRequests(peer)
    })

  const transaction = (peer: Peer, transaction: Transaction): Effect.Effect<void> =>
    Effect.gen(function*() {
      if (!maySendTransactions(peer, blocksOnly)) {
        return peer.disconnect({
          reason: "protocol violation: the peer sends transactions on a connection without transaction relay",
          misbehaving: false
        })
      }
      if (yield* status.initialDownload) return
      states.get(peer.id)?.known.add(knownHash(peer, transaction))
      downloads.received(peer.id, transaction)
      yield* judge(peer.id, transaction, false)
      yield* judgeOrphansOf(peer)
      // It may be an orphan whose parents the peer has.
      yield* sendRequests(peer)
    })

  const notFound = (peer: Peer, items: ItemList): void => {
    if (items.length > MAX_NOT_FOUND) return
    for (const item of items) if (isTransactionItem(item)) downloads.notFound(peer.id, item.hash, kindOf(item))
  }

  const retryOrphans = Effect.gen(function*() {
    for (let next = downloads.nextRetry(); next !== undefined; next = downloads.nextRetry()) {
      yield* judge(next.peer, next.transaction, true)
      yield* turnOfEventLoop
    }
  })

  return { inventory, transaction, notFound, takeRequests, retryOrphans }
}
