/**
 * Values by key, the ones that were asked for lately. Two generations: what is found in the old one moves to the young
 * one, and when the young one holds half the limit, it becomes the old one and what nobody asked for goes. A hit costs
 * one look into a map, where a list in order of use would be changed each time.
 *
 * While a write is under way nothing is added, and what the write touches is gone: whoever asks then reads the store,
 * which changes at one moment, at the commit. So answers are of the state before or after it, and never of both.
 */
export class RecordCache<A> {
  private young = new Map<string, A>()
  private old = new Map<string, A>()
  private readonly half: number
  private frozen = false

  /** `limit`: values at most; 0 keeps none. */
  constructor(limit: number) {
    this.half = Math.ceil(limit / 2)
  }

  get size(): number {
    return this.young.size + this.old.size
  }

  get(key: string): A | undefined {
    const found = this.young.get(key)
    if (found !== undefined) return found
    const aged = this.old.get(key)
    if (aged === undefined) return undefined
    this.old.delete(key)
    this.insert(key, aged)
    return aged
  }

  put(key: string, value: A): void {
    if (this.frozen || this.half === 0) return
    this.old.delete(key)
    this.insert(key, value)
  }

  private insert(key: string, value: A): void {
    if (this.young.size >= this.half) {
      this.old = this.young
      this.young = new Map()
    }
    this.young.set(key, value)
  }

  /** A write begins that touches these keys, or any. */
  freeze(keys: Iterable<string> | "all"): void {
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

  /** The write is over, done or undone. */
  thaw(): void {
    this.frozen = false
  }
}
