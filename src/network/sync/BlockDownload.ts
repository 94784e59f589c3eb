import { type HeaderTree, NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { type BlockSource, type DownloadPeer, firstOfLimited, type Flight, makeDownloadPeer } from "./DownloadPeer.ts"
import type { PeerScore } from "./PeerScore.ts"

export type DownloadTree = Pick<
  HeaderTree,
  "height" | "ancestor" | "forkPoint" | "compareWork" | "chainwork" | "hasBlock" | "isFailed" | "tip"
>

/** Blocks beyond the last common one that are requested (reference/protocol.md 6.8). */
export const WINDOW = 1024

/** Maximum bytes of blocks in flight or waiting for the chain. */
const BUDGET = 32 * 1024 * 1024

/** Maximum peers asked for one block at once during the download. */
const MOST_ASKERS = 2

/** Maximum missing blocks remembered per peer. */
const MOST_LACKS = 1024

/** Milliseconds that a peer may delay the window, at first and at most, and the factor per stored block (6.8). */
const STALL_TIMEOUT = { least: 2_000, most: 64_000, relief: 0.85 }

/** Milliseconds after which a peer is dropped whose blocks other peers had to deliver all the time. */
const SILENCE_TIMEOUT = 60_000

/** Milliseconds for a block. Each other downloading peer adds half of it (6.8). */
const BLOCK_TIMEOUT = 600_000

/** Milliseconds without a delivery after which a peer without blocks in flight counts as idle. */
const IDLE = 1_000

/** A block to request from a peer, both by number. */
export interface BlockRequest {
  readonly peer: number
  readonly id: number
}

export interface BlockDownloadOptions {
  readonly tree: DownloadTree
  /** Minimum chain work of chains whose blocks are requested. */
  readonly minimumChainWork: bigint
  readonly window?: number
  readonly budget?: number
}

/**
 * Plans which block is requested from which peer. A window moves over the blocks after the last common one with each
 * peer. Each missing block in it is requested from one peer, best peers first, as many as each can soon deliver. Blocks
 * of a silent peer are also requested from another one. Times are milliseconds of one clock.
 */
export class BlockDownload {
  private readonly tree: DownloadTree
  private readonly options: Required<BlockDownloadOptions>
  private readonly peers = new Map<number, DownloadPeer>()
  private readonly flights = new Map<number, Flight>()
  /** Received blocks that are not stored yet, with their sizes. */
  private readonly unstored = new Map<number, number>()
  private unstoredBytes = 0
  private averageSize = 20_000
  private stallTimeout = STALL_TIMEOUT.least

  constructor(options: BlockDownloadOptions) {
    this.options = { window: WINDOW, budget: BUDGET, ...options }
    this.tree = options.tree
  }

  add(id: number, source: BlockSource): void {
    this.peers.set(id, makeDownloadPeer(id, source))
  }

  remove(id: number): void {
    const peer = this.peers.get(id)
    if (peer === undefined) return
    for (const flight of [...peer.flights]) this.drop(peer, flight)
    this.peers.delete(id)
  }

  scoreOf(id: number): PeerScore | undefined {
    return this.peers.get(id)?.score
  }

  /** Height of the last common block; -1 for none. */
  commonHeight(id: number): number {
    const common = this.peers.get(id)?.common ?? NO_HEADER
    return common === NO_HEADER ? -1 : this.tree.height(common)
  }

  /** Heights of the blocks in flight from a peer. */
  inFlight(id: number): ReadonlyArray<number> {
    return [...this.peers.get(id)?.flights ?? []].map((flight) => this.tree.height(flight))
  }

  /** Number of blocks in flight. */
  get count(): number {
    return this.flights.size
  }

  get unstoredCount(): number {
    return this.unstored.size
  }

  /** Peers asked for a block, in order of the requests. */
  askersOf(id: number): ReadonlyArray<number> {
    return this.flights.get(id)?.askers.map(({ peer }) => peer) ?? []
  }

  isAsked(peer: number, id: number): boolean {
    return this.peers.get(peer)?.flights.has(id) === true
  }

  isUnstored(id: number): boolean {
    return this.unstored.has(id)
  }

  hasRoom(id: number): boolean {
    const peer = this.peers.get(id)
    return peer !== undefined && peer.flights.size < peer.score.limit
  }

  /** Sets the last valid header of the peer's chain. */
  setBest(id: number, best: number): void {
    const peer = this.peers.get(id)
    if (peer === undefined || peer.best === best) return
    const extended = peer.best !== NO_HEADER && best !== NO_HEADER &&
      this.tree.ancestor(best, this.tree.height(peer.best)) === peer.best
    peer.best = best
    if (!extended) {
      peer.common = NO_HEADER
      peer.cursor = 0
    }
  }

  ask(id: number, block: number, now: number): void {
    const peer = this.peers.get(id)
    if (peer === undefined || peer.flights.has(block)) return
    if (peer.flights.size === 0 && now - peer.lastDelivery > IDLE) peer.score.begins(now)
    peer.flights.add(block)
    const flight = this.flights.get(block)
    if (flight !== undefined) flight.askers.push({ peer: id, since: now })
    else {
      const height = this.tree.height(block)
      this.flights.set(block, { id: block, height, askers: [{ peer: id, since: now }] })
    }
  }

  /** Records a received block and cancels all other requests for it. Returns whether it was requested from the peer. */
  received(id: number, block: number, size: number, now: number): boolean {
    if (!this.delivers(id, block, size, now)) return false
    this.arrives(block, size)
    return true
  }

  /** Records a reconstructed block. Other peers stay asked until validation: its hash does not cover all its bytes. */
  reconstructed(id: number, block: number, size: number, now: number): void {
    this.delivers(id, block, size, now)
    this.keep(block, size)
    this.release(id, block)
  }

  /** Updates a peer's statistics. Returns whether the block was requested from it. */
  private delivers(id: number, block: number, size: number, now: number): boolean {
    const peer = this.peers.get(id)
    const asker = this.flights.get(block)?.askers.find((asker) => asker.peer === id)
    if (peer === undefined) return false
    if (asker === undefined) {
      // Another peer has delivered it in the meantime, but this peer is not silent.
      if (this.flights.has(block) || this.tree.hasBlock(block) || this.unstored.has(block)) peer.stalling = undefined
      return false
    }
    peer.score.delivered(now, now - asker.since, peer.flights.size >= peer.score.limit * 0.75)
    peer.lastDelivery = now
    peer.stalling = undefined
    peer.blocks = false
    this.averageSize += 0.05 * (size - this.averageSize)
    return true
  }

  /** Records a block from any source. It is not requested until the chain has stored or refused it. */
  arrives(block: number, size: number): void {
    const flight = this.flights.get(block)
    this.flights.delete(block)
    for (const { peer } of flight?.askers ?? []) this.peers.get(peer)?.flights.delete(block)
    this.keep(block, size)
  }

  private keep(block: number, size: number): void {
    if (this.unstored.has(block)) return
    this.unstored.set(block, size)
    this.unstoredBytes += size
  }

  settled(block: number): void {
    const size = this.unstored.get(block)
    if (size === undefined) return
    this.unstored.delete(block)
    this.unstoredBytes -= size
    if (this.tree.hasBlock(block)) {
      this.stallTimeout = Math.max(STALL_TIMEOUT.least, this.stallTimeout * STALL_TIMEOUT.relief)
    } else this.rescan(this.tree.height(block))
  }

  lacks(id: number, block: number): void {
    const peer = this.peers.get(id)
    if (peer === undefined || !peer.flights.has(block)) return
    peer.score.failed()
    if (peer.lacks.size >= MOST_LACKS) peer.lacks.clear()
    peer.lacks.add(block)
    this.drop(peer, block)
  }

  /** Cancels a request to a peer. */
  release(id: number, block: number): void {
    const peer = this.peers.get(id)
    if (peer !== undefined) this.drop(peer, block)
  }

  private drop(peer: DownloadPeer, block: number): void {
    if (!peer.flights.delete(block)) return
    const flight = this.flights.get(block)
    if (flight === undefined) return
    const at = flight.askers.findIndex((asker) => asker.peer === peer.id)
    if (at >= 0) flight.askers.splice(at, 1)
    if (flight.askers.length > 0) return
    this.flights.delete(block)
    this.rescan(flight.height)
  }

  /** A block at a height is missing again. */
  private rescan(height: number): void {
    for (const peer of this.peers.values()) peer.cursor = Math.min(peer.cursor, height - 1)
  }

  /** Rechecks everything: blocks may be lost or valid again, and peers may have new blocks. */
  recheck(): void {
    for (const peer of this.peers.values()) {
      peer.common = NO_HEADER
      peer.cursor = 0
      peer.lacks.clear()
    }
  }

  /** Whether a block is in the chain of a peer worth downloading from. */
  isWanted(block: number): boolean {
    const height = this.tree.height(block)
    return [...this.peers.values()].some((peer) =>
      this.isUseful(peer) && height <= this.tree.height(peer.best) && this.tree.ancestor(peer.best, height) === block
    )
  }

  /** The requests to send now, recorded as sent. */
  plan(now: number): ReadonlyArray<BlockRequest> {
    const requests: Array<BlockRequest> = []
    for (const peer of this.ranked()) this.fill(peer, now, requests)
    return requests
  }

  /** Peers that can be asked, outbound peers first, best first. */
  ranked(): ReadonlyArray<DownloadPeer> {
    const able = [...this.peers.values()].filter((peer) => this.isUseful(peer))
    const chosen = able.filter(({ source }) => source.preferred)
    // Inbound peers are asked if there is no outbound peer, or nothing is in flight.
    const asked = chosen.length > 0 && this.flights.size > 0 ? chosen : able
    return asked.sort((a, b) =>
      Number(b.source.preferred) - Number(a.source.preferred) || a.score.rank - b.score.rank || a.id - b.id
    )
  }

  /** All peers with a known chain, worth downloading or not. */
  everyone(): ReadonlyArray<DownloadPeer> {
    return [...this.peers.values()].filter(({ best }) => best !== NO_HEADER)
  }

  private isUseful({ best }: DownloadPeer): boolean {
    const { tree } = this
    return best !== NO_HEADER && !tree.isFailed(best) && tree.compareWork(best, tree.tip()) >= 0 &&
      tree.chainwork(best) >= this.options.minimumChainWork
  }

  private advance(peer: DownloadPeer): void {
    const { tree } = this
    if (peer.common === NO_HEADER) {
      peer.common = tree.forkPoint(peer.best, tree.tip())
      peer.cursor = 0
    }
    const end = tree.height(peer.best)
    let height = tree.height(peer.common)
    for (; height < end; height++) {
      const next = tree.ancestor(peer.best, height + 1)
      if (!tree.hasBlock(next)) break
      peer.common = next
    }
    peer.cursor = Math.max(peer.cursor, height)
  }

  /** Number of blocks that fit in the budget. */
  get room(): number {
    const used = this.unstoredBytes + this.flights.size * this.averageSize
    // At least two blocks are always in flight, whatever their size.
    return Math.max(Math.floor((this.options.budget - used) / this.averageSize), 2 - this.flights.size)
  }

  private fill(peer: DownloadPeer, now: number, requests: Array<BlockRequest>): void {
    const { limit } = peer.score
    const free = limit - peer.flights.size
    // The peer is stalling, or has so little room that the request can wait.
    if (peer.stalling !== undefined || free <= 0 || (free < limit / 8 && peer.flights.size > 0)) return
    this.advance(peer)
    const { tree } = this
    const best = tree.height(peer.best)
    const windowEnd = tree.height(peer.common) + this.options.window
    const end = Math.min(best, windowEnd, peer.source.below - 1)
    const first = peer.source.limited ? firstOfLimited(best) : 0
    let left = Math.min(free, this.room)
    let height = Math.max(peer.cursor + 1, first)
    for (; height <= end && left > 0; height++) {
      const id = tree.ancestor(peer.best, height)
      if (!this.isMissing(id)) continue
      if (peer.lacks.has(id)) break
      this.ask(peer.id, id, now)
      requests.push({ peer: peer.id, id })
      left--
    }
    // Blocks that a limited peer cannot serve are not skipped for good.
    if (!peer.source.limited && !peer.lacks.has(tree.ancestor(peer.best, Math.min(height, best)))) {
      peer.cursor = Math.max(peer.cursor, height - 1)
    }
    const blocked = free > 0 && height <= best && (height > windowEnd || this.room <= 0)
    if (blocked) this.blame(peer, now)
  }

  private isMissing(id: number): boolean {
    return !this.flights.has(id) && !this.unstored.has(id) && !this.tree.hasBlock(id)
  }

  /** A peer is idle because the first missing block does not arrive: marks the peer that delays it. */
  private blame(idle: DownloadPeer, now: number): void {
    const { tree } = this
    const first = tree.ancestor(idle.best, Math.min(tree.height(idle.common) + 1, tree.height(idle.best)))
    const keeper = this.flights.get(first)?.askers[0]
    const peer = keeper === undefined ? undefined : this.peers.get(keeper.peer)
    if (peer === undefined || keeper === undefined || peer === idle) return
    peer.blocks = true
    if (peer.stalling === undefined && now - Math.max(peer.lastDelivery, keeper.since) > peer.score.patience) {
      peer.stalling = now
      peer.score.stalled()
    }
  }

  /** Requests blocks of silent peers from other peers too, lowest first. Recorded as sent. */
  standIns(now: number): ReadonlyArray<BlockRequest> {
    if (this.peers.size < 2 || this.flights.size === 0) return []
    const silent = new Set([...this.peers.values()].filter((peer) => this.isSilent(peer, now)).map(({ id }) => id))
    if (silent.size === 0) return []
    const helpers = [...this.peers.values()].filter((peer) => !silent.has(peer.id) && this.isUseful(peer))
      .sort((a, b) => a.score.rank - b.score.rank)
    if (helpers.length === 0) return []
    const late = [...this.flights.values()].filter(({ askers }) =>
      askers.length < MOST_ASKERS && askers.every(({ peer }) => silent.has(peer))
    ).sort((a, b) => a.height - b.height)
    return late.flatMap((flight) => this.standIn(flight, helpers, now))
  }

  private isSilent(peer: DownloadPeer, now: number): boolean {
    return this.waited(peer, now) > peer.score.patience
  }

  private standIn(flight: Flight, helpers: ReadonlyArray<DownloadPeer>, now: number): ReadonlyArray<BlockRequest> {
    const { tree } = this
    const helper = helpers.find((peer) =>
      peer.flights.size < peer.score.limit && flight.height < peer.source.below && !peer.lacks.has(flight.id) &&
      (!peer.source.limited || flight.height >= firstOfLimited(tree.height(peer.best))) &&
      tree.ancestor(peer.best, flight.height) === flight.id
    )
    if (helper === undefined) return []
    for (const asker of flight.askers) {
      const peer = this.peers.get(asker.peer)
      if (peer === undefined || peer.stalling !== undefined) continue
      peer.stalling = now
      peer.score.stalled()
    }
    this.ask(helper.id, flight.id, now)
    return [{ peer: helper.id, id: flight.id }]
  }

  /** Peers to disconnect, with the reason. Doubles the stall timeout. */
  overdue(now: number): ReadonlyArray<{ readonly peer: number; readonly reason: string }> {
    const busy = [...this.peers.values()].filter(({ flights, stalling }) => flights.size > 0 || stalling !== undefined)
    const others = [...this.peers.values()].filter((peer) => peer.stalling === undefined && this.isUseful(peer)).length
    const dropped: Array<{ readonly peer: number; readonly reason: string }> = []
    for (const peer of busy) {
      const stalled = peer.stalling === undefined ? 0 : now - peer.stalling
      if (others > 0 && stalled > (peer.blocks ? this.stallTimeout : SILENCE_TIMEOUT)) {
        dropped.push({ peer: peer.id, reason: "stalled: the peer delays the download window" })
      } else if (this.waited(peer, now) > BLOCK_TIMEOUT * (1 + 0.5 * (busy.length - 1))) {
        dropped.push({ peer: peer.id, reason: "block timeout: a requested block did not arrive" })
      }
    }
    if (dropped.length > 0) this.stallTimeout = Math.min(2 * this.stallTimeout, STALL_TIMEOUT.most)
    return dropped
  }

  /** Excuses all peers for milliseconds in which this node was too busy to read. */
  excuse(lag: number, now: number): void {
    for (const peer of this.peers.values()) {
      if (peer.flights.size > 0) peer.lastDelivery = now - Math.max(this.waited(peer, now) - lag, 0)
      if (peer.stalling !== undefined) peer.stalling = Math.min(peer.stalling + lag, now)
    }
  }

  /** Milliseconds since a peer last delivered, while it has blocks in flight. */
  private waited(peer: DownloadPeer, now: number): number {
    const [first] = peer.flights
    const since = first === undefined
      ? undefined
      : this.flights.get(first)?.askers.find((asker) => asker.peer === peer.id)?.since
    return since === undefined ? 0 : now - Math.max(peer.lastDelivery, since)
  }
}
