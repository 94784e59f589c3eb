import { below, type Random, randomBytes } from "../../base/random.ts"
import { sipKey } from "../../base/siphash.ts"
import { type Bytes, equal, fromHex, toHex } from "../../protocol/bytes.ts"
import type { KnownAddress } from "../peerInfo.ts"
import type { AddressNetwork, NetAddress } from "../wire/netAddress.ts"
import { isLocal, isRoutable, isValid } from "../wire/netGroup.ts"
import {
  type AddressSource,
  type BookAddress,
  type BookEntry,
  chanceOf,
  isTerrible,
  newEntry,
  shown,
  sourceGroup
} from "./bookEntry.ts"
import { type BookRow, type BookSnapshot, entryOf, rowOf } from "./bookRow.ts"
import { type BookPlace, BookTables, MAX_BUCKETS_PER_ADDRESS } from "./BookTables.ts"

const MAX_COLLISIONS = 10
const HOUR = 3600

/** How long a tried address is safe after it answered, or was called. */
const REPLACEMENT = 4 * HOUR
/** How long a call may take before it counts as failed. */
const CALL = 60
/** How long an address waits for the one in its place to be tested. */
const TEST_WINDOW = 2400

/** Bytes of the secret that the buckets depend on. */
export const BOOK_KEY_SIZE = 16

export interface AddressBookOptions {
  readonly random: Random
  /** Whether addresses of this machine are taken, for test networks. */
  readonly allowLocal?: boolean
  /** The secret; drawn where there is none. */
  readonly key?: Bytes
}

/**
 * Where peers may be found (reference/protocol.md 6.10; upstream `addrman.cpp`): *new* addresses, which others told us
 * of, and *tried* ones, which have answered. Each table consists of buckets, and which an address may be in follows
 * from a secret, its group and the group of the peer that sent it: so no peer fills the book with its own addresses.
 *
 * Of those that compete for a slot of the new table the first stays, unless it is terrible or is elsewhere as well; one
 * of the tried table stays until it was tested and did not answer.
 *
 * Times are seconds since 1970.
 */
export class AddressBook {
  private readonly random: Random
  private readonly allowLocal: boolean
  private readonly secret: Bytes
  private readonly tables: BookTables
  /** New addresses that answered and whose place in the tried table is taken. */
  private readonly collisions = new Set<BookEntry>()
  /** The last success with any address. A failure counts once since: where nobody answers, the fault is ours. */
  private lastGood = 1

  constructor({ allowLocal = false, key, random }: AddressBookOptions) {
    this.random = random
    this.allowLocal = allowLocal
    this.secret = key ?? randomBytes(random, BOOK_KEY_SIZE)
    this.tables = new BookTables({
      key: sipKey(this.secret),
      random,
      forgotten: (entry) => this.collisions.delete(entry)
    })
  }

  /**
   * The book that was kept. Leaves out what has no place in it: addresses that cannot be read or are not taken, that
   * stand there twice, and that find all their slots taken.
   */
  static fromJSON({ addresses, key }: BookSnapshot, options: AddressBookOptions): AddressBook {
    const secret = fromHex(key)
    const book = new AddressBook(secret?.length === BOOK_KEY_SIZE ? { ...options, key: secret } : options)
    for (const row of addresses) {
      const entry = entryOf(row)
      if (entry !== undefined && book.takes(entry.address, entry.port)) book.tables.restore(entry, row.buckets)
    }
    return book
  }

  toJSON(): BookSnapshot & { readonly addresses: ReadonlyArray<BookRow> } {
    return { key: toHex(this.secret), addresses: this.tables.all.map(rowOf) }
  }

  /**
   * The book to be kept, whose rows are made as they are read: a full book takes too long to be made at once. Changes
   * meanwhile may show, and two addresses may claim one slot; then `fromJSON` leaves one out.
   */
  snapshot(): BookSnapshot {
    const entries = [...this.tables.all]
    return {
      key: toHex(this.secret),
      addresses: (function*() {
        for (const entry of entries) if (entry.tried || entry.buckets.length > 0) yield rowOf(entry)
      })()
    }
  }

  get size(): number {
    return this.tables.all.length
  }

  /** How many addresses there are of each network that there are any of. */
  counts(): ReadonlyMap<AddressNetwork, { readonly fresh: number; readonly tried: number }> {
    return new Map(Array.from(this.tables.counts, ([network, numbers]) => [network, { ...numbers }]))
  }

  /** All addresses, in no particular order. */
  all(): ReadonlyArray<BookAddress> {
    return this.tables.all.map(shown)
  }

  find(address: NetAddress, port: number): BookAddress | undefined {
    const entry = this.tables.find(address, port)
    return entry === undefined ? undefined : shown(entry)
  }

  /** Every slot that is taken. */
  places(): Generator<BookPlace> {
    return this.tables.places()
  }

  /**
   * Takes addresses that a source told of, and returns how many found a place. Those that are known are renewed. The
   * penalty, seconds, makes them as much older; not what somebody says of its own address.
   * Source: upstream `addrman.cpp`, `AddSingle`.
   */
  add(
    addresses: Iterable<KnownAddress>,
    source: AddressSource,
    { now, penalty = 0 }: { readonly now: number; readonly penalty?: number }
  ): number {
    const group = sourceGroup(source)
    let added = 0
    for (const known of addresses) {
      if (!this.takes(known.address, known.port)) continue
      const itself = !("seed" in source) && isSame(source, known.address)
      if (this.addOne(known, group, { now, penalty: itself ? 0 : penalty })) added++
    }
    return added
  }

  /**
   * Notes that an address answered: the handshake came to its end. Returns whether that made it a tried one; where
   * another has its place, that one is tested first. Source: upstream `addrman.cpp`, `Good_`.
   */
  good(address: NetAddress, port: number, now: number): boolean {
    this.lastGood = now
    const entry = this.tables.find(address, port)
    return entry !== undefined && this.answered(entry, now, true)
  }

  /** Notes that an address is called. A failure is counted once until some address answers. */
  attempt(address: NetAddress, port: number, now: number, countFailure: boolean): void {
    const entry = this.tables.find(address, port)
    if (entry === undefined) return
    entry.lastTry = now
    if (countFailure && entry.lastCounted < this.lastGood) {
      entry.lastCounted = now
      entry.attempts++
    }
  }

  /**
   * Notes that a peer was there until now. For the end of a connection: told at once, the times that we pass on would
   * show whom we are connected to.
   */
  connected(address: NetAddress, port: number, now: number): void {
    const entry = this.tables.find(address, port)
    if (entry !== undefined && now - entry.time > 1200) entry.time = now
  }

  /** Notes what a peer itself says that it offers. */
  setServices(address: NetAddress, port: number, services: bigint): void {
    const entry = this.tables.find(address, port)
    if (entry !== undefined) entry.services = services
  }

  /**
   * An address to call: new or tried with even chance, and rather one that did not fail often or just now.
   * Source: upstream `addrman.cpp`, `Select_`.
   */
  select(
    { networks, newOnly = false }: { readonly newOnly?: boolean; readonly networks?: ReadonlySet<AddressNetwork> },
    now: number
  ): BookAddress | undefined {
    const { fresh, tried } = this.available(networks)
    const triedCount = newOnly ? 0 : tried
    if (fresh + triedCount === 0) return undefined
    const searched = fresh === 0 || (triedCount > 0 && this.random() < 0.5) ? "tried" : "new"
    for (let factor = 1;;) {
      const entry = this.tables.pick(searched, networks)
      if (entry === undefined) continue
      if (this.random() < factor * chanceOf(entry, now)) return shown(entry)
      factor *= 1.2
    }
  }

  /** The tried address that stands in the way of one that answered, to be tested. */
  selectCollision(): BookAddress | undefined {
    const entry = Array.from(this.collisions)[below(this.random, this.collisions.size)]
    if (entry === undefined) return undefined
    const old = this.tables.inPlaceOf(entry)
    return old === undefined ? undefined : shown(old)
  }

  /** Whether there are addresses whose place is to be decided on. */
  get hasCollisions(): boolean {
    return this.collisions.size > 0
  }

  /**
   * Decides between those that were tested and those that wait for their place. To be called before `select`.
   * Source: upstream `addrman.cpp`, `ResolveCollisions_`.
   */
  resolveCollisions(now: number): void {
    for (const entry of this.collisions) {
      const old = this.tables.inPlaceOf(entry)
      const decision = old === undefined ? "replace" : decide(old, entry, now)
      if (decision === "wait") continue
      this.collisions.delete(entry)
      if (decision === "replace") {
        this.lastGood = now
        this.answered(entry, now, false)
      }
    }
  }

  /**
   * Addresses at random, terrible ones left out: at most `max`, and at most this percentage of all; 0 stands for no
   * limit. Source: upstream `addrman.cpp`, `GetAddr_`.
   */
  sample(max: number, percent: number, now: number, network?: AddressNetwork): Array<KnownAddress> {
    const { length } = this.tables.all
    const share = percent === 0 ? length : Math.floor((Math.min(percent, 100) * length) / 100)
    const most = max === 0 ? share : Math.min(share, max)
    const sample: Array<KnownAddress> = []
    if (most === 0) return sample
    for (const entry of this.tables.shuffled()) {
      if (isTerrible(entry, now) || (network !== undefined && entry.address.network !== network)) continue
      const { address, port, services, time } = entry
      sample.push({ address, port, services, time })
      if (sample.length === most) break
    }
    return sample
  }

  private takes(address: NetAddress, port: number): boolean {
    return port > 0 && (isRoutable(address) || (this.allowLocal && isValid(address) && isLocal(address)))
  }

  private available(networks: ReadonlySet<AddressNetwork> | undefined): { fresh: number; tried: number } {
    const sum = { fresh: 0, tried: 0 }
    for (const [network, { fresh, tried }] of this.tables.counts) {
      if (networks !== undefined && !networks.has(network)) continue
      sum.fresh += fresh
      sum.tried += tried
    }
    return sum
  }

  private addOne(
    known: KnownAddress,
    source: string,
    { now, penalty }: { readonly now: number; readonly penalty: number }
  ): boolean {
    const found = this.tables.find(known.address, known.port)
    if (found !== undefined && !this.renew(found, known, { now, penalty })) return false
    const entry = found ?? newEntry({ ...known, time: Math.max(0, known.time - penalty) }, source)
    return this.tables.placeNew(
      entry,
      source,
      (holder) => isTerrible(holder, now) || (holder.buckets.length > 1 && found === undefined)
    )
  }

  /** Takes over what is new of a known address, and returns whether it may take another bucket. */
  private renew(
    entry: BookEntry,
    { services, time }: KnownAddress,
    { now, penalty }: { readonly now: number; readonly penalty: number }
  ): boolean {
    const online = now - time < 24 * HOUR
    if (entry.time < time - (online ? HOUR : 24 * HOUR) - penalty) entry.time = Math.max(0, time - penalty)
    entry.services |= services
    if (time <= entry.time || entry.tried || entry.buckets.length >= MAX_BUCKETS_PER_ADDRESS) return false
    // Each further bucket is twice as hard to get.
    return below(this.random, 2 ** entry.buckets.length) === 0
  }

  private answered(entry: BookEntry, now: number, testFirst: boolean): boolean {
    entry.lastSuccess = now
    entry.lastTry = now
    entry.attempts = 0
    // `time` stays: what we pass on would tell whom we are connected to.
    if (entry.tried) return false
    if (testFirst && this.tables.inPlaceOf(entry) !== undefined) {
      if (this.collisions.size < MAX_COLLISIONS) this.collisions.add(entry)
      return false
    }
    this.collisions.delete(entry)
    this.tables.makeTried(entry)
    return true
  }
}

const isSame = (a: NetAddress, b: NetAddress): boolean => a.network === b.network && equal(a.bytes, b.bytes)

/** What becomes of an address that waits for the place of a tried one. */
const decide = (old: BookEntry, waiting: BookEntry, now: number): "keep" | "replace" | "wait" => {
  if (now - old.lastSuccess < REPLACEMENT) return "keep"
  if (now - old.lastTry < REPLACEMENT) return now - old.lastTry > CALL ? "replace" : "wait"
  // It was not tested in all that time.
  return now - waiting.lastSuccess > TEST_WINDOW ? "replace" : "wait"
}
