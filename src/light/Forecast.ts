import type { Millis } from "../protocol/keys.ts"

/** A part of the work: how many of its units are done, and what one of them costs in comparison with the other parts. */
export interface Stage {
  readonly done: number
  readonly of: number
  readonly weight: number
}

export interface Outlook {
  /** 0 to 100, rounded down to tenths: 100 means that all is done. */
  readonly percent: number
  /** `undefined` while the speed is unknown. */
  readonly secondsLeft: number | undefined
}

/**
 * What a header with its merged-mining proof and a block cost, in bytes: the line is what a sync waits for. Measured in
 * blocks 757,000 to 830,000 of mainnet.
 */
export const HEADER_WEIGHT = 1_100
export const BLOCK_WEIGHT = 3_600

/** Samples that are kept. Beyond it, every second one is dropped. */
const MOST_SAMPLES = 128

/** Least milliseconds between two samples; twice as many each time that samples are dropped. */
const FIRST_STEP = 100

/** Milliseconds after which a speed is meaningful. */
const LEAST = 500

/** The speed counts over this part of the time so far, but not over less than some seconds: downloads come in bursts. */
const RECENT = 1 / 3
const LEAST_RECENT = 5_000

/** Milliseconds after which only the speed of the present stage counts, and not that of the stage before. */
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
 * Work a millisecond at the end of the samples; `undefined` while there are too few. Work comes in steps, so it counts from
 * one step to another; the time since the last one counts where it is longer than others took.
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
 * When work will be done, from its progress so far. Stages follow each other. The speed of a stage is unknown when it
 * begins: at first it counts as that of the stage before, in relation to the weights.
 *
 * The forecast has no clock: each note says when it is made.
 */
export class Forecast {
  #step = FIRST_STEP
  /** The present stage, the last one first; and the one before. */
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
      // The work began again, so what was measured says nothing about the rest.
      this.#runs = [{ stage, samples: [sample] }]
      this.#step = FIRST_STEP
    } else if (run === undefined || last === undefined || run.stage !== stage) {
      const samples = last === undefined ? [sample] : [last, sample]
      this.#runs = [{ stage, samples }, ...(run === undefined ? [] : [run])]
      this.#step = FIRST_STEP
    } else if (run.samples.length === 1 && sample.work === last.work) {
      // Until the first progress the node waits for peers, which says nothing about the speed.
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
