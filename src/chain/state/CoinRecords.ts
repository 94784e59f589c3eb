import type { Coin } from "../../consensus/view.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"
import { coinHead, readCoin } from "./coinCodec.ts"

/** Bits of a record besides its length. A freed record keeps `KEPT`. */
const FLAG_BITS = 8
const FLAGS = (1 << FLAG_BITS) - 1
export const KEPT = 1 << (FLAG_BITS - 1)

const MOST_COIN_BYTES = 2 ** (32 - FLAG_BITS) - 1

/** Bytes of a unit. A place is the number of a record's first unit, never 0. */
const UNIT = 8

/** The binary logarithm of a chunk's units: 1 MiB. Only a longer record has a longer chunk of its own. */
const CHUNK_BITS = 17
const CHUNK_UNITS = 1 << CHUNK_BITS
const CHUNK_BYTES = CHUNK_UNITS * UNIT

/** Offsets in a record. */
const KEY = 4
const COIN = KEY + OUTPOINT_SIZE

export const KEY_WORDS = OUTPOINT_SIZE / 4

/** A flush is due from this size on. Places are 32-bit numbers, which can address 32 GiB. */
const MOST_BYTES = 2 ** 34

interface Chunk {
  readonly bytes: Uint8Array
  readonly words: Uint32Array
}

const chunkOf = (units: number): Chunk => {
  const buffer = new ArrayBuffer(Math.max(CHUNK_BYTES, units * UNIT))
  return { bytes: new Uint8Array(buffer), words: new Uint32Array(buffer) }
}

const NO_CHUNK: Chunk = { bytes: new Uint8Array(0), words: new Uint32Array(0) }

const unitsOf = (coinBytes: number): number => Math.ceil((COIN + coinBytes) / UNIT)

const offsetOf = (place: number): number => (place & (CHUNK_UNITS - 1)) * UNIT

const wordOf = (place: number): number => offsetOf(place) >>> 2

/**
 * Coin records in a few large buffers, outside the JavaScript heap. A record lies within one chunk and does not move.
 * The place of a freed record goes to the next record with as many units.
 *
 *     0               4                40                 40 + size
 *     ├───────────────┼────────────────┼──────────────────┼ ─ ─ ─ ┤
 *      size·256+flags  key (`coinKey`)   coin, or nothing   up to a multiple of 8
 */
export class CoinRecords {
  private chunks: Array<Chunk> = []
  /** The chunk of the next new record, and its unit there. */
  private current = 0
  private next = 1
  /** The last freed place by number of units. Its second word is the place freed before it. */
  private readonly freed = new Map<number, number>()
  private live = 0

  /** Bytes of the records, including free space except in one chunk. */
  get bytes(): number {
    const live = this.live * UNIT
    const taken = (this.current * CHUNK_UNITS + this.next) * UNIT
    return taken < MOST_BYTES ? Math.max(live, taken - CHUNK_BYTES) : Number.POSITIVE_INFINITY
  }

  flags(place: number): number {
    return this.head(place) & FLAGS
  }

  /** positional: called for each changed coin */
  setFlags(place: number, flags: number): void {
    this.chunk(place).words[wordOf(place)] = (this.head(place) & ~FLAGS) | flags
  }

  hasCoin(place: number): boolean {
    return this.head(place) >>> FLAG_BITS > 0
  }

  coin(place: number): Coin | undefined {
    const at = offsetOf(place) + COIN
    const size = this.head(place) >>> FLAG_BITS
    return size === 0 ? undefined : readCoin(this.chunk(place).bytes, at, at + size)
  }

  key(place: number): Bytes {
    const at = offsetOf(place) + KEY
    return this.chunk(place).bytes.subarray(at, at + OUTPOINT_SIZE)
  }

  coinBytes(place: number): Bytes {
    const at = offsetOf(place) + COIN
    return this.chunk(place).bytes.subarray(at, at + (this.head(place) >>> FLAG_BITS))
  }

  copyKey(place: number, into: Uint32Array): void {
    const { words } = this.chunk(place)
    const from = wordOf(place) + KEY / 4
    for (let i = 0; i < KEY_WORDS; i++) into[i] = words[from + i] ?? 0
  }

  hasKey(place: number, key: Uint32Array): boolean {
    const { words } = this.chunk(place)
    const from = wordOf(place) + KEY / 4
    for (let i = 0; i < KEY_WORDS; i++) if (words[from + i] !== key[i]) return false
    return true
  }

  /** Writes a record and returns its place. It has the given flags and those that the place kept. */
  write(key: Uint32Array, coin: Coin | undefined, flags: number): number {
    if (coin === undefined) return this.writeHead(key, 0, flags)
    const head = coinHead(coin)
    const place = this.writeHead(key, head.size + coin.script.length, flags)
    const { bytes } = this.chunk(place)
    const at = offsetOf(place) + COIN
    head.copyInto(bytes, at)
    bytes.set(coin.script, at + head.size)
    return place
  }

  /** Writes a record without its coin of `size` bytes. positional: called for each changed coin */
  private writeHead(key: Uint32Array, size: number, flags: number): number {
    if (size > MOST_COIN_BYTES) throw new RangeError(`a coin of ${size} bytes is too long for a record`)
    const place = this.take(unitsOf(size))
    const { words } = this.chunk(place)
    const at = wordOf(place)
    words[at] = (size << FLAG_BITS) | ((words[at] ?? 0) & KEPT) | flags
    for (let i = 0; i < KEY_WORDS; i++) words[at + KEY / 4 + i] = key[i] ?? 0
    return place
  }

  free(place: number): void {
    const { words } = this.chunk(place)
    const at = wordOf(place)
    const head = words[at] ?? 0
    const units = unitsOf(head >>> FLAG_BITS)
    words[at] = head & KEPT
    words[at + 1] = this.freed.get(units) ?? 0
    this.freed.set(units, place)
    this.live -= units
  }

  /** Frees all records but keeps their chunks. */
  clear(): void {
    this.giveBack()
    this.current = 0
    this.next = 1
    this.freed.clear()
    this.live = 0
  }

  /** Drops the chunks not needed since `clear`. */
  giveBack(): void {
    this.chunks.length = Math.min(this.chunks.length, this.current + 1)
  }

  private chunk(place: number): Chunk {
    return this.chunks[place >>> CHUNK_BITS] ?? NO_CHUNK
  }

  private head(place: number): number {
    return this.chunk(place).words[wordOf(place)] ?? 0
  }

  /** A free place, or one after the last record. */
  private take(units: number): number {
    this.live += units
    const freed = this.freed.get(units) ?? 0
    if (freed !== 0) {
      this.freed.set(units, this.chunk(freed).words[wordOf(freed) + 1] ?? 0)
      return freed
    }
    // Only the first record of a chunk may be longer: a longer chunk of an earlier record is not filled further.
    if (this.next > 0 && (this.next + units) * UNIT > CHUNK_BYTES) {
      this.current++
      this.next = 0
    }
    const room = this.chunks[this.current]
    if (room === undefined || (this.next + units) * UNIT > room.bytes.length) {
      this.chunks[this.current] = chunkOf(units)
    }
    const place = this.current * CHUNK_UNITS + this.next
    this.next += units
    // Drops the flags of an earlier record at this place.
    this.chunk(place).words[wordOf(place)] = 0
    return place
  }
}
