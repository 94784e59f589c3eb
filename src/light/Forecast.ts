import type { Millis } from "../protocol/keys.ts"

/** A part of the work: how many of its units are done, and the cost of one compared with other parts. */
export interface Stage {
  readonly done: number
  readonly of: number
  readonly weight: number
}

export interface Outlook {
  /** 0 to 100, rounded down to tenths, so that 100 means done. */
  readonly percent: number
  /** `undefined` while the speed is unknown. */
  readonly secondsLeft: number | undefined
}

/**
 * Bytes of a header with its merged-mining proof and of a block, as the sync waits for the line. Measured in blocks
 * 757,000 to 830,000 of mainnet.
 */
export const HEADER_WEIGHT = 1_100
export const BLOCK_WEIGHT = 3_600

/** Maximum samples. Beyond it, every second one is dropped. */
const MOST_SAMPLES = 128

/** The shortest time between samples in milliseconds, doubled each time samples are dropped. */
const FIRST_STEP = 100

/** Milliseconds after which a speed is meaningful. */
const LEAST = 500

/** The share of the time so far that the speed is measured over, but at least some seconds, as downloads are bursty. */
const RECENT = 1 / 3
const LEAST_RECENT = 5_000

/** Milliseconds until only the speed of the present stage counts. */
const SETTLED = 5_000

interface Sample {
  readonly at: Millis
  readonly work: number
}

interface Run {
  readonly stage: number
  readonly samples: ReadonlyArray<Sample>
}

const sum = (stages: ReadonlyArray<Stage>, part: "done" | "of"): number =>
  stages.reduce((total, stage) => total + Math.min(stage[part], stage.of) * stage.weight, 0)

/**
 * Work per millisecond at the end of the samples; `undefined` while there are too few. Work comes in steps, so it
 * counts from step to step, and the time since the last step counts only if longer than usual.
 */
const speedOf = (samples: ReadonlyArray<Sample>): number | undefined => {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last.at - first.at < LEAST) return undefined
  const horizon = last.at - Math.max(LEAST_RECENT, RECENT * (last.at - first.at))
  const steps = samples.filter(({ work }, i) => i === 0 || work > (samples[i - 1]?.work ?? 0))
  const start = Math.max(0, steps.findLastIndex(({ at }) => at <= horizon))
  const [from, to] = [steps[start] ?? first, steps.at(-1) ?? last]
  const taken = to.at - from.at
  const waited = last.at - to.at
  const usual = taken / Math.max(1, steps.length - 1 - start)
  return (to.work - from.work) / (taken + Math.max(0, waited - usual))
}

/**
 * Forecasts when work will be done. A stage at first has the speed of the previous one, by weight.
 */
export class Forecast {
  #step = FIRST_STEP
  /** The present stage, and the one before. */
  #runs: ReadonlyArray<Run> = []

  /** Notes how far the stages are. `at`: milliseconds of a monotonic clock. */
  note({ at, stages }: { readonly at: Millis; readonly stages: ReadonlyArray<Stage> }): Outlook {
    const [work, total] = [sum(stages, "done"), sum(stages, "of")]
    const stage = stages.findIndex(({ done, of }) => done < of)
    this.#add(stage, { at, work })
    const percent = total === 0 ? 0 : Math.floor(1_000 * work / total) / 10
    if (total > 0 && work >= total) return { percent: 100, secondsLeft: 0 }
    const speed = this.#speed()
    const known = total > 0 && speed !== undefined && speed > 0
    return { percent, secondsLeft: known ? Math.ceil((total - work) / speed / 1_000) : undefined }
  }

  #add(stage: number, sample: Sample): void {
    const [run, before] = this.#runs
    const last = run?.samples.at(-1)
    if (last !== undefined && sample.work < last.work) {
      // The work restarted, so earlier measurements do not apply.
      this.#runs = [{ stage, samples: [sample] }]
      this.#step = FIRST_STEP
    } else if (run === undefined || last === undefined || run.stage !== stage) {
      const samples = last === undefined ? [sample] : [last, sample]
      this.#runs = [{ stage, samples }, ...(run === undefined ? [] : [run])]
      this.#step = FIRST_STEP
    } else if (run.samples.length === 1 && sample.work === last.work) {
      // Waiting for peers before the first progress does not measure speed.
      this.#runs = [{ stage, samples: [sample] }]
    } else if (sample.at - last.at >= this.#step) {
      const samples = this.#thinned([...run.samples, sample])
      this.#runs = [{ stage, samples }, ...(before === undefined ? [] : [before])]
    }
  }

  #thinned(samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> {
    if (samples.length <= MOST_SAMPLES) return samples
    this.#step *= 2
    return samples.filter((_, i) => i % 2 === 0 || i === samples.length - 1)
  }

  #speed(): number | undefined {
    const [run, before] = this.#runs
    if (run === undefined) return undefined
    const [own, previous] = [speedOf(run.samples), before === undefined ? undefined : speedOf(before.samples)]
    const [first, last] = [run.samples[0], run.samples.at(-1)]
    if (own === undefined || previous === undefined || first === undefined || last === undefined) return own ?? previous
    const trust = Math.min(1, (last.at - first.at) / SETTLED)
    return trust * own + (1 - trust) * previous
  }
}
