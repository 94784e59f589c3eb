import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { BlockHeader } from "../../protocol/block.ts"
import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer } from "../Peer.ts"
import type { FiberTime } from "../peer/FiberTime.ts"
import type { MessageOf } from "../wire/message.ts"
import { COMPACT_VERSION } from "../wire/messages/compact.ts"
import { type InventoryItem, ItemType } from "../wire/messages/inv.ts"
import { Services } from "../wire/messages/version.ts"
import { Announcer } from "./announceBlocks.ts"
import type { ReceivedBlock } from "./BlockOrder.ts"
import type { Written } from "./BlockWriter.ts"
import { fetchAnnounced, type FetchEvent, fetchFrom } from "./directFetch.ts"
import type { BlockRequest } from "./DownloadPeer.ts"
import { takeBlock, takeNotFound, Verdicts } from "./incomingBlocks.ts"
import { takeCompact, takeTransactions } from "./incomingCompact.ts"
import { askAll, askFrom, askHeaders, takeHeader, takeHeaders, takeInventory } from "./incomingHeaders.ts"
import type { Lease } from "./Slots.ts"
import {
  isNearTip,
  isPreferred,
  learn,
  makeSyncPeer,
  seconds,
  servesBlocks,
  type SyncContext,
  validPart
} from "./SyncContext.ts"
import { SyncProgress } from "./SyncProgress.ts"
import { type WaitingPing, WaitingPings } from "./WaitingPings.ts"

export type SyncMessage = MessageOf<keyof MessageParts["sync"]>

export interface MessageEvent {
  readonly type: "message"
  readonly peer: Peer
  readonly message: SyncMessage
  /** For an unsolicited block, owned by the sender until the loop takes the event. */
  readonly slot?: Lease
  readonly handled?: () => void
}

/** Only the header is used. */
export interface AnnouncedEvent {
  readonly type: "announced"
  readonly peer: Peer
  readonly header: BlockHeader
  readonly handled: () => void
}

export interface ServedEvent {
  readonly type: "served"
  readonly peer: Peer
  readonly last: HeaderId
}

export interface PingedEvent extends WaitingPing {
  readonly type: "pinged"
}

export type SyncEvent =
  | FetchEvent
  | { readonly type: "connected" | "gone"; readonly peer: Peer }
  | ServedEvent
  | MessageEvent
  | AnnouncedEvent
  | PingedEvent
  | { readonly type: "written"; readonly written: Written }
  | { readonly type: "lost"; readonly batch: ReadonlyArray<ReceivedBlock> }
  | { readonly type: "tip" }
  | { readonly type: "tick" }

/** Milliseconds. */
export const TICK = 250

/** Milliseconds after which other fibers get a turn. */
const TURN = 5

/** Milliseconds between two full rechecks for missing blocks. */
const RECHECK = 30_000

const MOST_ITEMS = 1000

/** See reference/protocol.md 6.5. */
const COMPACT_BLOCKS_VERSION = 110_014

export class SyncLoop {
  private readonly context: SyncContext
  private readonly time: Pick<FiberTime, "ran">
  private readonly verdicts: Verdicts
  private readonly announcer: Announcer
  private readonly pings: WaitingPings
  private readonly progress = new SyncProgress()
  /** Measured milliseconds at the last yield. */
  private turn = 0
  private rechecked: number
  private ticked: number
  private tip: HeaderId
  /** Monotonic milliseconds. */
  tipMoved: number

  /** @param time measures the fiber that runs `handle`. Each message is charged to its peer. */
  constructor(context: SyncContext, time: Pick<FiberTime, "ran">) {
    this.context = context
    this.time = time
    this.verdicts = new Verdicts(context)
    this.announcer = new Announcer(context)
    this.pings = new WaitingPings(context.blockOrder)
    this.rechecked = context.now()
    this.ticked = context.real()
    this.tipMoved = context.now()
    this.tip = context.tree.tip()
  }

  handle(events: Iterable<SyncEvent>): Effect.Effect<void> {
    return Effect.gen(this, function*() {
      if (this.context.loading) yield* this.look()
      for (const event of events) {
        const started = this.time.ran
        const asked = this.isAsked(event)
        const work = this.tried(event)
        if (work !== undefined) yield* work
        const { ran } = this.time
        if (event.type === "message") event.peer.spent(ran - started, asked)
        if (event.type === "message" || event.type === "announced") event.handled?.()
        if (ran - this.turn > TURN) yield* this.yieldTurn
      }
      if (this.context.loading) return
      this.context.compare()
      const { download, missing, now } = this.context
      this.send([...missing.plan(now()), ...download.plan(now())])
      // More events may be queued. Without this yield no other fiber would run in between.
      if (this.time.ran - this.turn > TURN) yield* this.yieldTurn
    })
  }

  private readonly yieldTurn: Effect.Effect<void> = Effect.suspend(() =>
    Effect.map(turnOfEventLoop, () => {
      this.turn = this.time.ran
    })
  )

  /** Whether the peer may spend this time, because the node requested the headers. */
  private isAsked(event: SyncEvent): boolean {
    return event.type === "message" && event.message.type === "headers" && this.context.headers.isAsked(event.peer.id)
  }

  private tried(event: SyncEvent): Effect.Effect<void> | undefined {
    const complain = (defect: unknown) =>
      Effect.logError("sync loop failed unexpectedly", { event: event.type }, defect)
    try {
      const work = this.one(event)
      return work === undefined ? undefined : Effect.catchAllDefect(work, complain)
    } catch (defect) {
      return complain(defect)
    }
  }

  private one(event: SyncEvent): Effect.Effect<void> | undefined {
    switch (event.type) {
      case "connected":
        return this.connected(event.peer)
      case "gone":
        return this.gone(event.peer)
      case "served":
        return this.served(event)
      case "message":
        return this.message(event)
      case "announced":
        return this.announced(event)
      case "pinged":
        return void this.pings.add(event, this.context.real())
      case "fetch":
        return void event.answer(fetchFrom(this.context, event))
      case "written":
        this.verdicts.take(event.written)
        this.pings.look(this.context.real())
        return event.written.settled ? this.moved() : undefined
      case "lost":
        return void this.verdicts.lost(event.batch)
      case "tip":
        return this.moved()
      case "tick":
        return this.tick()
    }
  }

  private announced({ header, peer }: AnnouncedEvent): Effect.Effect<void> | undefined {
    const { context } = this
    const state = context.peers.get(peer.id)
    if (state === undefined || context.loading || peer.closed) return undefined
    const id = context.tree.find(header.header.hash)
    if (id !== NO_HEADER) return void learn(context, state, id)
    if (context.tree.find(header.header.prevHash) !== NO_HEADER) return takeHeader(context, state, header)
    if (!context.initial) askHeaders(context, state, context.tree.best())
    return undefined
  }

  /** The peer knows these headers, so a block on them is announced in its preferred form. */
  private served({ last, peer }: ServedEvent): undefined {
    const state = this.context.peers.get(peer.id)
    if (state !== undefined) state.sent = last
  }

  private connected(peer: Peer): undefined {
    const { download, headers, params, peers, timers } = this.context
    const state = makeSyncPeer(peer)
    peers.set(peer.id, state)
    if (peer.hello.commonVersion >= COMPACT_BLOCKS_VERSION) {
      peer.post({ type: "sendcmpct", highBandwidth: false, version: COMPACT_VERSION })
    }
    const { services } = peer.hello
    const serves = servesBlocks(peer)
    download.add(peer.id, {
      serves,
      preferred: isPreferred(peer),
      limited: (services & Services.network) === 0n,
      below: (services & Services.witness) === 0n ? params.activation.segwit : Infinity
    })
    if (!serves) return void headers.addAnnouncer(peer.id)
    headers.add(peer.id, isPreferred(peer))
    const evictable = peer.type === "outbound-full-relay" || peer.type === "block-relay-only"
    if (evictable) timers.add(peer.id, peer.type === "outbound-full-relay")
    this.startHeaders()
  }

  private gone({ id }: Peer): undefined {
    const { download, headers, highBandwidth, peers, timers } = this.context
    peers.delete(id)
    download.remove(id)
    headers.remove(id)
    timers.remove(id)
    highBandwidth.remove(id)
    this.startHeaders()
  }

  private message({ message, peer, slot: held }: MessageEvent): Effect.Effect<void> | undefined {
    const { context } = this
    const slot = held?.handOver()
    const state = context.peers.get(peer.id)
    if (state === undefined || state.peer.closed) return void slot?.release()
    switch (message.type) {
      case "headers":
        state.announced = NO_HEADER
        return Effect.map(
          takeHeaders(context, state, message.headers),
          () => this.send(fetchAnnounced(context, state, state.announced))
        )
      case "inv":
        return void takeInventory(context, state, message.items)
      case "block":
        return takeBlock(context, state, { block: message.block, slot })
      case "cmpctblock":
        return takeCompact(context, state, message)
      case "blocktxn":
        return void takeTransactions(context, state, message)
      case "notfound":
        return void takeNotFound(context, state, message.items)
    }
  }

  private moved(): Effect.Effect<void> {
    const { context } = this
    const tip = context.tree.tip()
    if (tip !== this.tip) {
      this.tip = tip
      this.tipMoved = context.now()
    }
    return Effect.zipRight(this.look(), this.announcer.tell)
  }

  look(): Effect.Effect<void> {
    const { context } = this
    return Effect.map(
      Effect.all([context.status.initialDownload, context.status.loading]),
      ([initial, loading]) => {
        context.initial = initial
        context.loading = loading
      }
    )
  }

  private tick(): Effect.Effect<void> {
    const { context } = this
    return Effect.zipRight(
      this.moved(),
      Effect.suspend(() => {
        const now = context.now()
        const real = context.real()
        const lag = real - this.ticked - context.tick
        this.ticked = real
        this.pings.look(real)
        if (context.loading) return Effect.void
        if (lag > context.tick) context.download.excuse(lag, now)
        for (const [id, { peer }] of context.peers) context.headers.heard(id, peer.traffic.bytesReceived, now)
        this.startHeaders()
        this.send(context.download.standIns(now))
        for (const { peer, reason } of context.download.overdue(now)) this.drop(peer, reason)
        const late = context.headers.late(now, this.headerAge())
        if (late !== undefined) this.late(late)
        this.considerChains(now)
        if (now - this.rechecked >= RECHECK) this.recheck(now)
        return this.report(now)
      })
    )
  }

  private recheck(now: number): void {
    const { download, blockOrder, peers, tree } = this.context
    this.rechecked = now
    for (const { best, peer } of peers.values()) download.setBest(peer.id, validPart(tree, best))
    download.recheck()
    blockOrder.unblock((id) => download.isWanted(id))
    blockOrder.releaseOld()
    this.context.wake()
  }

  private considerChains(now: number): void {
    const { peers, timers, tree, headers } = this.context
    for (const [id, state] of peers) {
      if (!headers.isStarted(id)) continue
      const verdict = timers.consider(id, validPart(tree, state.best), now)
      if (verdict === "drop") this.drop(id, "stalled: the best chain of the peer stays behind ours")
      else if (verdict !== "nothing") askFrom(this.context, state, verdict.ask)
    }
  }

  /** With `noban` the peer stays, and another one is asked. */
  private late(id: PeerId): void {
    if (this.context.peers.get(id)?.peer.permissions.has("noban") === true) this.context.headers.restart(id)
    else this.drop(id, "headers timeout: the peer does not answer getheaders")
  }

  private drop(peer: PeerId, reason: string): void {
    this.context.peers.get(peer)?.peer.disconnect({ reason, misbehaving: false })
  }

  private headerAge(): number {
    return seconds(this.context) - this.context.tree.time(this.context.tree.best())
  }

  private startHeaders(): void {
    const { context } = this
    if (context.loading) return
    for (const id of context.headers.start(context.now(), this.headerAge())) {
      const state = context.peers.get(id)
      if (state !== undefined) askAll(context, state)
    }
  }

  private report(now: number): Effect.Effect<void> {
    const { peers, tree } = this.context
    const blocks = tree.height(tree.tip())
    const line = this.progress.look(now, { headers: tree.height(tree.best()), blocks, peers: peers.size })
    return line === undefined ? Effect.void : Effect.logInfo("syncing", line)
  }

  private send(requests: ReadonlyArray<BlockRequest>): void {
    const { peers, tree } = this.context
    const byPeer = new Map<PeerId, Array<InventoryItem>>()
    for (const request of requests) {
      const { header, peer } = request
      const compact = requests.length === 1 && this.prefersCompact(request)
      const item = { type: compact ? ItemType.compactBlock : ItemType.witnessBlock, hash: tree.hash(header).slice() }
      const items = byPeer.get(peer)
      if (items === undefined) byPeer.set(peer, [item])
      else items.push(item)
    }
    for (const [peer, items] of byPeer) {
      for (let from = 0; from < items.length; from += MOST_ITEMS) {
        peers.get(peer)?.peer.post({ type: "getdata", items: items.slice(from, from + MOST_ITEMS) })
      }
    }
  }

  /** A new block on the tip: its transactions are probably in the mempool. */
  private prefersCompact({ header, peer }: BlockRequest): boolean {
    const { context } = this
    const speaks = context.peers.get(peer)?.peer.features.compactBlocks !== "none"
    return speaks && context.wantsCompact && context.download.count === 1 && !context.initial &&
      context.tree.parent(header) === context.tree.tip() && isNearTip(context)
  }
}
