import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { peerTime } from "../../base/NodeClock.ts"
import { type Random, secureRandom } from "../../base/random.ts"
import { Scheduler } from "../../base/Scheduler.ts"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { Chain } from "../../chain/Chain.ts"
import type { ChainEvent } from "../../chain/ChainEvent.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { MempoolEvent, PoolEntry } from "../../mempool/PoolEntry.ts"
import { transactions } from "../../metrics/metrics.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { type PeerId, txidKey, wtxidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer, PeerHandler } from "../Peer.ts"
import type { UploadTarget } from "../peer/UploadTarget.ts"
import type { PeerRelay } from "../peerInfo.ts"
import type { Message } from "../wire/message.ts"
import { hasItem, type InventoryItem, isTransactionItem, type ItemList, ItemType } from "../wire/messages/inv.ts"
import { itemOf, MiningOrder, RoundTimes, takeRound } from "./announcements.ts"
import { feeSteps, nextFeeFilter } from "./feeFilter.ts"
import { getdataItems, kindOf, knownHash } from "./items.ts"
import { makeJudging } from "./judging.ts"
import { mempoolAnswer } from "./mempoolAnswer.ts"
import type { StoredOrphan } from "./Orphanage.ts"
import { RecentTransactions } from "./RecentTransactions.ts"
import { askedForMempool, isRoundDue, makeRelayPeer, type RelayPeer } from "./RelayPeer.ts"
import { maySendTransactions } from "./relaysTransactions.ts"
import { TxDownloads } from "./TxDownloads.ts"
import { MAX_ANNOUNCEMENTS } from "./TxRequests.ts"

/** Relays transactions between peers (reference/protocol.md 6.9). */
export interface Relay extends PeerHandler {
  readonly messages: MessageParts["relay"]
  readonly relayOf: (peer: Peer) => PeerRelay
  /** The requested transaction, if the peer may know that we have it. */
  readonly transactionFor: (peer: Peer, item: InventoryItem) => Transaction | undefined
  /** Transactions that wait for their parents. */
  readonly orphans: () => ReadonlyArray<StoredOrphan>
}

export interface RelayOptions {
  /** Defaults to the system's random source. */
  readonly random?: Random
  /** Milliseconds between two ticks. */
  readonly interval?: number
  /** Whether only peers with the permission `relay` may send transactions. */
  readonly blocksOnly?: boolean
  /** Whether all peers may set bloom filters, and so ask for the mempool. */
  readonly bloom?: boolean
  /** What the node sends, against the operator's target. */
  readonly upload?: Pick<UploadTarget, "isReached">
}

/** Default milliseconds between two ticks: a fraction of the shortest delay. */
const INTERVAL = 250

/**
 * Own transactions that no peer requested are announced again after this time, plus up to half of it, milliseconds.
 * A task of the scheduler, as upstream (`net_processing.cpp`, `ReattemptInitialBroadcast`).
 */
const UNBROADCAST_INTERVAL = 10 * 60_000

/** Maximum items in a `getdata` (upstream `MAX_GETDATA_SZ`). */
const MAX_GETDATA = 1_000

/** Items of an `inv` processed between two turns of other peers. */
const ITEMS_IN_A_TURN = 100

/** Transactions sorted for announcement before other fibers get a turn. */
const ENTRIES_IN_A_TURN = 1_000

/** Lowest version that supports `feefilter` (reference/protocol.md 6.2). */
const FEE_FILTER_VERSION = 110_013

/** Maximum items processed of a `notfound`: the maximum in flight from a peer, including blocks. */
const MAX_NOT_FOUND = MAX_ANNOUNCEMENTS + 16

export const make = (
  { blocksOnly = false, bloom = false, interval = INTERVAL, random = secureRandom(), upload }: RelayOptions = {}
): Effect.Effect<Relay, never, Chain | Mempool | Scheduler | SyncStatus | Scope.Scope> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const mempool = yield* Mempool
    const status = yield* SyncStatus
    const scheduler = yield* Scheduler
    const states = new Map<PeerId, RelayPeer>()
    const recent = new RecentTransactions()
    const downloads = new TxDownloads({
      has: (txid) => mempool.get(txid) !== undefined,
      hasWtxid: (wtxid) => mempool.getByWtxid(wtxid) !== undefined
    }, random)
    const steps = feeSteps(mempool.info().incrementalFeeRate)
    const retries = yield* Queue.sliding<void>(1)
    /** Transactions not announced to any peer yet. */
    const untold = new Set(mempool.unbroadcast().map(({ transaction }) => transaction.txidKey))
    const time = yield* peerTime
    const monotonic = Effect.sync(() => Math.floor(time.now()))
    const times = new RoundTimes(random)

    // Requests and validation

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

    /** Relays a known transaction of a peer with `forcerelay` again: the node is the gateway of nodes behind it. */
    const relayAgain = (id: PeerId, { txid, txidKey }: Transaction): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (states.get(id)?.peer.permissions.has("forcerelay") !== true) return Effect.void
        const entry = mempool.get(txidKey)
        const facts = { txid: displayHash(txid), peer: id }
        if (entry === undefined) return Effect.logInfo("forced relay refused: not in the mempool", facts)
        for (const state of states.values()) enqueue(state, entry)
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
          // Checked before any lookup: the message may have the maximum number of items.
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

    /** Retries orphans whose parents arrived, one at a time. */
    const retryOrphans = Effect.gen(function*() {
      yield* Queue.take(retries)
      for (let next = downloads.nextRetry(); next !== undefined; next = downloads.nextRetry()) {
        yield* judge(next.peer, next.transaction, true)
        yield* turnOfEventLoop
      }
    })

    // Announcements

    const enqueue = (state: RelayPeer, { transaction }: PoolEntry): void => {
      if (!state.listens || state.known.has(knownHash(state.peer, transaction))) return
      state.waiting.add(transaction.txidKey)
    }

    /** Announces a round to a peer. Returns the transactions announced to a peer for the first time. */
    const announce = (state: RelayPeer, order: MiningOrder): ReadonlyArray<PoolEntry> => {
      const { known, peer, waiting } = state
      const { wtxidRelay } = peer.hello
      const { bloom, feeFilter } = peer.features
      const listener = { wtxidRelay, feeFilter, known, bloom }
      if (state.wantsAll) {
        state.wantsAll = false
        for (const message of mempoolAnswer(mempool.entries(), listener, waiting)) peer.post(message)
      }
      const round = takeRound(waiting, { pool: mempool, order, listener })
      if (round.length > 0) peer.post({ type: "inv", items: round.map((entry) => itemOf(entry, wtxidRelay)) })
      return round.filter(({ transaction }) => untold.delete(transaction.txidKey))
    }

    /** Announces to all peers that are due. Inbound peers share one time, so this yields between many transactions. */
    const announceAll = (now: number): Effect.Effect<ReadonlyArray<PoolEntry>> =>
      Effect.gen(function*() {
        const due = [...states.values()].filter((state) => isRoundDue(state, now))
        for (const state of due) if (state.nextRound <= now) state.nextRound = times.next(state.peer.inbound, now)
        const first: Array<PoolEntry> = []
        let order = new MiningOrder(mempool)
        let looked = 0
        for (const state of due) {
          looked += state.waiting.size
          first.push(...announce(state, order))
          state.lastSequence = mempool.info().sequence
          if (looked < ENTRIES_IN_A_TURN) continue
          yield* turnOfEventLoop
          looked = 0
          // The mempool may have changed.
          order = new MiningOrder(mempool)
        }
        return first
      })

    const announceUnbroadcast = Effect.sync(() => {
      for (const entry of mempool.unbroadcast()) for (const state of states.values()) enqueue(state, entry)
    })

    const tellFeeFilter = ({ feeFilter, peer }: RelayPeer, initialDownload: boolean, now: number): void => {
      // Peers send no transactions at all to a node that wants blocks only.
      if (blocksOnly) return
      // A peer whose transactions are relayed in any case should send them all.
      if (peer.permissions.has("forcerelay")) return
      if (peer.type === "block-relay-only" || peer.hello.commonVersion < FEE_FILTER_VERSION) return
      const { minFeeRate, minRelayFeeRate: floor } = mempool.info()
      // Without a mempool minimum above the floor there is nothing to round.
      const rate = minFeeRate > floor ? minFeeRate : 0
      const feeRate = nextFeeFilter(feeFilter, { rate, floor, initialDownload }, { steps, now, random })
      if (feeRate !== undefined) peer.post({ type: "feefilter", feeRate })
    }

    const tick = Effect.gen(function*() {
      if (states.size === 0) return
      const initialDownload = yield* status.initialDownload
      const now = yield* monotonic
      const first = yield* announceAll(now)
      for (const id of downloads.peersDue(now)) {
        const peer = states.get(id)?.peer
        if (peer !== undefined) { for (const message of takeRequests(peer, now)) peer.post(message) }
      }
      for (const state of states.values()) tellFeeFilter(state, initialDownload, now)
      transactions.of("relayed").increase(first.length)
      for (const { transaction } of first) {
        yield* Effect.logInfo("transaction relayed", { txid: displayHash(transaction.txid) })
      }
    })

    // Events of the mempool and the chain

    const onMempool = (event: MempoolEvent): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { transaction } = event.entry
        if (event._tag === "Removed") {
          untold.delete(transaction.txidKey)
          return Effect.void
        }
        untold.add(transaction.txidKey)
        downloads.accepted(transaction)
        for (const state of states.values()) enqueue(state, event.entry)
        return Queue.offer(retries, undefined)
      })

    const onChain = (event: ChainEvent): Effect.Effect<void> =>
      Effect.gen(function*() {
        downloads.tipChanged()
        if (event._tag === "BlockDisconnected") return downloads.blockDisconnected()
        // During initial download peers send no transactions.
        if (event.imported) return
        const block = yield* Effect.option(chain.block(event.block.hash))
        if (block._tag === "None") return
        const { transactions } = block.value
        recent.replace(transactions)
        downloads.blockConnected(transactions)
      })

    /** Runs a task while the relay is open, and logs an early end. */
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
    yield* mempool.whenOffered((entry) => {
      for (const state of states.values()) enqueue(state, entry)
    })
    yield* inBackground(Stream.runForEach(chain.events, onChain))
    yield* inBackground(Effect.forever(Effect.zipRight(tick, time.sleep(interval))))
    yield* inBackground(Effect.forever(retryOrphans))
    yield* scheduler.repeat(announceUnbroadcast, () => UNBROADCAST_INTERVAL * (1 + random() / 2))

    const connected = (peer: Peer): Effect.Effect<void> =>
      Effect.gen(function*() {
        const now = yield* monotonic
        const state = makeRelayPeer(peer, { now, nextRound: times.next(peer.inbound, now), random })
        states.set(peer.id, state)
        downloads.connected(peer.id, {
          preferred: !peer.inbound || peer.permissions.has("noban"),
          wtxidRelay: peer.hello.wtxidRelay,
          unlimited: peer.permissions.has("relay")
        })
        // An inbound peer gets the announcement in a round: at once it would know that they are our own.
        if (!peer.inbound) { for (const entry of mempool.unbroadcast()) enqueue(state, entry) }
        tellFeeFilter(state, yield* status.initialDownload, now)
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
