import { type Bytes, equal } from "../../protocol/bytes.ts"
import { type HeaderId, headerId } from "../../protocol/keys.ts"

const LEAST_SLOTS = 1 << 12

const NOTHING = headerId(-1)

interface Hashes {
  readonly hash: (id: HeaderId) => Uint8Array
  /** As `lowBytes` of the hash, but without an object for each of a start's headers. */
  readonly lowBytes: (id: HeaderId) => number
}

/** Finds headers by hash. Open addressing: number + 1 at the slot of the hash, 0 for free; at most half full. */
export class HashTable {
  private readonly hashes: Hashes
  private slots = new Uint32Array(LEAST_SLOTS)

  constructor(hashes: Hashes) {
    this.hashes = hashes
  }

  /** The header with a hash; -1 for none. */
  find(hash: Bytes): HeaderId {
    const mask = this.slots.length - 1
    for (let slot = lowBytes(hash, 0) & mask;; slot = (slot + 1) & mask) {
      const entry = this.slots[slot] ?? 0
      if (entry === 0) return NOTHING
      const id = headerId(entry - 1)
      if (equal(this.hashes.hash(id), hash)) return id
    }
  }

  add(id: HeaderId): void {
    if (2 * (id + 1) > this.slots.length) this.rebuild(id, 2 * this.slots.length)
    this.enter(id)
  }

  /** Fills the table with the headers below a number. `least` slots, a power of two. */
  rebuild(count: number, least = LEAST_SLOTS): void {
    let size = least
    while (size < 2 * (count + 1)) size *= 2
    this.slots = new Uint32Array(size)
    for (let id = 0; id < count; id++) this.enter(headerId(id))
  }

  private enter(id: HeaderId): void {
    const mask = this.slots.length - 1
    let slot = this.hashes.lowBytes(id) & mask
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask
    this.slots[slot] = id + 1
  }
}

/** The low bytes of the hash at an offset, which proof of work leaves random. */
export const lowBytes = (bytes: Bytes, at: number): number =>
  ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
