import { monotonic } from "../../base/clock.ts"
/** Milliseconds that any message is tried: the relay may have been off for days, or the clock may have been set. */
const SHORTEST = 3_600_000

/** Milliseconds since 1970. */
export interface MessageAge {
  readonly arrivedAt: number
  readonly now: number
}

export class Patience {
  readonly #giveUpAfter: number
  readonly #clock: () => number
  readonly #since: number

  /** `giveUpAfter`: milliseconds; `clock`: milliseconds of a monotonic clock. */
  constructor(giveUpAfter: number, clock: () => number = monotonic) {
    this.#giveUpAfter = giveUpAfter
    this.#clock = clock
    this.#since = clock()
  }

  isOver({ arrivedAt, now }: MessageAge): boolean {
    return now - arrivedAt >= this.#giveUpAfter && this.#hasTried
  }

  get #hasTried(): boolean {
    return this.#clock() - this.#since >= Math.min(this.#giveUpAfter, SHORTEST)
  }
}
