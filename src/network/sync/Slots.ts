export class Lease {
  /** `undefined` after release or handover. */
  private free: (() => void) | undefined

  constructor(free: () => void) {
    this.free = free
  }

  release(): void {
    const { free } = this
    this.free = undefined
    free?.()
  }

  /** This lease does nothing from now on. */
  handOver(): Lease {
    const lease = new Lease(this.free ?? (() => undefined))
    this.free = undefined
    return lease
  }
}

/** Each used slot is a lease that can still be released. Synchronous, to share between fibers. */
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

  get isRoom(): boolean {
    return this.taken < this.limit
  }

  take(): Lease | undefined {
    if (!this.isRoom) return undefined
    this.taken++
    return new Lease(() => {
      this.taken--
      const woken = [...this.waiting]
      this.waiting.clear()
      // All of them, because one that has ended takes no slot.
      for (const wake of woken) wake()
    })
  }

  /** Calls `wake` once when a slot becomes free, which another caller may take first. Returns how to cancel. */
  whenFreed(wake: () => void): () => void {
    this.waiting.add(wake)
    return () => void this.waiting.delete(wake)
  }
}
