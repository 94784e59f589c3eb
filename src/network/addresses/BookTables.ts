import { below, type Random } from "../../base/random.ts"
import type { SipKey } from "../../base/siphash.ts"
import { type AddressNetwork, endpointKey, type NetAddress } from "../wire/netAddress.ts"
import {
  type BookAddress,
  type BookEntry,
  BUCKET_SIZE,
  NEW_BUCKETS,
  newBucket,
  shown,
  slotOf,
  TRIED_BUCKETS,
  triedBucket
} from "./bookEntry.ts"

export const MAX_BUCKETS_PER_ADDRESS = 8

export const MAX_ENTRIES = (NEW_BUCKETS + TRIED_BUCKETS) * BUCKET_SIZE

export interface BookPlace {
  readonly table: "new" | "tried"
  readonly bucket: number
  readonly position: number
  readonly address: BookAddress
}

type Slots = Array<BookEntry | undefined>

const emptySlots = (buckets: number): Slots => new Array<BookEntry | undefined>(buckets * BUCKET_SIZE).fill(undefined)

export interface TableCounts {
  readonly fresh: number
  readonly tried: number
}

/** An address has one tried slot or 1 to 8 new ones. Without a slot it is removed, so at most 81,920 fit. */
export class BookTables {
  private readonly key: SipKey
  private readonly random: Random
  private readonly entries = new Map<string, BookEntry>()
  private readonly list: Array<BookEntry> = []
  private readonly fresh = emptySlots(NEW_BUCKETS)
  private readonly tried = emptySlots(TRIED_BUCKETS)
  private readonly numbers = new Map<AddressNetwork, { fresh: number; tried: number }>()
  private readonly forgotten: (entry: BookEntry) => void

  constructor(options: {
    readonly key: SipKey
    readonly random: Random
    readonly forgotten: (entry: BookEntry) => void
  }) {
    this.key = options.key
    this.random = options.random
    this.forgotten = options.forgotten
  }

  get all(): ReadonlyArray<BookEntry> {
    return this.list
  }

  get counts(): ReadonlyMap<AddressNetwork, TableCounts> {
    return this.numbers
  }

  find(address: NetAddress, port: number): BookEntry | undefined {
    return this.entries.get(endpointKey(address, port))
  }

  *places(): Generator<BookPlace> {
    for (const [table, slots] of [["new", this.fresh], ["tried", this.tried]] as const) {
      for (const [at, entry] of slots.entries()) {
        if (entry === undefined) continue
        yield { table, bucket: Math.floor(at / BUCKET_SIZE), position: at % BUCKET_SIZE, address: shown(entry) }
      }
    }
  }

  /** In random order, generated lazily. The book must not change during the iteration. */
  *shuffled(): Generator<BookEntry> {
    for (let i = 0; i < this.list.length; i++) {
      const entry = this.swap({ i, j: i + below(this.random, this.list.length - i) })
      if (entry !== undefined) yield entry
    }
  }

  /** The first address in a random bucket, starting at a random position. */
  pick(table: "new" | "tried", networks: ReadonlySet<AddressNetwork> | undefined): BookEntry | undefined {
    const slots = table === "new" ? this.fresh : this.tried
    const bucket = below(this.random, slots.length / BUCKET_SIZE)
    const start = below(this.random, BUCKET_SIZE)
    for (let i = 0; i < BUCKET_SIZE; i++) {
      const entry = slots[bucket * BUCKET_SIZE + (start + i) % BUCKET_SIZE]
      if (entry !== undefined && (networks === undefined || networks.has(entry.address.network))) return entry
    }
    return undefined
  }

  inPlaceOf(entry: BookEntry): BookEntry | undefined {
    return this.tried[this.triedSlot(entry)]
  }

  /** Returns whether the address was added. `yields` decides whether the holder of a full slot gives it up. */
  placeNew(entry: BookEntry, source: string, yields: (holder: BookEntry) => boolean): boolean {
    const bucket = newBucket(this.key, entry, source)
    const slot = slotOf(this.key, entry, { table: "new", bucket })
    const holder = this.fresh[slot]
    if (holder === entry) return false
    if (holder !== undefined) {
      if (!yields(holder)) return false
      this.clearNew(slot)
    }
    if (entry.buckets.length === 0) this.enter(entry)
    this.fresh[slot] = entry
    entry.buckets.push(bucket)
    return true
  }

  /** The previous holder of the tried slot returns to the new table. */
  makeTried(entry: BookEntry): void {
    for (const bucket of entry.buckets) this.fresh[slotOf(this.key, entry, { table: "new", bucket })] = undefined
    entry.buckets.length = 0
    entry.tried = true
    this.count(entry, { fresh: -1, tried: 1 })
    const slot = this.triedSlot(entry)
    const old = this.tried[slot]
    this.tried[slot] = entry
    if (old !== undefined) this.makeNew(old)
  }

  /** Restores an entry to the given new buckets or, without a list, to the tried table. */
  restore(entry: BookEntry, buckets: ReadonlyArray<number> | undefined): void {
    if (this.entries.has(entry.key)) return
    if (buckets === undefined) {
      const slot = this.triedSlot(entry)
      if (this.tried[slot] !== undefined) return
      this.enter(entry)
      this.count(entry, { fresh: -1, tried: 1 })
      this.tried[slot] = entry
      entry.tried = true
      return
    }
    for (const bucket of new Set(buckets)) {
      const slot = slotOf(this.key, entry, { table: "new", bucket })
      if (this.fresh[slot] !== undefined || entry.buckets.length === MAX_BUCKETS_PER_ADDRESS) continue
      if (entry.buckets.length === 0) this.enter(entry)
      this.fresh[slot] = entry
      entry.buckets.push(bucket)
    }
  }

  private triedSlot(entry: BookEntry): number {
    return slotOf(this.key, entry, { table: "tried", bucket: triedBucket(this.key, entry) })
  }

  private makeNew(entry: BookEntry): void {
    entry.tried = false
    this.count(entry, { fresh: 1, tried: -1 })
    const bucket = newBucket(this.key, entry, entry.source)
    const slot = slotOf(this.key, entry, { table: "new", bucket })
    this.clearNew(slot)
    this.fresh[slot] = entry
    entry.buckets.push(bucket)
  }

  private clearNew(slot: number): void {
    const entry = this.fresh[slot]
    if (entry === undefined) return
    this.fresh[slot] = undefined
    entry.buckets.splice(entry.buckets.indexOf(Math.floor(slot / BUCKET_SIZE)), 1)
    if (entry.buckets.length === 0) this.forget(entry)
  }

  private enter(entry: BookEntry): void {
    entry.at = this.list.length
    this.list.push(entry)
    this.entries.set(entry.key, entry)
    this.count(entry, { fresh: 1, tried: 0 })
  }

  private forget(entry: BookEntry): void {
    this.swap({ i: entry.at, j: this.list.length - 1 })
    this.list.pop()
    this.entries.delete(entry.key)
    this.count(entry, { fresh: -1, tried: 0 })
    this.forgotten(entry)
  }

  private swap({ i, j }: { readonly i: number; readonly j: number }): BookEntry | undefined {
    const [a, b] = [this.list[i], this.list[j]]
    if (a === undefined || b === undefined) return undefined
    this.list[i] = b
    this.list[j] = a
    a.at = j
    b.at = i
    return b
  }

  private count(
    { address: { network } }: BookEntry,
    { fresh, tried }: TableCounts
  ): void {
    const before = this.numbers.get(network) ?? { fresh: 0, tried: 0 }
    const now = { fresh: before.fresh + fresh, tried: before.tried + tried }
    if (now.fresh + now.tried === 0) this.numbers.delete(network)
    else this.numbers.set(network, now)
  }
}
