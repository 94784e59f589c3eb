import type { Random } from "../../base/random.ts"
import type { Millis, PeerId, TxidKey, WtxidKey } from "../../protocol/keys.ts"

// Which announced transaction is requested from which peer, and when (reference/protocol.md 6.9; upstream
// `txrequest.h`).
//
// ```
//            announce            time is up            the best of those ready
//  (nothing) ────────► waiting ────────────► ready ◄────────────────────────► due
//                                                                              │ asked
//                      done ◄──────── answered, or timed out after a minute ── asked
// ```
//
// - A transaction is due or asked at one peer at a time.
// - A peer is asked once per transaction, unless the transaction was forgotten in between: because it is stored or not
//   wanted (`forget`), or because no candidate peer is left.
// - Preferred peers come first. Among equals the choice is random, so early announcements give no advantage.
//
// Times are milliseconds of a monotonic clock.

/** Open announcements of a peer; more are ignored. */
export const MAX_ANNOUNCEMENTS = 5_000

/** Transactions in flight from which on a peer counts as overloaded. */
export const MAX_IN_FLIGHT = 100

/** Delay of an announcement for each of: a peer that is not preferred, a txid while wtxid peers exist, overload. */
export const DELAY = 2_000

/** Milliseconds before the next peer is asked. */
export const REQUEST_TIMEOUT = 60_000

export type HashKind = "txid" | "wtxid"

export type TxHash = TxidKey | WtxidKey

export interface TxRequest {
  readonly hash: TxHash
  readonly kind: HashKind
}

export interface AskedPeer {
  readonly preferred: boolean
  readonly wtxidRelay: boolean
  /** Whether the operator allows any number of announcements (the permission `relay`). */
  readonly unlimited?: boolean
}

interface PeerEntry extends AskedPeer {
  readonly announcements: Set<Announcement>
  /** In the order in which they became due. */
  readonly due: Set<Announcement>
  inFlight: number
}

interface Announcement extends TxRequest {
  readonly peer: PeerId
  readonly owner: PeerEntry
  readonly rank: number
  state: "waiting" | "ready" | "due" | "asked" | "done"
  /** Deadline of the state `waiting` or `asked`. */
  until: number
}

export class TxRequests {
  private readonly random: Random
  private readonly peers = new Map<PeerId, PeerEntry>()
  private readonly byHash = new Map<TxHash, Map<PeerId, Announcement>>()
  /** By delay; each set is ordered by deadline. */
  private readonly waiting = new Map<number, Set<Announcement>>()
  private readonly asked = new Set<Announcement>()
  private wtxidPeers = 0

  constructor(random: Random) {
    this.random = random
  }

  get size(): number {
    let size = 0
    for (const { announcements } of this.peers.values()) size += announcements.size
    return size
  }

  connected(peer: PeerId, options: AskedPeer): void {
    this.gone(peer)
    this.peers.set(peer, { ...options, announcements: new Set(), due: new Set(), inFlight: 0 })
    if (options.wtxidRelay) this.wtxidPeers++
  }

  gone(peer: PeerId): void {
    const entry = this.peers.get(peer)
    if (entry === undefined) return
    for (const announcement of [...entry.announcements]) this.drop(announcement)
    this.peers.delete(peer)
    if (entry.wtxidRelay) this.wtxidPeers--
  }

  knows(peer: PeerId): boolean {
    return this.peers.has(peer)
  }

  countOf(peer: PeerId): number {
    return this.peers.get(peer)?.announcements.size ?? 0
  }

  limitOf(peer: PeerId): number {
    return this.peers.get(peer)?.unlimited === true ? Infinity : MAX_ANNOUNCEMENTS
  }

  inFlightOf(peer: PeerId): number {
    return this.peers.get(peer)?.inFlight ?? 0
  }

  candidates(hash: TxHash): ReadonlyArray<PeerId> {
    const all = this.byHash.get(hash)
    if (all === undefined) return []
    return [...all.values()].filter(({ state }) => state !== "done").map(({ peer }) => peer)
  }

  /** Ignores repeated announcements and those beyond the limit. */
  announce(
    peer: PeerId,
    { hash, kind, now }: { readonly hash: TxHash; readonly kind: HashKind; readonly now: Millis }
  ): void {
    const owner = this.peers.get(peer)
    if (owner === undefined || owner.announcements.size >= this.limitOf(peer)) return
    if (this.byHash.get(hash)?.has(peer) === true) return
    let delay = owner.preferred ? 0 : DELAY
    if (kind === "txid" && this.wtxidPeers > 0) delay += DELAY
    if (owner.inFlight >= MAX_IN_FLIGHT && owner.unlimited !== true) delay += DELAY
    const rank = this.random() + (owner.preferred ? 1 : 0)
    const announcement: Announcement = { peer, owner, hash, kind, rank, state: "waiting", until: now + delay }
    owner.announcements.add(announcement)
    const others = this.byHash.get(hash)
    if (others === undefined) this.byHash.set(hash, new Map([[peer, announcement]]))
    else others.set(peer, announcement)
    const queue = this.waiting.get(delay)
    if (queue === undefined) this.waiting.set(delay, new Set([announcement]))
    else queue.add(announcement)
  }

  /** In the order of the peer's announcements. Pass each transaction to `requested` or `forget`. */
  due(peer: PeerId, now: number): ReadonlyArray<TxRequest> {
    this.advance(now)
    return [...this.peers.get(peer)?.due ?? []]
  }

  peersDue(now: number): ReadonlyArray<PeerId> {
    this.advance(now)
    const ready: Array<PeerId> = []
    for (const [peer, { due }] of this.peers) if (due.size > 0) ready.push(peer)
    return ready
  }

  requested(peer: PeerId, hash: TxHash, now: number): void {
    const announcement = this.byHash.get(hash)?.get(peer)
    if (announcement?.state !== "due") return
    this.enter(announcement, "asked")
    announcement.until = now + REQUEST_TIMEOUT
  }

  /** Valid or not, or reported as not found. */
  answered(peer: PeerId, hash: TxHash): void {
    const announcement = this.byHash.get(hash)?.get(peer)
    if (announcement === undefined || announcement.state === "done") return
    this.enter(announcement, "done")
    this.elect(hash)
  }

  forget(hash: TxHash): void {
    const all = this.byHash.get(hash)
    if (all === undefined) return
    for (const announcement of [...all.values()]) this.remove(announcement)
  }

  /** For tests: throws if redundant data is inconsistent. */
  check(): void {
    const agree = (what: string, a: number, b: number): void => {
      if (a !== b) throw new Error(`${what}: ${a} and ${b}`)
    }
    let [count, asked, waiting, queued] = [0, 0, 0, 0]
    for (const [hash, all] of this.byHash) {
      const states = [...all.values()].map(({ state }) => state)
      const chosen = states.filter((state) => state === "due" || state === "asked").length
      if (chosen > 1) throw new Error(`${chosen} peers are asked for ${hash}`)
      if (states.every((state) => state === "done")) throw new Error(`no candidate peer is left for ${hash}`)
      if (chosen === 0 && states.includes("ready")) throw new Error(`a peer is ready for ${hash} but not asked`)
      count += states.length
      asked += states.filter((state) => state === "asked").length
      waiting += states.filter((state) => state === "waiting").length
    }
    for (const queue of this.waiting.values()) queued += queue.size
    agree("announcements", count, this.size)
    agree("asked", asked, this.asked.size)
    agree("waiting", waiting, queued)
    agree("in flight", asked, [...this.peers.values()].reduce((sum, { inFlight }) => sum + inFlight, 0))
  }

  private advance(now: number): void {
    for (const queue of this.waiting.values()) {
      for (const announcement of queue) {
        if (announcement.until > now) break
        this.enter(announcement, "ready")
        this.elect(announcement.hash)
      }
    }
    for (const announcement of this.asked) {
      if (announcement.until > now) break
      this.enter(announcement, "done")
      this.elect(announcement.hash)
    }
  }

  private elect(hash: TxHash): void {
    const all = this.byHash.get(hash)
    if (all === undefined) return
    let best: Announcement | undefined
    let open = false
    for (const announcement of all.values()) {
      if (announcement.state === "asked") return
      if (announcement.state !== "done") open = true
      if (announcement.state !== "ready" && announcement.state !== "due") continue
      if (best === undefined || announcement.rank > best.rank) best = announcement
    }
    if (!open) return this.forget(hash)
    if (best === undefined || best.state === "due") return
    for (const announcement of all.values()) if (announcement.state === "due") this.enter(announcement, "ready")
    this.enter(best, "due")
  }

  private enter(announcement: Announcement, state: Announcement["state"]): void {
    const { owner } = announcement
    switch (announcement.state) {
      case "waiting":
        for (const queue of this.waiting.values()) if (queue.delete(announcement)) break
        break
      case "due":
        owner.due.delete(announcement)
        break
      case "asked":
        this.asked.delete(announcement)
        owner.inFlight--
        break
      default:
    }
    announcement.state = state
    if (state === "due") owner.due.add(announcement)
    if (state === "asked") {
      this.asked.add(announcement)
      owner.inFlight++
    }
  }

  private remove(announcement: Announcement): void {
    this.enter(announcement, "done")
    announcement.owner.announcements.delete(announcement)
    const all = this.byHash.get(announcement.hash)
    all?.delete(announcement.peer)
    if (all?.size === 0) this.byHash.delete(announcement.hash)
  }

  private drop(announcement: Announcement): void {
    this.remove(announcement)
    this.elect(announcement.hash)
  }
}
