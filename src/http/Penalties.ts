import { monotonic } from "../base/clock.ts"
import { afterDelay } from "../base/turns.ts"
/** Milliseconds between log lines about wrong credentials. */
const LOG_INTERVAL = 1_000

/** Addresses remembered for their right credentials. */
const MAX_KNOWN = 1_000

interface Suspect {
  readonly key: string
  readonly judge: () => void
}

export interface Guesser {
  /** Identifies the client. */
  readonly key: string
  readonly client: { readonly text: string }
}

/** The last client with wrong credentials, and the number of others since the last log line. */
export interface Guesses {
  readonly peer: string
  readonly others?: number
}

/**
 * Decides when credentials are checked. Wrong ones hold a place for their time, even without their client, so the
 * number of places limits guesses per second. There is a place for each possible connection, so right credentials are
 * checked at once while other clients wait for their answers. If all places are held, nothing is checked, as the answer
 * time would reveal a right guess. Two rules then protect other addresses: the next check is for the address with the
 * fewest places, and an address that had right credentials before and holds no place does not wait.
 */
export class Penalties {
  readonly #places: number
  readonly #time: number
  readonly #log: (guesses: Guesses) => void
  readonly #held = new Map<string, number>()
  readonly #known = new Set<string>()
  /** One entry at most per waiting connection. */
  readonly #suspects = new Set<Suspect>()
  #total = 0
  #logged = Number.NEGATIVE_INFINITY
  /** Wrong credentials since the last log line. */
  #unlogged = { peer: "", count: 0 }

  /** `time`: delay of the answer to wrong credentials, in milliseconds (reference/rpc.md 1.4). */
  constructor(
    { log, places, time }: {
      readonly places: number
      readonly time: number
      readonly log: (guesses: Guesses) => void
    }
  ) {
    this.#places = places
    this.#time = time
    this.#log = log
  }

  get any(): boolean {
    return this.#total > 0
  }

  /** Calls `judge` now or in turn. Returns a function that cancels the wait. */
  await(key: string, judge: () => void): (() => void) | undefined {
    if (this.#total < this.#places || (this.#known.has(key) && !this.#held.has(key))) {
      judge()
      return undefined
    }
    const suspect = { key, judge }
    this.#suspects.add(suspect)
    return () => void this.#suspects.delete(suspect)
  }

  /** The address had right credentials. */
  admitted(key: string): void {
    if (this.#known.has(key)) return
    this.#known.add(key)
    if (this.#known.size <= MAX_KNOWN) return
    for (const oldest of this.#known) {
      this.#known.delete(oldest)
      break
    }
  }

  /** Starts the penalty for wrong credentials. Then calls `served` and checks waiting connections. */
  serve({ client, key }: Guesser, served: () => void): void {
    this.#unlogged = { peer: client.text, count: this.#unlogged.count + 1 }
    if (monotonic() - this.#logged >= LOG_INTERVAL) this.#writeLog()
    this.#hold(key, 1)
    afterDelay(this.#time, () => {
      this.#hold(key, -1)
      served()
      while (this.#total < this.#places) {
        const next = this.#next()
        if (next === undefined) break
        this.#suspects.delete(next)
        next.judge()
      }
      if (!this.any) this.#writeLog()
    })
  }

  #writeLog(): void {
    const { count, peer } = this.#unlogged
    if (count === 0) return
    this.#log(count === 1 ? { peer } : { peer, others: count - 1 })
    this.#unlogged = { peer: "", count: 0 }
    this.#logged = monotonic()
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
