import * as Effect from "effect/Effect"
import { below, type Random, shuffled } from "../../base/random.ts"
import { sipHashHalves, type SipKey, sipKey } from "../../base/siphash.ts"
import { type Bytes, concat, fromBinaryString } from "../../protocol/bytes.ts"
import type { PeerId } from "../../protocol/keys.ts"
import type { MessageParts } from "../messageTable.ts"
import type { Peer, PeerHandler } from "../Peer.ts"
import type { KnownAddress, PeerGossip } from "../peerInfo.ts"
import type { Message } from "../wire/message.ts"
import type { AddressEntry } from "../wire/messages/addr.ts"
import { MAX_ADDRESSES } from "../wire/messages/addr.ts"
import { Services } from "../wire/messages/version.ts"
import type { AddressNetwork, NetAddress } from "../wire/netAddress.ts"
import { isRoutable } from "../wire/netGroup.ts"
import type { AddressBook } from "./AddressBook.ts"
import type { BanList } from "./BanList.ts"
import { endpointBytes } from "./endpointBytes.ts"
import { PeerAddresses } from "./PeerAddresses.ts"

// Address relay between peers (reference/protocol.md 6.6, 6.10; BIP 155; upstream `net_processing.cpp`, `ProcessAddrs`,
// `RelayAddress`, `MaybeSendAddr`). `getaddr` is answered with a part of the book that stays the same for a day.
// Block-relay peers are excluded, as relay would reveal these connections.

const DAY = 86_400
const HOUR = 3600

/** Seconds added to the age of addresses reported by peers. */
const PENALTY = 2 * HOUR
/** Addresses seen within this many seconds, in messages of at most this many, are fresh and relayed. */
const FRESH = 600
const FEW = 10
/** Assumed age of an address without a usable time, and the earliest usable time, in seconds. */
const AGE_WITHOUT_TIME = 5 * DAY
const EARLIEST_TIME = 100_000_000
const ANSWER_PERCENT = 23
/** One per local address and network of the peer. */
const MAX_ANSWERS = 16
/** For an addr-fetch peer, in seconds. */
const FETCH_LIMIT = 300

export interface GossipOptions {
  readonly book: AddressBook
  readonly bans: BanList
  readonly random: Random
  /** 16 bytes that determine which peers get which address. */
  readonly key: Bytes
  /** Seconds since 1970. */
  readonly now: () => number
  readonly services: bigint
  /** `undefined` if we do not listen or have no reachable address. */
  readonly ownAddress: (peer: Peer) => { readonly address: NetAddress; readonly port: number } | undefined
  /** The node does not announce its address in initial download. */
  readonly initialDownload: () => boolean
  readonly reachable: (network: AddressNetwork) => boolean
}

export interface Gossip extends PeerHandler {
  readonly messages: MessageParts["gossip"]
  /** Sends due addresses. Call it about once a second. `now`: seconds since 1970. */
  readonly tick: (now: number) => void
  readonly gossipOf: (peer: Peer) => PeerGossip
}

interface Member {
  readonly peer: Peer
  readonly state: PeerAddresses
}

const NO_GOSSIP: PeerGossip = { enabled: false, processed: 0, rateLimited: 0 }

const USEFUL = Services.network | Services.networkLimited

const dated = (entry: AddressEntry, now: number): AddressEntry =>
  entry.time <= EARLIEST_TIME || entry.time > now + FRESH ? { ...entry, time: now - AGE_WITHOUT_TIME } : entry

export const make = (options: GossipOptions): Gossip => new AddressGossip(options)

class AddressGossip implements Gossip {
  private readonly options: GossipOptions
  private readonly key: SipKey
  private readonly members = new Map<PeerId, Member>()
  private readonly answers = new Map<
    string,
    { readonly until: number; readonly addresses: ReadonlyArray<KnownAddress> }
  >()

  constructor(options: GossipOptions) {
    this.options = options
    this.key = sipKey(options.key)
  }

  readonly connected = (peer: Peer): Effect.Effect<void> =>
    Effect.suspend(() => {
      // An inbound peer joins with its first address message: it may use us as a block-relay peer.
      if (peer.inbound || peer.type === "block-relay-only" || peer.type === "feeler") return Effect.void
      this.join(peer).state.ask()
      return peer.send({ type: "getaddr" })
    })

  readonly messages: MessageParts["gossip"] = {
    addr: (peer, { addresses }) => Effect.sync(() => this.takeAddresses(peer, addresses)),
    addrv2: (peer, { addresses }) => Effect.sync(() => this.takeAddresses(peer, addresses)),
    getaddr: (peer) => Effect.suspend(() => this.answer(peer))
  }

  readonly gone = (peer: Peer): Effect.Effect<void> =>
    Effect.sync(() => {
      this.members.delete(peer.id)
    })

  readonly gossipOf = (peer: Peer): PeerGossip => {
    const state = this.members.get(peer.id)?.state
    return state === undefined
      ? NO_GOSSIP
      : { enabled: true, processed: state.processed, rateLimited: state.rateLimited }
  }

  readonly tick = (now: number): void => {
    for (const { peer, state } of this.members.values()) {
      if (peer.closed) continue
      if (peer.type === "addr-fetch" && now - peer.connectedAt > FETCH_LIMIT) {
        peer.disconnect({ reason: "address timeout: the peer sent no addresses", misbehaving: false })
        continue
      }
      this.announce(peer, state, now)
      const due = state.due(now)
      if (due.length > 0) peer.post(toMessage(peer, due))
    }
  }

  private join(peer: Peer): Member {
    let member = this.members.get(peer.id)
    if (member === undefined) {
      const { now, random } = this.options
      member = { peer, state: new PeerAddresses({ addrV2: peer.hello.addrV2, random, key: this.key, now: now() }) }
      this.members.set(peer.id, member)
    }
    return member
  }

  private takeAddresses(peer: Peer, entries: ReadonlyArray<AddressEntry>): void {
    if (peer.type === "block-relay-only" || peer.closed) return
    const { book, now: clock, random, reachable } = this.options
    const { state } = this.join(peer)
    const now = clock()
    const fresh = !state.asked && entries.length <= FEW
    const accepted: Array<KnownAddress> = []
    state.refill(now)
    for (const given of shuffled(random, entries)) {
      if (!state.take(peer.permissions.has("addr"))) continue
      const entry = this.usable(state, given, now)
      if (entry === undefined) continue
      if (fresh && entry.time > now - FRESH) this.relay(peer, entry)
      if (reachable(entry.address.network)) accepted.push(entry)
    }
    book.add(accepted, peer.address, { now, penalty: PENALTY })
    if (entries.length < MAX_ADDRESSES) state.asked = false
    // A single address is the peer's own, not its answer.
    if (peer.type === "addr-fetch" && entries.length > 1) {
      peer.disconnect({ reason: "address fetch done", misbehaving: false })
    }
  }

  private usable(state: PeerAddresses, given: AddressEntry, now: number): KnownAddress | undefined {
    // Only nodes that serve blocks are worth connecting to.
    if ((given.services & USEFUL) === 0n) return undefined
    const { bans } = this.options
    const { address, port, services, time } = dated(given, now)
    if (address.network !== "unknown") {
      state.knows(address, port)
      if (bans.isDiscouraged(address) || bans.isBanned(address, now)) return undefined
    }
    state.processed++
    return isRoutable(address) ? { address, port, services, time } : undefined
  }

  /** To two peers, or one or two if we cannot reach its network. The choice is the same for a day, even if it repeats. */
  private relay(from: Peer, entry: KnownAddress): void {
    const target = endpointBytes(entry.address, entry.port)
    const [offset] = sipHashHalves(this.key, target)
    const day = Math.floor((this.options.now() + (offset % DAY)) / DAY)
    const [chance] = sipHashHalves(this.key, concat(target, fromBinaryString(`|${day}`)))
    const count = this.options.reachable(entry.address.network) || (chance & 1) === 1 ? 2 : 1
    const ranked: Array<{ readonly rank: number; readonly state: PeerAddresses }> = []
    for (const { peer, state } of this.members.values()) {
      if (peer.id === from.id || peer.closed || !state.understands(entry.address)) continue
      const [rank] = sipHashHalves(this.key, concat(target, fromBinaryString(`|${day}|${peer.id}`)))
      ranked.push({ rank, state })
    }
    ranked.sort((a, b) => b.rank - a.rank)
    for (const { state } of ranked.slice(0, count)) state.push(entry)
  }

  /** Answers only once and only inbound peers. Otherwise, the answer could identify this node. */
  private answer(peer: Peer): Effect.Effect<void> {
    if (!peer.inbound || peer.closed) return Effect.void
    const { state } = this.join(peer)
    if (state.answered) return Effect.void
    state.answered = true
    const now = this.options.now()
    // Sent before the sample, because a peer accepts few addresses at once from a node that it just met.
    this.announce(peer, state, now)
    state.drop()
    for (const address of peer.permissions.has("addr") ? this.fresh(now) : this.sample(peer, now)) state.push(address)
    const due = state.due(now)
    return due.length === 0 ? Effect.void : peer.send(toMessage(peer, due))
  }

  private fresh(now: number): ReadonlyArray<KnownAddress> {
    return this.options.book.sample({ max: MAX_ADDRESSES, percent: ANSWER_PERCENT, now })
  }

  /** One per day, network and local address. */
  private sample(peer: Peer, now: number): ReadonlyArray<KnownAddress> {
    const way = `${peer.address.network} ${peer.bind ?? ""}`
    const kept = this.answers.get(way)
    if (kept !== undefined && now < kept.until) return kept.addresses
    const { bans, random } = this.options
    const addresses = this.fresh(now)
      .filter(({ address }) => !bans.isDiscouraged(address) && !bans.isBanned(address, now))
    this.answers.delete(way)
    const [oldest] = this.answers.keys()
    if (oldest !== undefined && this.answers.size >= MAX_ANSWERS) this.answers.delete(oldest)
    this.answers.set(way, { until: now + 21 * HOUR + below(random, 6 * HOUR), addresses })
    return addresses
  }

  private announce(peer: Peer, state: PeerAddresses, now: number): void {
    const { initialDownload, ownAddress, services } = this.options
    if (!state.announcementDue(now) || initialDownload()) return
    const own = ownAddress(peer)
    if (own === undefined || !isRoutable(own.address)) return
    const first = state.announce({ time: Math.floor(now), services, address: own.address, port: own.port }, now)
    if (first.length > 0) peer.post(toMessage(peer, first))
  }
}

const toMessage = (peer: Peer, addresses: ReadonlyArray<AddressEntry>): Message => ({
  type: peer.hello.addrV2 ? "addrv2" : "addr",
  addresses
})
