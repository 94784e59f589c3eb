import { randomWords } from "../../base/entropy.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { keyInto } from "./coinCodec.ts"
import { CoinRecords, KEPT, KEY_WORDS } from "./CoinRecords.ts"

/** The entry differs from the stored coin. */
export const DIRTY = 1

/** The database has no coin here: if the coin is removed before a flush, nothing is stored. */
export const FRESH = 2

const STATE = DIRTY | FRESH

/** This place is in the list of changed ones. Each is listed once, even if a later record gets the place. */
const LISTED = KEPT

const LEAST_SLOTS = 64

/** The list of changed places keeps space for this many after a flush. */
const SHORT_LIST = 65_536

/** Bytes of an entry's share of the slots: 8 per slot, up to two thirds of them taken. */
const SLOT_BYTES = 16

/** 2^32 divided by the golden ratio, which spreads neighbouring numbers. */
const GOLDEN = 0x9e3779b1

/** Bits of a key that fit into an exact number together with a place. */
const PREFIX_BITS = 21
const PLACES = 2 ** 32

/** Factors for the first two words of a txid. */
export type Multipliers = readonly [first: number, second: number]

/** Odd numbers unknown to peers, so that no maker of transactions can aim at a slot. */
const randomMultipliers = (): Multipliers => {
  const [first = 0, second = 0] = randomWords(2)
  return [first | 1, second | 1]
}

const prefixOf = (key: Bytes): number =>
  ((((key[0] ?? 0) << 24) | ((key[1] ?? 0) << 16) | ((key[2] ?? 0) << 8)) >>> 0) >>> (32 - PREFIX_BITS)

/** The changed entries in key order. All bytes are views. */
export interface CoinChanges {
  /** Coins to store, by `coinKey`. */
  readonly coins: Iterable<readonly [key: Bytes, coin: Bytes]>
  readonly spent: Iterable<Bytes>
}

/**
 * Coins by outpoint, in stored form. As strings in a map they took twice the memory, and the garbage collector copied
 * and followed each. An entry can also say that an outpoint has no coin. `slots` is a hash table with open addressing,
 * two words per slot: the hash and the record's place, 0 for none.
 */
export class CoinTable {
  private readonly records = new CoinRecords()
  private slots = new Uint32Array(2 * LEAST_SLOTS)
  /** The high bits of a hash, shifted by this, are its slot. */
  private shift = 32 - Math.log2(LEAST_SLOTS)
  private entries = 0
  private listed = new Uint32Array(LEAST_SLOTS)
  private listedCount = 0
  private readonly first: number
  private readonly second: number
  /** The key of the outpoint in question, as words and bytes. */
  private readonly words = new Uint32Array(KEY_WORDS)
  private readonly key = new Uint8Array(this.words.buffer)

  /** @param multipliers random by default; tests choose them to force collisions. */
  constructor([first, second] = randomMultipliers()) {
    this.first = first
    this.second = second
  }

  get bytes(): number {
    return this.records.bytes + this.entries * SLOT_BYTES
  }

  /** The place of an outpoint's entry, valid until the next change; 0 for none. */
  find(outpoint: string): number {
    const hash = this.lookAt(outpoint)
    const { records, slots, words } = this
    const mask = slots.length - 1
    for (let at = 2 * (hash >>> this.shift);; at = (at + 2) & mask) {
      const place = slots[at + 1] ?? 0
      if (place === 0 || (slots[at] === hash && records.hasKey(place, words))) return place
    }
  }

  /** The coin of an entry; `undefined` if the outpoint has none. */
  coin(place: number): Coin | undefined {
    return this.records.coin(place)
  }

  /** `DIRTY` and `FRESH` of an entry. */
  state(place: number): number {
    return this.records.flags(place) & STATE
  }

  /** Adds an entry for an outpoint without one. */
  add(outpoint: string, coin: Coin | undefined, state: number): void {
    const hash = this.lookAt(outpoint)
    // First, so that a failed allocation leaves no record outside the slots.
    if (3 * (this.entries + 1) > this.slots.length) this.resize(this.slots.length)
    this.enter(hash, this.write(coin, state))
    this.entries++
  }

  set(place: number, coin: Coin | undefined, state: number): void {
    const at = this.slotOf(place)
    this.slots[at + 1] = this.write(coin, state)
    this.records.free(place)
  }

  remove(place: number): void {
    const { shift, slots } = this
    const mask = slots.length - 1
    let gap = this.slotOf(place)
    for (let at = (gap + 2) & mask;; at = (at + 2) & mask) {
      const hash = slots[at] ?? 0
      const other = slots[at + 1] ?? 0
      if (other === 0) break
      // An entry after the gap moves into it, unless its own slot is after the gap.
      const own = 2 * (hash >>> shift)
      if (((at - own) & mask) < ((at - gap) & mask)) continue
      slots[gap] = hash
      slots[gap + 1] = other
      gap = at
    }
    slots[gap + 1] = 0
    this.entries--
    this.records.free(place)
  }

  /** The entries that differ from the stored coins. Valid until the next change. */
  changes(): CoinChanges {
    const places = this.dirtyPlaces()
    return { coins: this.coinsAt(places), spent: this.spentAt(places) }
  }

  /** Marks the changes as stored. Entries without a coin are dropped. */
  settle(): void {
    const { listed, listedCount, records } = this
    this.listedCount = 0
    for (let i = 0; i < listedCount; i++) {
      const place = listed[i] ?? 0
      const isEntry = this.state(place) !== 0
      records.setFlags(place, 0)
      if (isEntry && !records.hasCoin(place)) this.remove(place)
    }
    records.giveBack()
    if (this.listed.length > SHORT_LIST) this.listed = new Uint32Array(SHORT_LIST)
    let count = this.slots.length / 2
    while (count > LEAST_SLOTS && 8 * this.entries < count) count /= 2
    if (2 * count < this.slots.length) this.resize(count)
  }

  /** Drops all entries but keeps their memory. */
  clear(): void {
    this.records.clear()
    this.slots.fill(0)
    this.entries = 0
    this.listedCount = 0
  }

  /** Makes `key` and `words` those of an outpoint. Returns its hash. */
  private lookAt(outpoint: string): number {
    keyInto(outpoint, this.key)
    return this.hash()
  }

  /** The hash of the key in question. Its high bits are the good ones. */
  private hash(): number {
    const { key, words } = this
    const index = ((key[32] ?? 0) << 24) | ((key[33] ?? 0) << 16) | ((key[34] ?? 0) << 8) | (key[35] ?? 0)
    const txid = Math.imul(words[0] ?? 0, this.first) + Math.imul(words[1] ?? 0, this.second)
    return (txid + Math.imul(index, GOLDEN)) >>> 0
  }

  /** The index in `slots` of an entry, whose key becomes that in question. */
  private slotOf(place: number): number {
    this.records.copyKey(place, this.words)
    const { slots } = this
    const mask = slots.length - 1
    for (let at = 2 * (this.hash() >>> this.shift);; at = (at + 2) & mask) if (slots[at + 1] === place) return at
  }

  /** positional: called for each coin, and for all when the slots grow */
  private enter(hash: number, place: number): void {
    const { slots } = this
    const mask = slots.length - 1
    let at = 2 * (hash >>> this.shift)
    while (slots[at + 1] !== 0) at = (at + 2) & mask
    slots[at] = hash
    slots[at + 1] = place
  }

  /** Changes the number of slots, a power of two. */
  private resize(count: number): void {
    const before = this.slots
    this.slots = new Uint32Array(2 * count)
    this.shift = 32 - Math.log2(count)
    for (let at = 0; at < before.length; at += 2) {
      const place = before[at + 1] ?? 0
      if (place !== 0) this.enter(before[at] ?? 0, place)
    }
  }

  private write(coin: Coin | undefined, state: number): number {
    const place = this.records.write(this.words, coin, state)
    const flags = this.records.flags(place)
    if (state === 0 || (flags & LISTED) !== 0) return place
    this.records.setFlags(place, flags | LISTED)
    if (this.listedCount === this.listed.length) {
      const grown = new Uint32Array(2 * this.listed.length)
      grown.set(this.listed)
      this.listed = grown
    }
    this.listed[this.listedCount++] = place
    return place
  }

  /** The places of dirty entries, in key order. */
  private dirtyPlaces(): Uint32Array {
    const { listed, records } = this
    // The first bits of the key combined with the place: numbers sort ten times faster than with a comparison function.
    const numbers = new Float64Array(this.listedCount)
    let count = 0
    for (let i = 0; i < this.listedCount; i++) {
      const place = listed[i] ?? 0
      if ((records.flags(place) & DIRTY) !== 0) numbers[count++] = prefixOf(records.key(place)) * PLACES + place
    }
    const sorted = numbers.subarray(0, count).sort()
    // Keeps the low 32 bits: the place.
    const places = new Uint32Array(sorted)
    for (let from = 0, to = 0; from < count; from = to) {
      const prefix = Math.floor((sorted[from] ?? 0) / PLACES)
      for (to = from + 1; to < count && Math.floor((sorted[to] ?? 0) / PLACES) === prefix;) to++
      if (to - from > 1) places.subarray(from, to).sort(this.byKey)
    }
    return places
  }

  private readonly byKey = (a: number, b: number): number => Buffer.compare(this.records.key(a), this.records.key(b))

  private *coinsAt(places: Uint32Array): Iterable<readonly [key: Bytes, coin: Bytes]> {
    const { records } = this
    for (const place of places) if (records.hasCoin(place)) yield [records.key(place), records.coinBytes(place)]
  }

  private *spentAt(places: Uint32Array): Iterable<Bytes> {
    const { records } = this
    for (const place of places) if (!records.hasCoin(place)) yield records.key(place)
  }
}
