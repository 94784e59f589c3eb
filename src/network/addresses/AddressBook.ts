import { below, bytesFrom, type Random } from "../../base/random.ts"
import { sipKey } from "../../base/siphash.ts"
import { type Bytes, equal, fromHex, toHex } from "../../protocol/bytes.ts"
import type { UnixTime } from "../../protocol/keys.ts"
import type { KnownAddress } from "../peerInfo.ts"
import type { AddressNetwork, NetAddress } from "../wire/netAddress.ts"
import { isLocal, isRoutable, isValid } from "../wire/netGroup.ts"
import {
  type AddressSource,
  type BookAddress,
  type BookEntry,
  chanceOf,
  isTerrible,
  newBookEntry,
  shown,
  sourceGroup
} from "./bookEntry.ts"
import { type BookRow, type BookSnapshot, entryOf, rowOf } from "./bookRow.ts"
import { type BookPlace, BookTables, MAX_BUCKETS_PER_ADDRESS } from "./BookTables.ts"

const MAX_COLLISIONS = 10
const HOUR = 3600

/** How long a tried address cannot be replaced after it answered or was tried. */
const REPLACEMENT = 4 * HOUR
/** Limit of a connection attempt before it counts as failed. */
const CALL = 60
/** How long a new address waits for the test of the tried one in its slot. */
const TEST_WINDOW = 2400

/** Bytes of the secret that determines the buckets. */
export const BOOK_KEY_SIZE = 16

export interface AddressBookOptions {
  readonly random: Random
  readonly allowLocal?: boolean
  /** Random if absent. */
  readonly key?: Bytes
}

/**
 * Known peer addresses (reference/protocol.md 6.10; upstream `addrman.cpp`): *new* ones, and *tried* ones, which have
 * answered. Each table consists of buckets; a secret, the groups of the address and of its source decide which are open
 * to it, so no peer can fill the book. The holder of a new slot stays unless it is terrible or in another bucket too;
 * of a tried slot, until a test of it fails. Seconds since 1970.
 */
export class AddressBook {
  private readonly random: Random
  private readonly allowLocal: boolean
  private readonly secret: Bytes
  private readonly tables: BookTables
  /** Addresses that answered but whose slot in the tried table is taken. */
  private readonly collisions = new Set<BookEntry>()
  /** The last success with any address. A failure counts once since then: if no address answers, the cause is local. */
  private lastGood = 1

  constructor({ allowLocal = false, key, random }: AddressBookOptions) {
    this.random = random
    this.allowLocal = allowLocal
    this.secret = key ?? bytesFrom(random, BOOK_KEY_SIZE)
    this.tables = new BookTables({
      key: sipKey(this.secret),
      random,
      forgotten: (entry) => this.collisions.delete(entry)
    })
  }

  /** Drops invalid and duplicate addresses, and those without a free slot. */
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

  /** Rows are created on access. If two claim one slot after a change, `fromJSON` drops one. */
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

  counts(): ReadonlyMap<AddressNetwork, { readonly fresh: number; readonly tried: number }> {
    return new Map(Array.from(this.tables.counts, ([network, numbers]) => [network, { ...numbers }]))
  }

  all(): ReadonlyArray<BookAddress> {
    return this.tables.all.map(shown)
  }

  find(address: NetAddress, port: number): BookAddress | undefined {
    const entry = this.tables.find(address, port)
    return entry === undefined ? undefined : shown(entry)
  }

  places(): Generator<BookPlace> {
    return this.tables.places()
  }

  /**
   * Returns how many found a slot. The penalty in seconds makes them older, except the source's own address. Source:
   * upstream `addrman.cpp`, `AddSingle`.
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
   * Returns whether the address became tried; if its slot is taken, the holder is tested first. Source: upstream
   * `addrman.cpp`, `Good_`.
   */
  good(address: NetAddress, port: number, now: UnixTime): boolean {
    this.lastGood = now
    const entry = this.tables.find(address, port)
    return entry !== undefined && this.answered(entry, now, true)
  }

  /** A failure counts once until some address answers. */
  attempt(
    address: NetAddress,
    port: number,
    { countFailure, now }: { readonly now: number; readonly countFailure: boolean }
  ): void {
    const entry = this.tables.find(address, port)
    if (entry === undefined) return
    entry.lastTry = now
    if (countFailure && entry.lastCounted < this.lastGood) {
      entry.lastCounted = now
      entry.attempts++
    }
  }

  /** Only at the end of a connection: earlier updates would reveal our peers through relayed times. */
  connected(address: NetAddress, port: number, now: UnixTime): void {
    const entry = this.tables.find(address, port)
    if (entry !== undefined && now - entry.time > 1200) entry.time = now
  }

  setServices(address: NetAddress, port: number, services: bigint): void {
    const entry = this.tables.find(address, port)
    if (entry !== undefined) entry.services = services
  }

  /** Selects new or tried at even odds, preferring few and old failures. Source: upstream `addrman.cpp`, `Select_`. */
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

  /** A tried address to test, because an address that answered needs its slot. */
  selectCollision(): BookAddress | undefined {
    const entry = Array.from(this.collisions)[below(this.random, this.collisions.size)]
    if (entry === undefined) return undefined
    const old = this.tables.inPlaceOf(entry)
    return old === undefined ? undefined : shown(old)
  }

  get hasCollisions(): boolean {
    return this.collisions.size > 0
  }

  /** Resolves tested collisions, before `select`. Source: upstream `addrman.cpp`, `ResolveCollisions_`. */
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

  /** At most `max` and this percentage; 0 means no limit. Source: upstream `addrman.cpp`, `GetAddr_`. */
  sample(
    { max, network, now, percent }: {
      readonly max: number
      readonly percent: number
      readonly now: number
      readonly network?: AddressNetwork | undefined
    }
  ): Array<KnownAddress> {
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
    const entry = found ?? newBookEntry({ ...known, time: Math.max(0, known.time - penalty) }, source)
    return this.tables.placeNew(
      entry,
      source,
      (holder) => isTerrible(holder, now) || (holder.buckets.length > 1 && found === undefined)
    )
  }

  private renew(
    entry: BookEntry,
    { services, time }: KnownAddress,
    { now, penalty }: { readonly now: number; readonly penalty: number }
  ): boolean {
    const online = now - time < 24 * HOUR
    if (entry.time < time - (online ? HOUR : 24 * HOUR) - penalty) entry.time = Math.max(0, time - penalty)
    entry.services |= services
    if (time <= entry.time || entry.tried || entry.buckets.length >= MAX_BUCKETS_PER_ADDRESS) return false
    return below(this.random, 2 ** entry.buckets.length) === 0
  }

  private answered(entry: BookEntry, now: number, testFirst: boolean): boolean {
    entry.lastSuccess = now
    entry.lastTry = now
    entry.attempts = 0
    // `time` stays: relaying an update would reveal our current peers.
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

const decide = (old: BookEntry, waiting: BookEntry, now: number): "keep" | "replace" | "wait" => {
  if (now - old.lastSuccess < REPLACEMENT) return "keep"
  if (now - old.lastTry < REPLACEMENT) return now - old.lastTry > CALL ? "replace" : "wait"
  return now - waiting.lastSuccess > TEST_WINDOW ? "replace" : "wait"
}
