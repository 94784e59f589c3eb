import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import type { HeaderId, Millis, PeerId } from "../../protocol/keys.ts"
import {
  type BlockRequest,
  type BlockSource,
  type DownloadPeer,
  type DownloadTree,
  hasRoom,
  makeDownloadPeer
} from "./DownloadPeer.ts"
import { DownloadVerdicts, type Overdue } from "./DownloadVerdicts.ts"
import { DownloadWindow, WINDOW } from "./DownloadWindow.ts"
import { type ArrivedBlock, Flights } from "./Flights.ts"
import type { PeerScore } from "./PeerScore.ts"
import { type BlockSpan, SpanWindow } from "./SpanWindow.ts"

/** Maximum size of all blocks in flight or waiting for the chain, in bytes. */
const BUDGET = 32 * 1024 * 1024

export interface BlockDownloadOptions {
  readonly tree: DownloadTree
  readonly minimumChainWork: bigint
  readonly window?: number
  readonly span?: BlockSpan | undefined
  readonly budget?: number
}

/**
 * Plans which block is requested from which peer. Best peers are asked first, each for as many blocks as it can soon
 * deliver. Times are milliseconds of one clock; a block is named by the number of its header.
 *
 * ```
 * window    which blocks of a peer's chain are missing       DownloadWindow.ts
 *    ▼
 * flights   which block was asked of which peers, and when   Flights.ts
 *    ▼
 * verdicts  what answers and silence say about a peer        DownloadVerdicts.ts
 * ```
 */
export class BlockDownload {
  private readonly tree: DownloadTree
  private readonly peers = new Map<PeerId, DownloadPeer>()
  private readonly window: DownloadWindow
  private readonly flights: Flights
  private readonly verdicts: DownloadVerdicts

  constructor({ budget = BUDGET, minimumChainWork, span, tree, window = WINDOW }: BlockDownloadOptions) {
    const { peers } = this
    this.tree = tree
    this.flights = new Flights({ tree, peers, budget })
    const { isMissing } = this.flights
    const options = { tree, peers, minimumChainWork, length: window, isMissing }
    this.window = span === undefined ? new DownloadWindow(options) : new SpanWindow(options, span)
    this.verdicts = new DownloadVerdicts({ tree, peers, window: this.window, flights: this.flights })
  }

  add(peer: PeerId, source: BlockSource): void {
    this.peers.set(peer, makeDownloadPeer(peer, source))
  }

  remove(peer: PeerId): void {
    const state = this.peers.get(peer)
    if (state === undefined) return
    for (const header of [...state.flights]) this.cancel(state, header)
    this.peers.delete(peer)
  }

  scoreOf(peer: PeerId): PeerScore | undefined {
    return this.peers.get(peer)?.score
  }

  /** -1 for none. */
  commonHeight(peer: PeerId): number {
    const common = this.peers.get(peer)?.common ?? NO_HEADER
    return common === NO_HEADER ? -1 : this.tree.height(common)
  }

  inFlight(peer: PeerId): ReadonlyArray<number> {
    return [...this.peers.get(peer)?.flights ?? []].map((header) => this.tree.height(header))
  }

  get count(): number {
    return this.flights.count
  }

  get room(): number {
    return this.flights.room
  }

  askersOf(header: HeaderId): ReadonlyArray<PeerId> {
    return this.flights.askersOf(header).map(({ peer }) => peer)
  }

  isAsked(peer: PeerId, header: HeaderId): boolean {
    return this.peers.get(peer)?.flights.has(header) === true
  }

  isUnstored(header: HeaderId): boolean {
    return this.flights.isUnstored(header)
  }

  hasRoom(peer: PeerId): boolean {
    const state = this.peers.get(peer)
    return state !== undefined && hasRoom(state)
  }

  isWanted(header: HeaderId): boolean {
    return this.window.isWanted(header)
  }

  ranked(): ReadonlyArray<DownloadPeer> {
    const able = [...this.peers.values()].filter((peer) => this.window.isUseful(peer))
    const chosen = able.filter(({ source }) => source.preferred)
    // Inbound peers are asked if there is no outbound peer or nothing is in flight.
    const asked = chosen.length > 0 && this.flights.count > 0 ? chosen : able
    return asked.sort((a, b) =>
      Number(b.source.preferred) - Number(a.source.preferred) || a.score.rank - b.score.rank || a.id - b.id
    )
  }

  everyone(): ReadonlyArray<DownloadPeer> {
    return [...this.peers.values()].filter(({ best, source }) => source.serves && best !== NO_HEADER)
  }

  setBest(peer: PeerId, best: HeaderId): void {
    const state = this.peers.get(peer)
    if (state !== undefined) this.window.setBest(state, best)
  }

  /** Rechecks everything, as blocks may be lost or valid again, and peers may have new ones. */
  recheck(): void {
    this.window.recheck()
  }

  plan(now: number): ReadonlyArray<BlockRequest> {
    return this.ranked().flatMap((peer) => this.fill(peer, now))
  }

  private fill(peer: DownloadPeer, now: number): ReadonlyArray<BlockRequest> {
    const { limit } = peer.score
    const free = limit - peer.flights.size
    // The peer is stalling, or has so little room that the request can wait.
    if (peer.stalling !== undefined || free <= 0 || (free < limit / 8 && peer.flights.size > 0)) return []
    const { end, headers } = this.window.next(peer, Math.min(free, this.flights.room))
    for (const header of headers) this.flights.ask(peer, header, now)
    if (end === "window" || (end === "before" && this.flights.room <= 0)) this.verdicts.blame(peer, now)
    return headers.map((header) => ({ peer: peer.id, header }))
  }

  ask(peer: PeerId, header: HeaderId, now: number): void {
    const state = this.peers.get(peer)
    if (state !== undefined) this.flights.ask(state, header, now)
  }

  /** Returns whether the block was requested from this peer. */
  received(peer: PeerId, block: ArrivedBlock, now: number): boolean {
    if (!this.delivered(peer, block, now)) return false
    this.flights.arrives(block)
    return true
  }

  /** Other peers stay asked until validation: the hash of a block does not cover all its bytes. */
  reconstructed(peer: PeerId, block: ArrivedBlock, now: number): void {
    this.delivered(peer, block, now)
    this.flights.keep(block)
    this.release(peer, block.header)
  }

  private delivered(peer: PeerId, { header, size }: ArrivedBlock, now: number): boolean {
    const state = this.peers.get(peer)
    if (state === undefined || !this.verdicts.delivered(state, header, now)) return false
    this.flights.measured(size)
    return true
  }

  /** A block from any source is not requested until the chain has stored or refused it. */
  arrives(block: ArrivedBlock): void {
    this.flights.arrives(block)
  }

  /** Records an unsolicited block on its way to the chain, leaving its requests open. */
  passes(block: ArrivedBlock): void {
    this.flights.keep(block)
  }

  settled(header: HeaderId): void {
    if (!this.flights.settled(header)) return
    if (this.tree.hasBlock(header)) this.verdicts.stored()
    else this.window.rescan(this.tree.height(header))
  }

  lacks(peer: PeerId, header: HeaderId): void {
    const state = this.peers.get(peer)
    if (state === undefined || !state.flights.has(header)) return
    this.verdicts.lacks(state, header)
    this.cancel(state, header)
  }

  /** The peer is not asked for the refused block until the next recheck. */
  refused(peer: PeerId, header: HeaderId): void {
    const state = this.peers.get(peer)
    if (state !== undefined) this.verdicts.lacks(state, header)
  }

  release(peer: PeerId, header: HeaderId): void {
    const state = this.peers.get(peer)
    if (state !== undefined) this.cancel(state, header)
  }

  private cancel(peer: DownloadPeer, header: HeaderId): void {
    if (this.flights.cancel(peer, header)) this.window.rescan(this.tree.height(header))
  }

  /** Lowest first. Recorded as sent. */
  standIns(now: number): ReadonlyArray<BlockRequest> {
    return this.verdicts.standIns(now)
  }

  overdue(now: number): ReadonlyArray<Overdue> {
    return this.verdicts.overdue(now)
  }

  excuse(lag: number, now: Millis): void {
    this.verdicts.excuse(lag, now)
  }
}
