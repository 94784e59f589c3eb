import type { HeaderId, Millis, PeerId } from "../../protocol/keys.ts"
import {
  type BlockRequest,
  canServe,
  type DownloadPeer,
  type DownloadPeers,
  type DownloadTree
} from "./DownloadPeer.ts"
import type { DownloadWindow } from "./DownloadWindow.ts"
import type { Flight, Flights } from "./Flights.ts"

/** Peers asked for one block at once, plus one that has delivered before. */
const MOST_ASKERS = 2
const MOST_WITH_PROVEN = MOST_ASKERS + 1

const MOST_LACKS = 1024

/** Milliseconds that a peer may delay the window, first and at most, and the factor per stored block (6.8). */
const STALL_TIMEOUT = { least: 2_000, most: 64_000, relief: 0.85 }

/** Milliseconds until a peer is dropped if other peers had to deliver its blocks all the time. */
const SILENCE_TIMEOUT = 60_000

/** Milliseconds for a block. Each other downloading peer adds half of that (6.8). */
const BLOCK_TIMEOUT = 600_000

export interface VerdictsOptions {
  readonly tree: DownloadTree
  readonly peers: DownloadPeers
  readonly window: Pick<DownloadWindow, "firstMissing" | "isUseful">
  readonly flights: Flights
}

export interface Overdue {
  readonly peer: PeerId
  readonly reason: string
}

/** See reference/protocol.md 6.8. */
export class DownloadVerdicts {
  private readonly options: VerdictsOptions
  private stallTimeout = STALL_TIMEOUT.least

  constructor(options: VerdictsOptions) {
    this.options = options
  }

  delivered(peer: DownloadPeer, header: HeaderId, now: number): boolean {
    const { flights, tree } = this.options
    const since = flights.askedAt(peer, header)
    if (since === undefined) {
      // Another peer delivered it meanwhile, but this peer is not silent.
      if (flights.isInFlight(header) || tree.hasBlock(header) || flights.isUnstored(header)) peer.stalling = undefined
      return false
    }
    peer.score.delivered(now, now - since, peer.flights.size >= peer.score.limit * 0.75)
    peer.lastDelivery = now
    peer.stalling = undefined
    peer.blocks = false
    return true
  }

  lacks(peer: DownloadPeer, header: HeaderId): void {
    peer.score.failed()
    if (peer.lacks.size >= MOST_LACKS) peer.lacks.clear()
    peer.lacks.add(header)
  }

  stored(): void {
    this.stallTimeout = Math.max(STALL_TIMEOUT.least, this.stallTimeout * STALL_TIMEOUT.relief)
  }

  /** A peer is idle because the first missing block does not arrive: marks the peer that delays it. */
  blame(idle: DownloadPeer, now: number): void {
    const { flights, peers, window } = this.options
    const [keeper] = flights.askersOf(window.firstMissing(idle))
    const peer = keeper === undefined ? undefined : peers.get(keeper.peer)
    if (peer === undefined || keeper === undefined || peer === idle) return
    peer.blocks = true
    if (now - Math.max(peer.lastDelivery, keeper.since) > peer.score.patience) stalls(peer, now)
  }

  /** Lowest first. Recorded as sent. */
  standIns(now: number): ReadonlyArray<BlockRequest> {
    const { flights, peers, window } = this.options
    if (peers.size < 2 || flights.count === 0) return []
    const silent = new Set([...peers.values()].filter((peer) => this.isSilent(peer, now)).map(({ id }) => id))
    if (silent.size === 0) return []
    const helpers = [...peers.values()].filter((peer) => !silent.has(peer.id) && window.isUseful(peer))
      .sort((a, b) => a.score.rank - b.score.rank)
    if (helpers.length === 0) return []
    const late = [...flights.all].filter(({ askers }) =>
      askers.length < MOST_WITH_PROVEN && askers.every(({ peer }) => silent.has(peer))
    ).sort((a, b) => a.height - b.height)
    return late.flatMap((flight) => this.standIn(flight, helpers, now))
  }

  private isSilent(peer: DownloadPeer, now: number): boolean {
    return this.options.flights.waited(peer, now) > peer.score.patience
  }

  private standIn(flight: Flight, helpers: ReadonlyArray<DownloadPeer>, now: number): ReadonlyArray<BlockRequest> {
    const { flights, peers, tree } = this.options
    const { header } = flight
    // Where many withhold blocks, a random choice would meet one of them again.
    const some = flight.askers.length < MOST_ASKERS ? helpers : helpers.filter(hasDelivered)
    const helper = some.find((peer) => canServe(tree, peer, header))
    if (helper === undefined) return []
    for (const asker of flight.askers) {
      const peer = peers.get(asker.peer)
      if (peer !== undefined) stalls(peer, now)
    }
    flights.ask(helper, header, now)
    return [{ peer: helper.id, header }]
  }

  overdue(now: number): ReadonlyArray<Overdue> {
    const { flights, peers, window } = this.options
    const busy = [...peers.values()].filter(({ flights, stalling }) => flights.size > 0 || stalling !== undefined)
    const others = [...peers.values()].filter((peer) => peer.stalling === undefined && window.isUseful(peer)).length
    const dropped: Array<Overdue> = []
    for (const peer of busy) {
      const stalled = peer.stalling === undefined ? 0 : now - peer.stalling
      if (others > 0 && stalled > (peer.blocks ? this.stallTimeout : SILENCE_TIMEOUT)) {
        dropped.push({ peer: peer.id, reason: "stalled: the peer delays the download window" })
      } else if (flights.waited(peer, now) > BLOCK_TIMEOUT * (1 + 0.5 * (busy.length - 1))) {
        dropped.push({ peer: peer.id, reason: "block timeout: a requested block did not arrive" })
      }
    }
    if (dropped.length > 0) this.stallTimeout = Math.min(2 * this.stallTimeout, STALL_TIMEOUT.most)
    return dropped
  }

  /** Excuses all peers for milliseconds in which this node was too busy to read. */
  excuse(lag: number, now: Millis): void {
    const { flights, peers } = this.options
    for (const peer of peers.values()) {
      if (peer.flights.size > 0) peer.lastDelivery = now - Math.max(flights.waited(peer, now) - lag, 0)
      if (peer.stalling !== undefined) peer.stalling = Math.min(peer.stalling + lag, now)
    }
  }
}

const hasDelivered = ({ score }: DownloadPeer): boolean => score.latency !== undefined

const stalls = (peer: DownloadPeer, now: number): void => {
  if (peer.stalling !== undefined) return
  peer.stalling = now
  peer.score.stalled()
}
