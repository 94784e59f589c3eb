/**
 * The relay tries for at least this time before it gives up a message of any age, in milliseconds: the relay may have
 * been off for days, and the clock may have been set.
 */
const SHORTEST = 3_600_000

/** When a message arrived, and the present time. Both in milliseconds since 1970. */
export interface MessageAge {
  readonly arrivedAt: number
  readonly now: number
}

/** Decides when the relay gives up messages. */
export class Patience {
  readonly #giveUpAfter: number
  readonly #clock: () => number
  readonly #since: number

  /** `giveUpAfter`: milliseconds; `clock`: milliseconds of a clock that is never set. */
  constructor(giveUpAfter: number, clock: () => number = () => performance.now()) {
    this.#giveUpAfter = giveUpAfter
    this.#clock = clock
    this.#since = clock()
  }

  /** Whether the relay gives up a message. */
  isOver({ arrivedAt, now }: MessageAge): boolean {
    return now - arrivedAt >= this.#giveUpAfter && this.#hasTried
  }

  get #hasTried(): boolean {
    return this.#clock() - this.#since >= Math.min(this.#giveUpAfter, SHORTEST)
  }
}
