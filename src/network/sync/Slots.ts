/** A slot that is held by one owner. */
export class Lease {
  /** Frees the slot; `undefined` once this lease was released or handed over. */
  private free: (() => void) | undefined

  constructor(free: () => void) {
    this.free = free
  }

  /** Returns the slot. Does nothing if the slot was returned before, or has another owner. */
  release(): void {
    const { free } = this
    this.free = undefined
    free?.()
  }

  /** Passes the slot to a new owner: the old lease does nothing from now on, and the new one releases the slot. */
  handOver(): Lease {
    const lease = new Lease(this.free ?? (() => undefined))
    this.free = undefined
    return lease
  }
}

/**
 * A fixed number of slots: `0 <= used <= limit`, whatever the order of the calls. The number of used slots is the number
 * of leases that can still be released.
 *
 * Plain and synchronous, so several fibers can share it: each call is complete before another fiber runs.
 */
export class Slots {
  readonly limit: number
  private taken = 0
  private readonly waiting = new Set<() => void>()

  constructor(limit: number) {
    this.limit = limit
  }

  get used(): number {
    return this.taken
  }

  /** Whether a slot is free. */
  get isRoom(): boolean {
    return this.taken < this.limit
  }

  /** Takes a slot; `undefined` if none is free. */
  take(): Lease | undefined {
    if (!this.isRoom) return undefined
    this.taken++
    return new Lease(() => {
      this.taken--
      const woken = [...this.waiting]
      this.waiting.clear()
      // All of them, because one that has ended meanwhile takes no slot.
      for (const wake of woken) wake()
    })
  }

  /** Calls `wake` once when a slot becomes free, which another caller may take first. Returns how to take that back. */
  whenFreed(wake: () => void): () => void {
    this.waiting.add(wake)
    return () => void this.waiting.delete(wake)
  }
}
