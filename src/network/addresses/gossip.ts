import * as Effect from "effect/Effect"
import { below, type Random, shuffled } from "../../base/random.ts"
import { sipHashHalves, type SipKey, sipKey } from "../../base/siphash.ts"
import { type Bytes, concat, fromBinaryString } from "../../protocol/bytes.ts"
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

/**
 * Addresses that peers tell each other (reference/protocol.md 6.6, 6.10; BIP 155; upstream `net_processing.cpp`,
 * `ProcessAddrs`, `RelayAddress`, `MaybeSendAddr`): what comes goes into the address book at a limited rate, what is
 * fresh goes on to two peers, and who asks gets a part of the book that stays the same for a day. Nothing of this with
 * block-relay peers: it would show who they are.
 */

const DAY = 86_400
const HOUR = 3600

/** What others say of an address is taken for so much older, seconds. */
const PENALTY = 2 * HOUR
/** Addresses seen within so many seconds, in messages of so few, are new ones, and passed on. */
const FRESH = 600
const FEW = 10
/** How old an address without a usable time is taken for, and before when no time is usable, seconds. */
const AGE_WITHOUT_TIME = 5 * DAY
const EARLIEST_TIME = 100_000_000
/** Part of the book that one answer shows. */
const ANSWER_PERCENT = 23
/** Answers differ by where they are asked for; no node has as many ways in. */
const MAX_ANSWERS = 16
/** How long a peer that was called only for addresses may take, seconds. */
const FETCH_LIMIT = 300

export interface GossipOptions {
  readonly book: AddressBook
  readonly bans: BanList
  readonly random: Random
  /** 16 bytes that decide who gets which address. */
  readonly key: Bytes
  /** Seconds since 1970. */
  readonly now: () => number
  /** Bits of `Services` that we announce. */
  readonly services: bigint
  /** Our address as a peer is to hear of it; `undefined` where we do not listen, or have none that leads to us. */
  readonly ownAddress: (peer: Peer) => { readonly address: NetAddress; readonly port: number } | undefined
  /** Whether we are behind: then nobody is to come to us. */
  readonly initialDownload: () => boolean
  /** Whether we could call somebody in this network. */
  readonly reachable: (network: AddressNetwork) => boolean
}

export interface Gossip extends PeerHandler {
  /** Sends what is due; to be called every second or so. Seconds since 1970. */
  readonly tick: (now: number) => void
  readonly gossipOf: (peer: Peer) => PeerGossip
}

interface Member {
  readonly peer: Peer
  readonly state: PeerAddresses
}

const NO_GOSSIP: PeerGossip = { enabled: false, processed: 0, rateLimited: 0 }

const USEFUL = Services.network | Services.networkLimited

/** An address with a time that can be true. */
const dated = (entry: AddressEntry, now: number): AddressEntry =>
  entry.time <= EARLIEST_TIME || entry.time > now + FRESH ? { ...entry, time: now - AGE_WITHOUT_TIME } : entry

export const make = (options: GossipOptions): Gossip => new AddressGossip(options)

class AddressGossip implements Gossip {
  private readonly options: GossipOptions
  private readonly key: SipKey
  private readonly members = new Map<number, Member>()
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
      // Who calls us takes part as soon as it says anything about addresses: it may be a block-relay peer of its own.
      if (peer.inbound || peer.type === "block-relay-only" || peer.type === "feeler") return Effect.void
      this.join(peer).state.ask()
      return peer.send({ type: "getaddr" })
    })

  readonly received = (peer: Peer, message: Message): Effect.Effect<void> => {
    switch (message.type) {
      case "addr":
      case "addrv2":
        return Effect.sync(() => this.takeAddresses(peer, message.addresses))
      case "getaddr":
        return Effect.suspend(() => this.answer(peer))
      default:
        return Effect.void
    }
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
        peer.disconnect({ reason: "address timeout: it sent no addresses", misbehaving: false })
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
      if (!state.take()) continue
      const entry = this.usable(state, given, now)
      if (entry === undefined) continue
      if (fresh && entry.time > now - FRESH) this.relay(peer, entry)
      if (reachable(entry.address.network)) accepted.push(entry)
    }
    book.add(accepted, peer.address, { now, penalty: PENALTY })
    if (entries.length < MAX_ADDRESSES) state.asked = false
    // A single one is the peer itself, not its answer.
    if (peer.type === "addr-fetch" && entries.length > 1) {
      peer.disconnect({ reason: "address fetch done", misbehaving: false })
    }
  }

  /** The address of an entry that is looked at, if it is any good. */
  private usable(state: PeerAddresses, given: AddressEntry, now: number): KnownAddress | undefined {
    // Only who has blocks is worth to be called.
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

  /**
   * Passes a fresh address on to two peers, or to one or two where we cannot call it ourselves. They are the same ones
   * for a day, so that who sends an address again and again does not reach more of them.
   */
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

  /**
   * Answers `getaddr`, once, and only who called us: who made us call him could put addresses into our book and learn
   * from the answer who we are.
   */
  private answer(peer: Peer): Effect.Effect<void> {
    if (!peer.inbound || peer.closed) return Effect.void
    const { state } = this.join(peer)
    if (state.answered) return Effect.void
    state.answered = true
    state.drop()
    const now = this.options.now()
    for (const address of this.sample(peer, now)) state.push(address)
    const due = state.due(now)
    return due.length === 0 ? Effect.void : peer.send(toMessage(peer, due))
  }

  /** What everybody who comes the same way is told for about a day: so asking again and again shows no more. */
  private sample(peer: Peer, now: number): ReadonlyArray<KnownAddress> {
    const way = `${peer.address.network} ${peer.bind ?? ""}`
    const kept = this.answers.get(way)
    if (kept !== undefined && now < kept.until) return kept.addresses
    const { bans, book, random } = this.options
    const addresses = book.sample(MAX_ADDRESSES, ANSWER_PERCENT, now)
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
