/**
 * However old a message is, the relay tries for so long before it gives the message up, in milliseconds: it may not
 * have run for days, and the clock may have been set.
 */
const SHORTEST = 3_600_000

/** Knows when messages are given up. */
export class Patience {
  readonly #giveUpAfter: number
  readonly #clock: () => number
  readonly #since: number

  /** `giveUpAfter`: milliseconds; `clock`: the same, of a clock that is never set. */
  constructor(giveUpAfter: number, clock: () => number = () => performance.now()) {
    this.#giveUpAfter = giveUpAfter
    this.#clock = clock
    this.#since = clock()
  }

  /** Whether a message is to be given up that came at this time. Both in milliseconds since 1970. */
  isOver(arrivedAt: number, now: number): boolean {
    return now - arrivedAt >= this.#giveUpAfter && this.#hasTried
  }

  get #hasTried(): boolean {
    return this.#clock() - this.#since >= Math.min(this.#giveUpAfter, SHORTEST)
  }
}
