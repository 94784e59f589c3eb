import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { secureRandom } from "../../base/entropy.ts"
import { peerTime } from "../../base/NodeClock.ts"
import { Pulse } from "../../base/pulse.ts"
import type { Random } from "../../base/random.ts"
import { Scheduler } from "../../base/Scheduler.ts"
import { Chain } from "../../chain/Chain.ts"
import type { ChainEvent } from "../../chain/ChainEvent.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { MempoolEvent } from "../../mempool/PoolEntry.ts"
import { transactions } from "../../metrics/metrics.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { type TxidKey, txidKey, type WtxidKey, wtxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer, PeerHandler } from "../Peer.ts"
import type { UploadTarget } from "../peer/UploadTarget.ts"
import type { PeerRelay } from "../peerInfo.ts"
import type { InventoryItem } from "../wire/messages/inv.ts"
import type { StoredOrphan } from "./Orphanage.ts"
import { makeReceiving } from "./receiving.ts"
import { askedForMempool, kindOf, makeRelayPeer, type RelayParts } from "./RelayPeer.ts"
import { TxAnnouncer } from "./TxAnnouncer.ts"
import { TxDownloads } from "./TxDownloads.ts"
import type { HashKind } from "./TxRequests.ts"

/** The transactions of the last block, which peers without that block may still request. */
class RecentTransactions {
  private byTxid: ReadonlyMap<TxidKey, Transaction> = new Map()
  private byWtxid: ReadonlyMap<WtxidKey, Transaction> = new Map()

  replace(transactions: ReadonlyArray<Transaction>): void {
    this.byTxid = new Map(transactions.map((transaction) => [transaction.txidKey, transaction]))
    this.byWtxid = new Map(transactions.map((transaction) => [wtxidKey(transaction.wtxid), transaction]))
  }

  find(kind: HashKind, hash: Bytes): Transaction | undefined {
    return kind === "wtxid" ? this.byWtxid.get(wtxidKey(hash)) : this.byTxid.get(txidKey(hash))
  }
}

export interface Relay extends PeerHandler {
  readonly messages: MessageParts["relay"]
  readonly relayOf: (peer: Peer) => PeerRelay
  /** `undefined` if the peer may not know that we have it. */
  readonly transactionFor: (peer: Peer, item: InventoryItem) => Transaction | undefined
  readonly orphans: () => ReadonlyArray<StoredOrphan>
}

export interface RelayOptions {
  readonly random?: Random
  /** Milliseconds between two ticks. */
  readonly interval?: number
  readonly blocksOnly?: boolean
  /** Whether all peers may set bloom filters and so ask for the mempool. */
  readonly bloom?: boolean
  readonly upload?: Pick<UploadTarget, "isReached">
}

/** A fraction of the shortest delay, in milliseconds. */
const INTERVAL = 250

/** Milliseconds, plus up to half (upstream `ReattemptInitialBroadcast`). */
const UNBROADCAST_INTERVAL = 10 * 60_000

export const make = (
  { blocksOnly = false, bloom = false, interval = INTERVAL, random = secureRandom(), upload }: RelayOptions = {}
): Effect.Effect<Relay, never, Chain | Mempool | Scheduler | SyncStatus | Scope.Scope> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const events = yield* chain.subscription
    const mempool = yield* Mempool
    const status = yield* SyncStatus
    const scheduler = yield* Scheduler
    const recent = new RecentTransactions()
    const downloads = new TxDownloads({
      has: (txid) => mempool.get(txid) !== undefined,
      hasWtxid: (wtxid) => mempool.getByWtxid(wtxid) !== undefined
    }, random)
    const retries = yield* Queue.sliding<void>(1)
    const time = yield* peerTime
    const pause = interval * (yield* Pulse)
    const monotonic = Effect.sync(() => Math.floor(time.now()))
    const states: RelayParts["states"] = new Map()
    const parts: RelayParts = { mempool, status, states, downloads, random, blocksOnly, monotonic }
    const announcer = new TxAnnouncer(parts)
    const { inventory, notFound, retryOrphans, takeRequests, transaction } = makeReceiving(parts, announcer)

    const tick = Effect.gen(function*() {
      if (states.size === 0) return
      const initialDownload = yield* status.initialDownload
      const now = yield* monotonic
      const first = yield* announcer.announceAll(now)
      for (const id of downloads.peersDue(now)) {
        const peer = states.get(id)?.peer
        if (peer !== undefined) { for (const message of takeRequests(peer, now)) peer.post(message) }
      }
      for (const state of states.values()) announcer.tellFeeFilter(state, initialDownload, now)
      transactions.of("relayed").increase(first.length)
      for (const { transaction } of first) {
        yield* Effect.logInfo("transaction relayed", { txid: displayHash(transaction.txid) })
      }
    })

    const onMempool = (event: MempoolEvent): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { transaction } = event.entry
        if (event._tag === "Removed") {
          announcer.removed(transaction)
          return Effect.void
        }
        announcer.arrived(transaction)
        downloads.accepted(transaction)
        announcer.enqueueForAll(event.entry)
        return Queue.offer(retries, undefined)
      })

    const onChain = (event: ChainEvent): Effect.Effect<void> =>
      Effect.gen(function*() {
        downloads.tipChanged()
        if (event._tag === "BlockDisconnected") return downloads.blockDisconnected()
        // During initial download, peers send no transactions.
        if (event.imported) return
        const block = yield* Effect.option(chain.block(event.block.hash))
        if (block._tag === "None") return
        const { transactions } = block.value
        recent.replace(transactions)
        downloads.blockConnected(transactions)
      })

    const inBackground = <E>(work: Effect.Effect<unknown, E>) =>
      work.pipe(
        Effect.tapErrorCause((cause) =>
          Cause.isInterruptedOnly(cause)
            ? Effect.void
            : Effect.logError("transaction relay stopped: internal error", cause)
        ),
        Effect.annotateLogs("subsystem", "mempool"),
        Effect.forkScoped
      )

    yield* mempool.listen(onMempool)
    yield* mempool.whenOffered((entry) => announcer.enqueueForAll(entry))
    yield* inBackground(Stream.runForEach(events, onChain))
    yield* inBackground(Effect.forever(Effect.zipRight(tick, time.sleep(pause))))
    yield* inBackground(Effect.forever(Effect.zipRight(Queue.take(retries), retryOrphans)))
    yield* scheduler.repeat(
      Effect.sync(() => announcer.enqueueUnbroadcast()),
      () => UNBROADCAST_INTERVAL * (1 + random() / 2)
    )

    const connected = (peer: Peer): Effect.Effect<void> =>
      Effect.gen(function*() {
        const now = yield* monotonic
        const state = makeRelayPeer(peer, { now, nextRound: announcer.nextRound(peer, now), random })
        states.set(peer.id, state)
        downloads.connected(peer.id, {
          preferred: !peer.inbound || peer.permissions.has("noban"),
          wtxidRelay: peer.hello.wtxidRelay,
          unlimited: peer.permissions.has("relay")
        })
        // At once, an inbound peer would know that they are our own.
        if (!peer.inbound) announcer.enqueueUnbroadcast([state])
        announcer.tellFeeFilter(state, yield* status.initialDownload, now)
      })

    /** Serves mempool entries that existed at the peer's last announcement, and all transactions of the last block. */
    const transactionFor = (peer: Peer, item: InventoryItem): Transaction | undefined => {
      const kind = kindOf(item)
      const entry = kind === "wtxid" ? mempool.getByWtxid(wtxidKey(item.hash)) : mempool.get(txidKey(item.hash))
      const sequence = states.get(peer.id)?.lastSequence ?? 0
      if (entry === undefined || entry.sequence >= sequence) return recent.find(kind, item.hash)
      const { txidKey: asked } = entry.transaction
      if (mempool.isUnbroadcast(asked)) mempool.broadcastDone(asked)
      return entry.transaction
    }

    return {
      connected,
      messages: {
        mempool: (peer) =>
          Effect.sync(() =>
            askedForMempool(peer, states.get(peer.id), { bloom, isUploadOver: upload?.isReached() === true })
          ),
        inv: (peer, { items }) => inventory(peer, items),
        tx: (peer, message) => transaction(peer, message.transaction),
        notfound: (peer, { items }) => Effect.sync(() => notFound(peer, items))
      },
      gone: (peer) =>
        Effect.sync(() => {
          states.delete(peer.id)
          downloads.gone(peer.id)
        }),
      relayOf: (peer) => {
        const state = states.get(peer.id)
        return {
          toAnnounce: state?.waiting.size ?? 0,
          lastSequence: state?.lastSequence ?? 0,
          lastTransaction: state?.lastTransaction ?? 0
        }
      },
      transactionFor,
      orphans: () => downloads.orphanList()
    }
  })
