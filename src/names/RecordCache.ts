import { ownKey } from "../protocol/keys.ts"
import type { NameEntry } from "./NameEntry.ts"

/** What the values of a cache may take in memory, about. */
export interface CacheWeight<A> {
  /** Bytes of all values. */
  readonly bytes: number
  /** Bytes of a value and its key. The same for the same value. */
  readonly sizeOf: (value: A) => number
}

/** Bytes of the objects around a record. */
const RECORD_BYTES = 1_000

/** Name, value and script of a record are in it, in the key, and in the text that `rpc/shapes/name.ts` keeps. */
const COPIES = 4

/** What a record takes in memory, about. */
export const recordBytes = ({ address, name, value }: Pick<NameEntry, "address" | "name" | "value">): number =>
  RECORD_BYTES + COPIES * (name.length + value.length + address.length)

/** Bytes of records in a cache: 10,000 records of some 150 bytes. */
export const CACHED_RECORD_BYTES = 16 * 1024 * 1024

/**
 * A cache of the recently used values by key, in two generations. A hit in the old generation moves the value to the
 * young one. When the young one has half the limit, it becomes the old one, and the unused values of the old one are
 * dropped. A hit costs one map lookup; a list in order of use would change at each hit. With a weight, a generation also ends
 * when its values have half of the bytes, and a value that is larger than that is not kept. A key has a character a byte.
 *
 * During a write the cache adds no value, and the values that the write touches are removed. A reader then reads the
 * store, which changes in one step at the commit. So no answer mixes the states before and after the write.
 */
export class RecordCache<A, Key extends string = string> {
  private young = new Map<Key, A>()
  private old = new Map<Key, A>()
  private readonly half: number
  private readonly weight: CacheWeight<A> | undefined
  private youngBytes = 0
  private frozen = false

  /** `limit`: the largest number of values; 0 keeps none. */
  constructor(limit: number, weight?: CacheWeight<A>) {
    this.half = Math.ceil(limit / 2)
    this.weight = weight
  }

  get size(): number {
    return this.young.size + this.old.size
  }

  /** Bytes of the values, about; 0 without a weight. */
  get bytes(): number {
    let bytes = this.youngBytes
    for (const value of this.old.values()) bytes += this.sizeOf(value)
    return bytes
  }

  get(key: Key): A | undefined {
    const found = this.young.get(key)
    if (found !== undefined) return found
    const aged = this.old.get(key)
    if (aged === undefined) return undefined
    this.old.delete(key)
    this.insert(ownKey(key), aged)
    return aged
  }

  put(key: Key, value: A): void {
    if (this.frozen || this.half === 0) return
    this.old.delete(key)
    this.insert(key, value)
  }

  private insert(key: Key, value: A): void {
    this.removeYoung(key)
    const size = this.sizeOf(value)
    const most = this.weight === undefined ? Infinity : this.weight.bytes / 2
    if (size > most) return
    if (this.young.size >= this.half || this.youngBytes + size > most) {
      this.old = this.young
      this.young = new Map()
      this.youngBytes = 0
    }
    this.young.set(key, value)
    this.youngBytes += size
  }

  private sizeOf(value: A): number {
    return this.weight === undefined ? 0 : this.weight.sizeOf(value)
  }

  private removeYoung(key: Key): void {
    const value = this.young.get(key)
    if (value === undefined) return
    this.young.delete(key)
    this.youngBytes -= this.sizeOf(value)
  }

  /** Starts a write that touches these keys, or all keys. */
  freeze(keys: Iterable<Key> | "all"): void {
    this.frozen = true
    if (keys === "all") return this.clear()
    for (const key of keys) {
      this.removeYoung(key)
      this.old.delete(key)
    }
  }

  clear(): void {
    this.young.clear()
    this.old.clear()
    this.youngBytes = 0
  }

  thaw(): void {
    this.frozen = false
  }
}
