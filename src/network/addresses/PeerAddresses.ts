import { below, exponential, type Random } from "../../base/random.ts"
import { RollingFilter } from "../../base/RollingFilter.ts"
import type { SipKey } from "../../base/siphash.ts"
import type { AddressEntry } from "../wire/messages/addr.ts"
import { MAX_ADDRESSES } from "../wire/messages/addr.ts"
import { fitsAddr, type NetAddress, type UnknownAddress } from "../wire/netAddress.ts"
import { isValid } from "../wire/netGroup.ts"
import { endpointBytes } from "./endpointBytes.ts"

/** Addresses per second accepted from one peer (reference/protocol.md 6.10). */
const RATE = 0.1
const BUCKET = MAX_ADDRESSES

const KNOWN = 5000
const FALSE_POSITIVES = 0.001

/** Mean seconds between two messages to one peer. */
const SEND_EVERY = 30
/** Mean seconds between two announcements of our own address to one peer. */
const ANNOUNCE_EVERY = 86_400

/** Address relay with one peer: at most 1000 waiting addresses and a filter of known ones. Seconds since 1970. */
export class PeerAddresses {
  /** Whether we sent `getaddr` and the answer is incomplete. */
  asked = false
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

  ask(): void {
    this.asked = true
    this.tokens += MAX_ADDRESSES
  }

  /** Call it before `take`. */
  refill(now: number): void {
    if (this.tokens < BUCKET) {
      this.tokens = Math.min(BUCKET, this.tokens + RATE * Math.max(0, now - this.tokensAt))
    }
    this.tokensAt = now
  }

  take(unlimited = false): boolean {
    if (this.tokens < 1) {
      if (unlimited) return true
      this.rateLimited++
      return false
    }
    this.tokens -= 1
    return true
  }

  knows(address: NetAddress, port: number): void {
    this.known.add(endpointBytes(address, port))
  }

  understands(address: NetAddress | UnknownAddress): boolean {
    return this.addrV2 || fitsAddr(address)
  }

  /** Skips known addresses. With 1000 waiting, replaces a random one. */
  push(entry: AddressEntry): void {
    const { address, port } = entry
    if (!isValid(address) || !this.understands(address) || this.known.has(endpointBytes(address, port))) return
    if (this.waiting.length < MAX_ADDRESSES) this.waiting.push(entry)
    else this.waiting[below(this.random, MAX_ADDRESSES)] = entry
  }

  /** The answer to `getaddr` must contain nothing else. */
  drop(): void {
    this.waiting = []
  }

  announcementDue(now: number): boolean {
    return now > this.nextAnnouncement
  }

  /** The first one is returned for its own message, which even a tight rate limit accepts. */
  announce(own: AddressEntry, now: number): ReadonlyArray<AddressEntry> {
    const isFirst = this.nextAnnouncement === 0
    this.nextAnnouncement = now + exponential(this.random, ANNOUNCE_EVERY)
    if (isFirst) return this.understands(own.address) ? [own] : []
    this.known.clear()
    this.push(own)
    return []
  }

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
