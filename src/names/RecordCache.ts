import { ownKey } from "../protocol/keys.ts"
import type { NameEntry } from "./NameEntry.ts"

/** Approximate memory limit of a cache's values. */
export interface CacheWeight<A> {
  readonly bytes: number
  /** Bytes of a value and its key, always the same for a value. */
  readonly sizeOf: (value: A) => number
}

const RECORD_BYTES = 1_000

/** A record has name, value and script in itself, in its key, and in the text that `rpc/shapes/name.ts` keeps. */
const COPIES = 4

/** Approximate memory of a record. */
export const recordBytes = ({ address, name, value }: Pick<NameEntry, "address" | "name" | "value">): number =>
  RECORD_BYTES + COPIES * (name.length + value.length + address.length)

/** Bytes of records in a cache: 10,000 records of some 150 bytes. */
export const CACHED_RECORD_BYTES = 16 * 1024 * 1024

/**
 * A cache of recently used values by key, in two generations. A hit in the old generation moves the value to the young
 * one. When the young one has half the limit (of values or, with a weight, of bytes), it becomes the old one, and the
 * unused values of the old one are dropped. A hit costs one map lookup, unlike a list in order of use. Values larger
 * than half the bytes are not kept. Keys have one character per byte.
 *
 * During a write, the cache adds no value and drops those that the write touches. Readers then use the store, which
 * changes in one step at the commit, so no answer mixes two states.
 */
export class RecordCache<A, Key extends string = string> {
  private young = new Map<Key, A>()
  private old = new Map<Key, A>()
  private readonly half: number
  private readonly weight: CacheWeight<A> | undefined
  private youngBytes = 0
  private frozen = false

  /** `limit`: the most values; 0 keeps none. */
  constructor(limit: number, weight?: CacheWeight<A>) {
    this.half = Math.ceil(limit / 2)
    this.weight = weight
  }

  get size(): number {
    return this.young.size + this.old.size
  }

  /** Approximate bytes of the values; 0 without a weight. */
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

  /** Starts a write that touches these keys, or all. */
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
