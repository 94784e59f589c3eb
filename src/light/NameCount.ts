/** The names are counted again after this many times as long as a count takes, or later: the file counts row by row. */
const COUNT_SHARE = 50

/** How many names a window has: counted at times, since a count reads the whole index of names. */
export class NameCount {
  readonly #read: () => number
  #count: number
  #isOld = false
  /** Milliseconds of `performance.now`. */
  #next = 0

  constructor(read: () => number) {
    this.#read = read
    this.#count = read()
  }

  /** Names were added or removed. */
  changed(): void {
    this.#isOld = true
  }

  /** The number of names, which may be that of some seconds ago. */
  get(): number {
    const started = performance.now()
    if (!this.#isOld || started < this.#next) return this.#count
    this.#count = this.#read()
    this.#isOld = false
    const ended = performance.now()
    this.#next = ended + COUNT_SHARE * (ended - started)
    return this.#count
  }
}
