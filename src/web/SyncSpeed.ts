/** Milliseconds that the speed is measured over. */
const WINDOW = 60_000

/** Milliseconds that two samples are apart at least: so there are few of them however often somebody looks. */
const STEP = 1_000

/** Milliseconds after which a speed says something. */
const LEAST = 2_000

interface Sample {
  /** Milliseconds of a clock that nobody sets. */
  readonly at: number
  readonly height: number
}

/** Blocks a second, as seen by who looks now and then. */
export class SyncSpeed {
  #samples: ReadonlyArray<Sample>

  constructor(first: Sample) {
    this.#samples = [first]
  }

  /** Notes the height. Returns the blocks a second since about a minute ago; `undefined` while nobody can tell. */
  note(sample: Sample): number | undefined {
    const last = this.#samples.at(-1)
    if (last !== undefined && sample.at - last.at >= STEP) {
      const recent = this.#samples.filter(({ at }) => sample.at - at <= WINDOW)
      // Whoever did not look for long is told the speed since then.
      this.#samples = [...(recent.length === 0 ? [last] : recent), sample]
    }
    const [first] = this.#samples
    if (first === undefined || sample.at - first.at < LEAST) return undefined
    return Math.max(0, (sample.height - first.height) * 1000 / (sample.at - first.at))
  }
}
