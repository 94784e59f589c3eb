/** Milliseconds. */
const WINDOW = 60_000

/** Milliseconds between two samples: limits their number, however often the page is requested. */
const STEP = 1_000

/** Milliseconds after which a speed is meaningful. */
const LEAST = 2_000

interface Sample {
  /** Milliseconds of a monotonic clock. */
  readonly at: number
  readonly height: number
}

export class SyncSpeed {
  #samples: ReadonlyArray<Sample>

  constructor(first: Sample) {
    this.#samples = [first]
  }

  /** Returns the blocks per second since about a minute ago, if known. */
  note(sample: Sample): number | undefined {
    const last = this.#samples.at(-1)
    if (last !== undefined && sample.at - last.at >= STEP) {
      const recent = this.#samples.filter(({ at }) => sample.at - at <= WINDOW)
      // After a long time without a request the speed counts from the last sample.
      this.#samples = [...(recent.length === 0 ? [last] : recent), sample]
    }
    const [first] = this.#samples
    if (first === undefined || sample.at - first.at < LEAST) return undefined
    return Math.max(0, (sample.height - first.height) * 1000 / (sample.at - first.at))
  }
}
