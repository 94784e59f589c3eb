import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { randomBytes } from "../../base/entropy.ts"
import { peerTime } from "../../base/NodeClock.ts"
import { Pulse } from "../../base/pulse.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer, PeerHandler } from "../Peer.ts"
import { FiberTime } from "../peer/FiberTime.ts"
import { ownTime } from "../peer/threadTime.ts"
import type { PeerSync } from "../peerInfo.ts"
import { hasItem, isBlockItem, type ItemList } from "../wire/messages/inv.ts"
import { BlockDownload } from "./BlockDownload.ts"
import { BlockOrder } from "./BlockOrder.ts"
import { writeBlocks } from "./BlockWriter.ts"
import { ChainSyncTimers } from "./ChainSyncTimers.ts"
import type { FetchOutcome } from "./directFetch.ts"
import { HeaderSync } from "./HeaderSync.ts"
import { HighBandwidth } from "./HighBandwidth.ts"
import { MOST_UNREQUESTED } from "./incomingBlocks.ts"
import { MissingBlocks } from "./missingBlocks.ts"
import { Slots } from "./Slots.ts"
import type { SyncContext, SyncParts, SyncView } from "./SyncContext.ts"
import { type SyncEvent, SyncLoop, type SyncMessage, TICK } from "./SyncLoop.ts"
import { blockReception } from "./unsolicitedBlocks.ts"

/**
 * Follows the chain with the most work: headers first, then blocks from all peers.
 *
 * ```
 * peers ─ received ─► events ─► loop ─ getheaders, getdata, announcements ─► peers
 *                        ▲          └─ blocks ─► block order ─► writer ─► ChainSink.deliver
 *                        └──────────────────── verdicts ──────────┘
 * ```
 *
 * The loop is one fiber and owns all state. The fibers of peers only read it (`SyncView`), except that they take slots
 * for unsolicited blocks. The loop never waits for the writer: the capacity of the block order limits the requests.
 * Peers wait for the loop.
 */
export interface SyncManager extends PeerHandler {
  readonly messages: MessageParts["sync"]
  readonly syncOf: (peer: Peer) => PeerSync
  readonly served: (peer: Peer, last: HeaderId) => Effect.Effect<void>
  readonly fetch: (peer: PeerId, header: HeaderId) => Effect.Effect<FetchOutcome>
  /** Whether the tip is stale, so that another peer may have a better chain (reference/protocol.md 6.10). */
  readonly staleTip: () => boolean
  /** Seconds since 1970; 0 for never. */
  readonly lastAnnouncement: (peer: Peer) => number
}

export interface SyncManagerOptions {
  readonly random?: (bytes: number) => Uint8Array
  /** Measures the time of this thread, in milliseconds. Defaults to the thread's clock. */
  readonly meter?: () => number
  readonly blocksOnly?: boolean
}

/** Beyond it, senders wait. */
const QUEUE = 64

/** Block intervals without a new tip after which it is stale (reference/protocol.md 6.10). */
const STALE_BLOCKS = 3

const UNKNOWN: PeerSync = {
  syncedHeaders: -1,
  syncedBlocks: -1,
  presyncedHeaders: -1,
  inFlight: [],
  lastBlock: 0,
  highBandwidthTo: false,
  highBandwidthFrom: false
}

/** The relay handles transactions. */
const hasBlocks = (items: ItemList): boolean => hasItem(items, isBlockItem)

const randomNumber = (random: (bytes: number) => Uint8Array) => (bits: number): bigint =>
  random(Math.ceil(bits / 8)).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n)

/** A light chain takes the blocks of its span in any order, keeping only their names, so no block waits for another. */
const unordered = (tree: HeaderTree) => ({
  parent: () => NO_HEADER,
  hasBlock: tree.hasBlock,
  isActive: tree.isActive,
  isFailed: tree.isFailed,
  height: tree.height
})

export const make = (
  options: SyncManagerOptions = {}
): Effect.Effect<SyncManager, never, Chain | ChainSink | SyncStatus | Mempool | Scope.Scope> =>
  Effect.flatMap(
    Effect.all({ chain: Chain, sink: ChainSink, status: SyncStatus, mempool: Mempool }),
    (parts) => makeOver(parts, options)
  )

/** Begins the comparison of headers of peers. The result ends it once. */
const comparison = (comparing: SyncParts["comparing"], isOver: () => boolean): () => void => {
  let isComparing = comparing !== undefined
  comparing?.(true)
  return () => {
    if (!isComparing || !isOver()) return
    isComparing = false
    comparing?.(false)
  }
}

export const makeOver = (
  { chain, comparing, mempool, pace, sink, span, status }: SyncParts,
  options: SyncManagerOptions = {}
): Effect.Effect<SyncManager, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = yield* Effect.clock
    const { now, sleep } = yield* peerTime
    const { params, tree } = chain
    const tips = yield* chain.subscription
    const events = yield* Effect.acquireRelease(Queue.bounded<SyncEvent>(QUEUE), Queue.shutdown)
    const wakeUps = yield* Queue.sliding<void>(1)
    const blockOrder = new BlockOrder(span === undefined ? tree : unordered(tree))
    const download = new BlockDownload({ tree, minimumChainWork: params.minimumChainWork, span })
    const headers = new HeaderSync(params.targetSpacing, pace)
    const real = (): number => Number(clock.unsafeCurrentTimeNanos()) / 1e6
    const context: SyncContext = {
      chain,
      sink,
      status,
      mempool,
      tree,
      params,
      fixed: chain.fixed ?? 0,
      peers: new Map(),
      download,
      missing: new MissingBlocks(download, tree, tree.losses),
      headers,
      timers: new ChainSyncTimers(tree),
      highBandwidth: new HighBandwidth(),
      wantsCompact: options.blocksOnly !== true,
      blockOrder,
      tick: TICK * (yield* Pulse),
      compare: comparison(comparing, () => headers.isCompared(real())),
      fetched: new Set(),
      random: randomNumber(options.random ?? randomBytes),
      wake: () => void wakeUps.unsafeOffer(undefined),
      now,
      real,
      wall: () => clock.unsafeCurrentTimeMillis(),
      initial: true,
      loading: true,
      slots: new Slots(MOST_UNREQUESTED)
    }
    const view: SyncView = context
    const meter = options.meter ?? ownTime()
    const time = new FiberTime(meter)
    const syncLoop = new SyncLoop(context, time)
    yield* syncLoop.look()
    let over = false
    const offer = (event: SyncEvent): Effect.Effect<void> =>
      Effect.suspend(() => over ? Effect.void : Effect.asVoid(Queue.offer(events, event)))

    const loop = Queue.takeBetween(events, 1, QUEUE).pipe(
      Effect.flatMap((batch) => syncLoop.handle(batch)),
      Effect.catchAllDefect((defect) => Effect.logError("sync loop failed unexpectedly", defect)),
      Effect.forever
    )
    yield* Effect.forkScoped(time.measured(loop))
    const writing = new FiberTime(meter)
    yield* writeBlocks({
      sink,
      tree,
      blockOrder,
      wakeUps,
      time: writing,
      report: (written) => offer({ type: "written", written }),
      lost: (batch) => offer({ type: "lost", batch })
    }).pipe(
      (writer) => writing.measured(writer),
      // The chain reports the same on `failure`, which stops the node.
      Effect.catchAll((failure) =>
        Effect.logError("block writer stopped: no more blocks are stored", { reason: failure.message })
      ),
      Effect.forkScoped
    )
    // A batch of blocks moves the tip once.
    yield* Effect.forkScoped(Stream.runForEachChunk(tips, () => offer({ type: "tip" })))
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(offer({ type: "tick" }), sleep(context.tick))))
    yield* Effect.addFinalizer(() => Effect.sync(() => void (over = true)))

    /** Waits until the loop has handled an event, so that a peer has only one in the queue, with its memory counted. */
    const offered = (event: (handled: () => void) => SyncEvent): Effect.Effect<void> =>
      Effect.flatMap(Deferred.make<void>(), (done) =>
        Effect.zipRight(
          offer(event(() => Deferred.unsafeDone(done, Effect.void))),
          Effect.suspend(() => over ? Effect.void : Deferred.await(done))
        ))

    const handled = (peer: Peer, message: SyncMessage): Effect.Effect<void> =>
      offered((handled) => ({ type: "message", peer, message, handled }))

    const queued = (peer: Peer, message: SyncMessage): Effect.Effect<void> => offer({ type: "message", peer, message })

    const { screened, takeBlock } = blockReception({ view, queued, offered })

    return {
      connected: (peer) => offer({ type: "connected", peer }),
      screened,
      served: (peer, last) => offer({ type: "served", peer, last }),
      fetch: (peer, header) =>
        Effect.flatMap(Deferred.make<FetchOutcome>(), (done) =>
          Effect.zipRight(
            offer({
              type: "fetch",
              peer,
              header,
              answer: (outcome) => Deferred.unsafeDone(done, Effect.succeed(outcome))
            }),
            Effect.suspend(() => over ? Effect.succeed("loading" as const) : Deferred.await(done))
          )),
      settled: (peer) =>
        Effect.flatMap(Deferred.make<void>(), (done) =>
          Effect.zipRight(
            offer({ type: "pinged", peer: peer.id, answer: () => Deferred.unsafeDone(done, Effect.void) }),
            Effect.suspend(() => over ? Effect.void : Deferred.await(done))
          )),
      gone: (peer) => offer({ type: "gone", peer }),
      messages: {
        headers: handled,
        cmpctblock: handled,
        blocktxn: handled,
        notfound: queued,
        inv: (peer, message) => hasBlocks(message.items) ? queued(peer, message) : Effect.void,
        block: takeBlock
      },
      syncOf: (peer) => syncOf(view, peer),
      staleTip: () =>
        !view.loading && view.download.count === 0 &&
        view.now() - syncLoop.tipMoved > 1000 * STALE_BLOCKS * params.targetSpacing,
      lastAnnouncement: (peer) => view.peers.get(peer.id)?.lastAnnouncement ?? 0
    }
  })

const syncOf = ({ download, highBandwidth, peers, tree }: SyncView, { features, id }: Peer): PeerSync => {
  const state = peers.get(id)
  if (state === undefined) return UNKNOWN
  return {
    syncedHeaders: state.best === NO_HEADER ? -1 : tree.height(state.best),
    syncedBlocks: download.commonHeight(id),
    presyncedHeaders: state.presync?.lookedAt ?? -1,
    inFlight: download.inFlight(id),
    lastBlock: state.lastBlock,
    highBandwidthTo: highBandwidth.has(id),
    highBandwidthFrom: features.compactBlocks === "high-bandwidth"
  }
}
