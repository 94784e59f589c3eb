/** How long wrong credentials are not answered, in milliseconds (rpc.md 1.4). */
const PENALTY = 250

/** Wrong credentials that serve their time at once: so nobody tries more than 64 passwords a second. */
const MAX_PENALTIES = 16

/** Addresses remembered as those of clients that had the right credentials. */
const MAX_KNOWN = 1_000

interface Suspect {
  readonly key: string
  readonly judge: () => void
}

/**
 * Who may have credentials judged when. Wrong ones hold a slot for their time, whether or not the client waits for the
 * answer; while all slots are held nobody's are judged, or a guess could be tested by how soon it is answered. Two
 * rules keep clients at other addresses out of that: of those who wait, who has the fewest slots is next; and an
 * address that had the right credentials before and now holds no slot does not wait at all.
 */
export class Penalties {
  /** Slots held, by address. */
  readonly #held = new Map<string, number>()
  readonly #known = new Set<string>()
  /** At most one a connection. */
  readonly #suspects = new Set<Suspect>()
  #total = 0

  /** Whether anybody serves time. */
  get any(): boolean {
    return this.#total > 0
  }

  /** Judges now or in its turn. Returns what takes it back, for a client that goes. */
  await(key: string, judge: () => void): (() => void) | undefined {
    if (this.#total < MAX_PENALTIES || (this.#known.has(key) && !this.#held.has(key))) {
      judge()
      return undefined
    }
    const suspect = { key, judge }
    this.#suspects.add(suspect)
    return () => void this.#suspects.delete(suspect)
  }

  /** An address had the right credentials. */
  admitted(key: string): void {
    if (this.#known.has(key)) return
    this.#known.add(key)
    if (this.#known.size <= MAX_KNOWN) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      break
    }
  }

  /** Has an address serve its time for wrong credentials, then calls `served` and judges who waited for that. */
  serve(key: string, served: () => void): void {
    this.#hold(key, 1)
    setTimeout(() => {
      this.#hold(key, -1)
      served()
      while (this.#total < MAX_PENALTIES) {
        const next = this.#next()
        if (next === undefined) break
        this.#suspects.delete(next)
        next.judge()
      }
    }, PENALTY)
  }

  #next(): Suspect | undefined {
    let next: Suspect | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const suspect of this.#suspects) {
      const held = this.#held.get(suspect.key) ?? 0
      if (held >= fewest) continue
      next = suspect
      fewest = held
    }
    return next
  }

  #hold(key: string, change: 1 | -1): void {
    this.#total += change
    const held = (this.#held.get(key) ?? 0) + change
    if (held > 0) this.#held.set(key, held)
    else this.#held.delete(key)
  }
}
