/**
 * A cache of the recently used values by key, in two generations. A hit in the old generation moves the value to the
 * young one. When the young one has half the limit, it becomes the old one, and the unused values of the old one are
 * dropped. A hit costs one map lookup; a list in order of use would change at each hit.
 *
 * During a write the cache adds no value, and the values that the write touches are removed. A reader then reads the
 * store, which changes in one step at the commit. So no answer mixes the states before and after the write.
 */
export class RecordCache<A, Key extends string = string> {
  private young = new Map<Key, A>()
  private old = new Map<Key, A>()
  private readonly half: number
  private frozen = false

  /** `limit`: the largest number of values; 0 keeps none. */
  constructor(limit: number) {
    this.half = Math.ceil(limit / 2)
  }

  get size(): number {
    return this.young.size + this.old.size
  }

  get(key: Key): A | undefined {
    const found = this.young.get(key)
    if (found !== undefined) return found
    const aged = this.old.get(key)
    if (aged === undefined) return undefined
    this.old.delete(key)
    this.insert(key, aged)
    return aged
  }

  put(key: Key, value: A): void {
    if (this.frozen || this.half === 0) return
    this.old.delete(key)
    this.insert(key, value)
  }

  private insert(key: Key, value: A): void {
    if (this.young.size >= this.half) {
      this.old = this.young
      this.young = new Map()
    }
    this.young.set(key, value)
  }

  /** Starts a write that touches these keys, or all keys. */
  freeze(keys: Iterable<Key> | "all"): void {
    this.frozen = true
    if (keys === "all") {
      this.young.clear()
      this.old.clear()
      return
    }
    for (const key of keys) {
      this.young.delete(key)
      this.old.delete(key)
    }
  }

  thaw(): void {
    this.frozen = false
  }
}
