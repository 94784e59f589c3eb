import { monotonic } from "../base/clock.ts"
/** The names are recounted after at least this many times the duration of a count, as the file counts row by row. */
const COUNT_SHARE = 50

/** The number of names in a window, recounted rarely because a count reads the whole index of names. */
export class NameCount {
  readonly #read: () => number
  #count: number
  #isOld = false
  /** Milliseconds of `monotonic()`. */
  #next = 0

  constructor(read: () => number) {
    this.#read = read
    this.#count = read()
  }

  /** To be called when names were added or removed. */
  changed(): void {
    this.#isOld = true
  }

  /** The number of names, possibly some seconds old. */
  get(): number {
    const started = monotonic()
    if (!this.#isOld || started < this.#next) return this.#count
    this.#count = this.#read()
    this.#isOld = false
    const ended = monotonic()
    this.#next = ended + COUNT_SHARE * (ended - started)
    return this.#count
  }
}
