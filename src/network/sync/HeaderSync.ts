import type { Millis, PeerId } from "../../protocol/keys.ts"
/** Milliseconds until an unanswered `getheaders` may be repeated (reference/protocol.md 6.7). */
export const HEADERS_ANSWER_TIME = 120_000

/** Time limit of the header sync peer in milliseconds, and the extra per expected header (6.7). */
const SYNC_TIME = { base: 15 * 60_000, header: 1 }

export interface HeaderPace {
  /** Milliseconds without any part of an answer. */
  readonly patience: number
  /** Bytes per second below which the peer crawls. 0 if only silence counts. */
  readonly least: number
}

/** Blocks take hours, so a crawling peer costs little. */
export const WHOLE_PACE: HeaderPace = { patience: 20_000, least: 0 }

/** A light chain is complete within a minute. */
export const LIGHT_PACE: HeaderPace = { patience: 5_000, least: 128_000 }

/** Doublings of the measured time: on a slow line, a second peer only takes a share. */
const MOST_DOUBLINGS = 6

/** Milliseconds for other peers' headers once the first one has sent all of its own. */
const COMPARING = 3_000

/** Bytes that count as part of an answer: more than small messages such as `ping`. */
export const PART = 4096

/** Peers for header sync at once: one, and another if that is silent. */
const MOST_SYNCS = 2

/** Seconds. A younger best header is near the end of the chain, so all peers are asked (6.7). */
const RECENT = 86_400

interface Mark {
  readonly at: Millis
  readonly bytes: number
}

interface HeaderPeer {
  readonly preferred: boolean
  serves: boolean
  /** Whether it was asked because of an announcement, before header sync with it. */
  invited: boolean
  /** When the unanswered `getheaders` was sent. */
  asked: number | undefined
  started: boolean
  told: boolean
  deadline: number | undefined
  /** Bytes received from it at its last progress, and when that was. */
  bytes: number
  progress: number
  /** The start of the pace measurement, and the last result. */
  mark: Mark | undefined
  crawls: boolean
  /** Whether it announced blocks after the request, so that its answer may miss them. */
  again: boolean
}

/**
 * Far from the end of the chain it asks one peer at a time, because all have the same headers. The next one follows
 * when a peer has sent all headers or does not answer. Milliseconds of one clock.
 */
export class HeaderSync {
  private readonly peers = new Map<PeerId, HeaderPeer>()
  private readonly spacing: number
  private readonly pace: HeaderPace
  /** When a peer had first sent all its headers and others had not. */
  private firstTold: number | undefined
  /** How often a second peer was asked because the first one crawled. */
  private contests = 0

  /** `spacing`: seconds between blocks. */
  constructor(spacing: number, pace: HeaderPace = WHOLE_PACE) {
    this.spacing = spacing
    this.pace = pace
  }

  add(id: PeerId, preferred: boolean): void {
    this.peers.set(id, {
      preferred,
      serves: true,
      invited: false,
      asked: undefined,
      started: false,
      told: false,
      deadline: undefined,
      bytes: 0,
      progress: -Infinity,
      mark: undefined,
      crawls: false,
      again: false
    })
  }

  addAnnouncer(id: PeerId): void {
    this.add(id, false)
    const peer = this.peers.get(id)
    if (peer !== undefined) peer.serves = false
  }

  /**
   * Without header sync, a peer is asked once for headers of announced hashes, which may be worthless. Source: upstream
   * `m_inv_triggered_getheaders_before_sync`.
   */
  follows(id: PeerId): boolean {
    const peer = this.peers.get(id)
    if (peer === undefined || (peer.invited && !peer.started)) return false
    if (!peer.started) peer.invited = true
    return true
  }

  remove(id: PeerId): void {
    this.peers.delete(id)
  }

  /** The request is recorded. One may be unanswered. */
  ask(id: PeerId, now: number): boolean {
    const peer = this.peers.get(id)
    if (peer === undefined) return false
    if (peer.asked !== undefined && now - peer.asked < HEADERS_ANSWER_TIME) {
      peer.again = true
      return false
    }
    peer.asked = now
    peer.again = false
    return true
  }

  isAsked(id: PeerId): boolean {
    return this.peers.get(id)?.asked !== undefined
  }

  /** Returns whether to ask the peer once more. */
  answered(id: PeerId): boolean {
    const peer = this.peers.get(id)
    if (peer === undefined) return false
    const { again } = peer
    peer.asked = undefined
    peer.again = false
    return again
  }

  told(id: PeerId): void {
    const peer = this.peers.get(id)
    if (peer !== undefined) peer.told = true
  }

  /** Whether all peers have sent their headers, or had time for it since the first one did. */
  isCompared(now: Millis): boolean {
    const serving = [...this.peers.values()].filter(({ serves }) => serves)
    if (!serving.some(({ told }) => told)) return false
    if (serving.every(({ told }) => told)) return true
    this.firstTold ??= now
    return now - this.firstTold >= COMPARING
  }

  /** Records the total bytes received from a peer, so that a long answer over a slow link counts as progress. */
  heard(id: PeerId, bytes: number, now: Millis): void {
    const peer = this.peers.get(id)
    if (peer === undefined) return
    this.measure(peer, { at: now, bytes })
    if (bytes - peer.bytes < PART) return
    peer.bytes = bytes
    peer.progress = now
  }

  private measure(peer: HeaderPeer, now: Mark): void {
    const { mark } = peer
    const passed = now.at - (mark?.at ?? 0)
    if (!peer.started || mark === undefined) peer.mark = peer.started ? now : undefined
    else if (passed >= this.pace.patience * 2 ** Math.min(this.contests, MOST_DOUBLINGS)) {
      peer.crawls = (now.bytes - mark.bytes) * 1000 < this.pace.least * passed
      peer.mark = now
    }
  }

  /** It can start again. */
  restart(id: PeerId): void {
    const peer = this.peers.get(id)
    if (peer !== undefined) Object.assign(peer, { started: false, asked: undefined, deadline: undefined })
  }

  /** A full answer had no new header. Returns whether header sync continues with the faster peer alone. */
  overtaken(id: PeerId, now: Millis): boolean {
    const peer = this.peers.get(id)
    const faster = this.syncing.filter((other) => other !== peer && !this.isSilent(other, now))
    if (peer === undefined || !peer.started || faster.length === 0) return false
    for (const other of faster) Object.assign(other, { crawls: false, mark: undefined })
    this.restart(id)
    // Next time, another peer comes before it.
    this.peers.delete(id)
    this.peers.set(id, peer)
    return true
  }

  isStarted(id: PeerId): boolean {
    return this.peers.get(id)?.started === true
  }

  /** `age`: of the best header in seconds. */
  start(now: Millis, age: number): ReadonlyArray<PeerId> {
    const fresh = [...this.peers].filter(([, { serves, started }]) => serves && !started)
    if (fresh.length === 0) return []
    const syncing = this.syncing
    const enough = syncing.length >= MOST_SYNCS || syncing.some((peer) => !this.isSlow(peer, now))
    if (age >= RECENT && enough) return []
    if (age >= RECENT && syncing.some((peer) => !this.isSilent(peer, now))) this.contests++
    const chosen = fresh.filter(([, { preferred }]) => preferred)
    // Inbound peers are asked if no outbound peer is left.
    const starting = age < RECENT ? fresh : (chosen.length > 0 ? chosen : fresh).slice(0, 1)
    for (const [, peer] of starting) {
      peer.started = true
      peer.crawls = false
      peer.mark = undefined
      peer.deadline = this.deadline(now, age)
    }
    return starting.map(([id]) => id)
  }

  private deadline(now: Millis, age: number): number {
    return now + SYNC_TIME.base + (SYNC_TIME.header * Math.max(age, 0)) / this.spacing
  }

  private get syncing(): ReadonlyArray<HeaderPeer> {
    return [...this.peers.values()].filter(({ started, told }) => started && !told)
  }

  private isSilent({ asked, progress }: HeaderPeer, now: number): boolean {
    return asked === undefined || now - Math.max(asked, progress) > this.pace.patience
  }

  private isSlow(peer: HeaderPeer, now: number): boolean {
    return peer.crawls || this.isSilent(peer, now)
  }

  /**
   * The only peer asked, or a silent one beside another, if there is another outbound peer. The other's time limit
   * restarts, as our own link may be slow. Otherwise the peer itself restarts. Source: upstream `net_processing.cpp`,
   * `SendMessages`.
   */
  late(now: Millis, age: number): PeerId | undefined {
    for (const peer of this.peers.values()) if (age < RECENT || peer.told) peer.deadline = undefined
    const { syncing } = this
    for (const [id, peer] of this.peers) {
      if (peer.deadline === undefined || now <= peer.deadline) continue
      const spare = [...this.peers.values()].some((other) => other !== peer && other.preferred)
      if (!spare) {
        this.restart(id)
      } else if (syncing.length === 1 || this.isSilent(peer, now)) {
        for (const other of syncing) if (other.deadline !== undefined) other.deadline = this.deadline(now, age)
        return id
      }
    }
    return undefined
  }
}
