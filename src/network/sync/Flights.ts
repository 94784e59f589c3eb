import type { HeaderId, PeerId } from "../../protocol/keys.ts"
import type { DownloadPeer, DownloadPeers, DownloadTree } from "./DownloadPeer.ts"

export interface Flight {
  readonly header: HeaderId
  readonly height: number
  readonly askers: Array<{ readonly peer: PeerId; readonly since: number }>
}

export interface ArrivedBlock {
  readonly header: HeaderId
  readonly size: number
}

export interface FlightsOptions {
  readonly tree: Pick<DownloadTree, "height" | "hasBlock">
  readonly peers: DownloadPeers
  /** Maximum size of all blocks in flight or waiting for the chain, in bytes. */
  readonly budget: number
}

/** Milliseconds without a delivery until a peer without blocks in flight counts as idle. */
const IDLE = 1_000

const WEIGHT = 0.05

/**
 * Which block was asked of which peers, and which blocks have arrived and are not stored yet.
 *
 *   missing ──ask──▶ in flight ──arrives──▶ unstored ──settled──▶ stored or, if refused, missing
 *      ▲────────────cancel─────────┘
 *
 * A reconstructed block is unstored while other peers stay asked for it. Invariant: a peer is in `askers` of a flight
 * exactly if the block is in the peer's `flights`.
 */
export class Flights {
  private readonly options: FlightsOptions
  private readonly flights = new Map<HeaderId, Flight>()
  private readonly unstored = new Map<HeaderId, number>()
  private unstoredBytes = 0
  private averageSize = 20_000

  constructor(options: FlightsOptions) {
    this.options = options
  }

  get count(): number {
    return this.flights.size
  }

  get all(): Iterable<Flight> {
    return this.flights.values()
  }

  get room(): number {
    const used = this.unstoredBytes + this.flights.size * this.averageSize
    // At least two blocks are always in flight, whatever their size.
    return Math.max(Math.floor((this.options.budget - used) / this.averageSize), 2 - this.flights.size)
  }

  askersOf(header: HeaderId): Flight["askers"] {
    return this.flights.get(header)?.askers ?? []
  }

  isInFlight(header: HeaderId): boolean {
    return this.flights.has(header)
  }

  isUnstored(header: HeaderId): boolean {
    return this.unstored.has(header)
  }

  readonly isMissing = (header: HeaderId): boolean =>
    !this.flights.has(header) && !this.unstored.has(header) && !this.options.tree.hasBlock(header)

  ask(peer: DownloadPeer, header: HeaderId, now: number): void {
    if (peer.flights.has(header)) return
    if (peer.flights.size === 0 && now - peer.lastDelivery > IDLE) peer.score.begins(now)
    peer.flights.add(header)
    const asker = { peer: peer.id, since: now }
    const flight = this.flights.get(header)
    if (flight !== undefined) flight.askers.push(asker)
    else this.flights.set(header, { header, height: this.options.tree.height(header), askers: [asker] })
  }

  measured(size: number): void {
    this.averageSize += WEIGHT * (size - this.averageSize)
  }

  arrives({ header, size }: ArrivedBlock): void {
    const flight = this.flights.get(header)
    this.flights.delete(header)
    for (const { peer } of flight?.askers ?? []) this.options.peers.get(peer)?.flights.delete(header)
    this.keep({ header, size })
  }

  /** Leaves the block's requests open. */
  keep({ header, size }: ArrivedBlock): void {
    if (this.unstored.has(header)) return
    this.unstored.set(header, size)
    this.unstoredBytes += size
  }

  settled(header: HeaderId): boolean {
    const size = this.unstored.get(header)
    if (size === undefined) return false
    this.unstored.delete(header)
    this.unstoredBytes -= size
    return true
  }

  cancel(peer: DownloadPeer, header: HeaderId): boolean {
    if (!peer.flights.delete(header)) return false
    const flight = this.flights.get(header)
    if (flight === undefined) return false
    const at = flight.askers.findIndex((asker) => asker.peer === peer.id)
    if (at >= 0) flight.askers.splice(at, 1)
    if (flight.askers.length > 0) return false
    this.flights.delete(header)
    return true
  }

  /** Milliseconds since a peer last delivered, while it has blocks in flight. */
  waited(peer: DownloadPeer, now: number): number {
    const [first] = peer.flights
    const since = first === undefined ? undefined : this.askedAt(peer, first)
    return since === undefined ? 0 : now - Math.max(peer.lastDelivery, since)
  }

  askedAt(peer: DownloadPeer, header: HeaderId): number | undefined {
    return this.flights.get(header)?.askers.find((asker) => asker.peer === peer.id)?.since
  }
}
