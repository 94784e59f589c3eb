/** Milliseconds between two lines of the log about wrong credentials. */
const LOG_INTERVAL = 1_000

/** Addresses remembered as those of clients that had the right credentials. */
const MAX_KNOWN = 1_000

interface Suspect {
  readonly key: string
  readonly judge: () => void
}

/** Whose credentials are judged: a connection. */
export interface Guesser {
  /** What counts as one client. */
  readonly key: string
  readonly client: { readonly text: string }
}

/** What the log says of wrong credentials: who gave them last, and how many others there were since the line before. */
export interface Guesses {
  readonly peer: string
  readonly others?: number
}

/**
 * Who may have credentials judged when. Wrong ones hold a place for their time, whether or not the client waits for the
 * answer, so that bounds how many guesses a second has room for. There is a place for each connection
 * that may be open: right ones are judged at once as long as others wait for their answers. Where all places are held,
 * by clients that left without waiting, nobody's are judged, or a guess could be tested by how soon it is answered. Two
 * rules keep clients at other addresses out of that: of those who wait, who has the fewest places is next; and an
 * address that had the right credentials before and now holds no place does not wait at all.
 */
export class Penalties {
  readonly #places: number
  readonly #time: number
  readonly #log: (guesses: Guesses) => void
  /** Places held, by address. */
  readonly #held = new Map<string, number>()
  readonly #known = new Set<string>()
  /** At most one a connection. */
  readonly #suspects = new Set<Suspect>()
  #total = 0
  #logged = Number.NEGATIVE_INFINITY
  /** The last of the wrong credentials that the log does not tell of yet, and how many there are. */
  #unlogged = { peer: "", count: 0 }

  /** `time`: how long wrong credentials are not answered, in milliseconds (reference/rpc.md 1.4). */
  constructor(places: number, time: number, log: (guesses: Guesses) => void) {
    this.#places = places
    this.#time = time
    this.#log = log
  }

  /** Whether anybody serves time. */
  get any(): boolean {
    return this.#total > 0
  }

  /** Judges now or in its turn. Returns what takes it back, for a client that goes. */
  await(key: string, judge: () => void): (() => void) | undefined {
    if (this.#total < this.#places || (this.#known.has(key) && !this.#held.has(key))) {
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

  /** Has a client serve its time for wrong credentials, then calls `served` and judges who waited for that. */
  serve({ client, key }: Guesser, served: () => void): void {
    this.#unlogged = { peer: client.text, count: this.#unlogged.count + 1 }
    if (performance.now() - this.#logged >= LOG_INTERVAL) this.#writeLog()
    this.#hold(key, 1)
    setTimeout(() => {
      this.#hold(key, -1)
      served()
      while (this.#total < this.#places) {
        const next = this.#next()
        if (next === undefined) break
        this.#suspects.delete(next)
        next.judge()
      }
      if (!this.any) this.#writeLog()
    }, this.#time)
  }

  #writeLog(): void {
    const { count, peer } = this.#unlogged
    if (count === 0) return
    this.#log(count === 1 ? { peer } : { peer, others: count - 1 })
    this.#unlogged = { peer: "", count: 0 }
    this.#logged = performance.now()
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
