/** Milliseconds after which an unanswered `getheaders` may be repeated (reference/protocol.md 6.7). */
export const ANSWER_TIME = 120_000

/** Milliseconds that the one peer that headers are synced from has, and in addition for each expected header (6.7). */
const SYNC_TIME = { base: 15 * 60_000, header: 1 }

/** Milliseconds without an answer, or a part of one, after which another peer is asked beside it. */
const PATIENCE = 20_000

/** Bytes that count as a part of an answer: more than what comes by the way, such as `ping`. */
export const PART = 4096

/** Peers that headers are synced from at once: one, and another where that one is silent. */
const MOST_SYNCS = 2

/** Seconds: a best header younger than this is near the end of the chain, and all peers are asked (6.7). */
const RECENT = 86_400

interface HeaderPeer {
  readonly preferred: boolean
  /** When it was asked what it has not answered yet. */
  asked: number | undefined
  /** Whether it is, or was, asked for all that it has. */
  started: boolean
  /** Whether it has told all that it has. */
  told: boolean
  deadline: number | undefined
  /** Bytes that had come from it when it last got on, and when that was. */
  bytes: number
  progress: number
  /** Whether something was announced since it was asked, so that its answer may come too early. */
  again: boolean
}

/**
 * Who is asked for headers. Far from the end of the chain that is one peer after the other, since they all tell the
 * same; the next one when it has told all that it has, or does not answer. Times are milliseconds of one clock.
 */
export class HeaderSync {
  private readonly peers = new Map<number, HeaderPeer>()
  private readonly spacing: number

  /** `spacing`: seconds between blocks. */
  constructor(spacing: number) {
    this.spacing = spacing
  }

  add(id: number, preferred: boolean): void {
    this.peers.set(id, {
      preferred,
      asked: undefined,
      started: false,
      told: false,
      deadline: undefined,
      bytes: 0,
      progress: -Infinity,
      again: false
    })
  }

  remove(id: number): void {
    this.peers.delete(id)
  }

  /** Whether a peer may be asked now, which then counts as done: one unanswered question at a time. */
  ask(id: number, now: number): boolean {
    const peer = this.peers.get(id)
    if (peer === undefined) return false
    if (peer.asked !== undefined && now - peer.asked < ANSWER_TIME) {
      peer.again = true
      return false
    }
    peer.asked = now
    peer.again = false
    return true
  }

  /** Whether a peer was asked what it has not answered yet. */
  isAsked(id: number): boolean {
    return this.peers.get(id)?.asked !== undefined
  }

  /** It has answered, or said something that can only be an answer. Returns whether it should be asked once more. */
  answered(id: number): boolean {
    const peer = this.peers.get(id)
    if (peer === undefined) return false
    const { again } = peer
    peer.asked = undefined
    peer.again = false
    return again
  }

  /** It has told all that it has. */
  told(id: number): void {
    const peer = this.peers.get(id)
    if (peer !== undefined) peer.told = true
  }

  /** So many bytes have come from a peer altogether. A long answer over a slow link takes its time. */
  heard(id: number, bytes: number, now: number): void {
    const peer = this.peers.get(id)
    if (peer === undefined || bytes - peer.bytes < PART) return
    peer.bytes = bytes
    peer.progress = now
  }

  isStarted(id: number): boolean {
    return this.peers.get(id)?.started === true
  }

  /** Peers to ask for all that they have from now on. `age`: of the best header, in seconds. */
  start(now: number, age: number): ReadonlyArray<number> {
    const fresh = [...this.peers].filter(([, { started }]) => !started)
    if (fresh.length === 0) return []
    const syncing = this.syncing
    const enough = syncing.length >= MOST_SYNCS || syncing.some((peer) => !this.isSlow(peer, now))
    if (age >= RECENT && enough) return []
    const chosen = fresh.filter(([, { preferred }]) => preferred)
    // Who called us is asked when nobody else is left.
    const starting = age < RECENT ? fresh : (chosen.length > 0 ? chosen : fresh).slice(0, 1)
    for (const [, peer] of starting) {
      peer.started = true
      peer.deadline = this.deadline(now, age)
    }
    return starting.map(([id]) => id)
  }

  private deadline(now: number, age: number): number {
    return now + SYNC_TIME.base + (SYNC_TIME.header * Math.max(age, 0)) / this.spacing
  }

  /** Peers that are telling what they have. */
  private get syncing(): ReadonlyArray<HeaderPeer> {
    return [...this.peers.values()].filter(({ started, told }) => started && !told)
  }

  private isSlow({ asked, progress }: HeaderPeer, now: number): boolean {
    return asked === undefined || now - Math.max(asked, progress) > PATIENCE
  }

  /**
   * The peer to be dropped because its time is over: one that is the only one asked or is silent beside the other,
   * while there is another that we chose; the other's time begins anew then, since our own link may be the slow one.
   * Without others the peer itself gets its time again. Source: upstream `net_processing.cpp`, `SendMessages`.
   */
  late(now: number, age: number): number | undefined {
    for (const peer of this.peers.values()) if (age < RECENT || peer.told) peer.deadline = undefined
    const { syncing } = this
    for (const [id, peer] of this.peers) {
      if (peer.deadline === undefined || now <= peer.deadline) continue
      const spare = [...this.peers.values()].some((other) => other !== peer && other.preferred)
      if (!spare) {
        Object.assign(peer, { started: false, asked: undefined, deadline: undefined })
      } else if (syncing.length === 1 || this.isSlow(peer, now)) {
        for (const other of syncing) if (other.deadline !== undefined) other.deadline = this.deadline(now, age)
        return id
      }
    }
    return undefined
  }
}
