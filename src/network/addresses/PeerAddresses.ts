import { below, exponential, type Random } from "../../base/random.ts"
import { RollingFilter } from "../../base/RollingFilter.ts"
import type { SipKey } from "../../base/siphash.ts"
import type { AddressEntry } from "../wire/messages/addr.ts"
import { MAX_ADDRESSES } from "../wire/messages/addr.ts"
import { fitsAddr, type NetAddress, type UnknownAddress } from "../wire/netAddress.ts"
import { isValid } from "../wire/netGroup.ts"
import { endpointBytes } from "./endpointBytes.ts"

/** Addresses a second that one peer may tell us of (reference/protocol.md 6.10). */
const RATE = 0.1
/** Most that a peer which was silent saves up. */
const BUCKET = MAX_ADDRESSES

/** Addresses that a peer is remembered to know, and how often one is taken for known that is not. */
const KNOWN = 5000
const FALSE_POSITIVES = 0.001

/** Mean time between two messages to one peer, seconds. */
const SEND_EVERY = 30
/** Mean time between two announcements of our own address to one peer, seconds. */
const ANNOUNCE_EVERY = 86_400

/**
 * What goes between one peer and us about addresses. Holds at most 1000 addresses that wait for it, and what it knows as
 * a filter of some kilobytes. Times are seconds since 1970.
 */
export class PeerAddresses {
  /** Whether we asked it for addresses and its answer is not complete. */
  asked = false
  /** Whether it asked us. */
  answered = false
  processed = 0
  rateLimited = 0
  private readonly addrV2: boolean
  private readonly random: Random
  private readonly known: RollingFilter
  private waiting: Array<AddressEntry> = []
  private tokens = 1
  private tokensAt: number
  private nextSend = 0
  private nextAnnouncement = 0

  constructor(options: {
    /** Whether it takes addresses of all networks (BIP 155). */
    readonly addrV2: boolean
    readonly random: Random
    readonly key: SipKey
    readonly now: number
  }) {
    this.addrV2 = options.addrV2
    this.random = options.random
    this.known = new RollingFilter({ capacity: KNOWN, falsePositives: FALSE_POSITIVES, key: options.key })
    this.tokensAt = options.now
  }

  /** Notes that it is asked for addresses: its answer is not limited. */
  ask(): void {
    this.asked = true
    this.tokens += MAX_ADDRESSES
  }

  /** Adds what the rate allows since the last time; to be called before `take`. */
  refill(now: number): void {
    if (this.tokens < BUCKET) {
      this.tokens = Math.min(BUCKET, this.tokens + RATE * Math.max(0, now - this.tokensAt))
    }
    this.tokensAt = now
  }

  /** Whether one more address of it is looked at. */
  take(): boolean {
    if (this.tokens < 1) {
      this.rateLimited++
      return false
    }
    this.tokens -= 1
    return true
  }

  /** Notes that it knows an address. */
  knows(address: NetAddress, port: number): void {
    this.known.add(endpointBytes(address, port))
  }

  /** Whether an address fits into the message that it takes. */
  understands(address: NetAddress | UnknownAddress): boolean {
    return this.addrV2 || fitsAddr(address)
  }

  /** Puts an address in line, unless it knows it. One of more than 1000 takes the place of another one. */
  push(entry: AddressEntry): void {
    const { address, port } = entry
    if (!isValid(address) || !this.understands(address) || this.known.has(endpointBytes(address, port))) return
    if (this.waiting.length < MAX_ADDRESSES) this.waiting.push(entry)
    else this.waiting[below(this.random, MAX_ADDRESSES)] = entry
  }

  /** Gives up what waits: for the answer to `getaddr`, which nothing else is to be part of. */
  drop(): void {
    this.waiting = []
  }

  /** Whether it is time to tell of our own address. */
  announcementDue(now: number): boolean {
    return now > this.nextAnnouncement
  }

  /**
   * Tells of our own address: the first time in a message of its own, which is returned, so that a peer that takes few
   * addresses of us takes this one; then with the others. For that it is forgotten what the peer knows.
   */
  announce(own: AddressEntry, now: number): ReadonlyArray<AddressEntry> {
    const isFirst = this.nextAnnouncement === 0
    this.nextAnnouncement = now + exponential(this.random, ANNOUNCE_EVERY)
    if (isFirst) return this.understands(own.address) ? [own] : []
    this.known.clear()
    this.push(own)
    return []
  }

  /** What is to be sent now; nothing between two times that have 30 s between them on average. */
  due(now: number): ReadonlyArray<AddressEntry> {
    if (now <= this.nextSend) return []
    this.nextSend = now + exponential(this.random, SEND_EVERY)
    const { waiting } = this
    if (waiting.length === 0) return []
    this.waiting = []
    return waiting.filter(({ address, port }) => {
      if (!isValid(address)) return false
      const bytes = endpointBytes(address, port)
      if (this.known.has(bytes)) return false
      this.known.add(bytes)
      return true
    })
  }
}
