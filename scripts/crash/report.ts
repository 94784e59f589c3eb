/** The options of a run. */
export interface Options {
  readonly count: number
  readonly seed: number
  /** The number of the only round to run. */
  readonly only: number | undefined
  /** The files in which bits are flipped; all where it is left out. */
  readonly files?: string
  /** Called with the progress of the run. */
  readonly tell: (line: string) => void
}

/** A failure, with what reproduces it. */
export interface Failure {
  /** Its number in the run: `--only` repeats it. */
  readonly round: number
  /** What kind of failure. */
  readonly what: string
  readonly detail: string
  /** What else reproduces it. */
  readonly where?: Readonly<Record<string, string | number>>
}

/** Failures that are kept with their details; further ones are counted. */
const MOST_KEPT = 2000

const failureText = ({ detail, round, what, where }: Failure): string =>
  `  #${round} ${what} ${where === undefined ? "" : `${JSON.stringify(where)} `}${detail}`

/** The result of a run. */
export class Tally {
  readonly test: string
  readonly seed: number
  readonly failures: Array<Failure> = []
  /** Why nothing was tested; `undefined` where something was. */
  skipped: string | undefined
  private failed = 0
  private shown = 0
  private readonly counts = new Map<string, number>()
  private readonly since = performance.now()

  constructor(test: string, seed: number) {
    this.test = test
    this.seed = seed
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by)
  }

  fail(failure: Failure): void {
    this.failed++
    this.count(`FAILED: ${failure.what}`)
    if (this.failures.length < MOST_KEPT) this.failures.push(failure)
  }

  /** Records why nothing was tested. */
  skip(why: string): void {
    this.skipped = why
  }

  get passed(): boolean {
    return this.failed === 0
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0
  }

  private get seconds(): number {
    return Math.round(performance.now() - this.since) / 1000
  }

  private get sorted(): ReadonlyArray<readonly [string, number]> {
    return [...this.counts].sort(([a], [b]) => a < b ? -1 : 1)
  }

  /** The progress of the run, and the failures since the last line. */
  line(): string {
    const fresh = this.failures.slice(this.shown).map((failure) => `\n${failureText(failure)}`)
    this.shown = this.failures.length
    const counts = this.sorted.map(([what, count]) => `${what} ${count}`).join(", ")
    return `${Math.round(this.seconds)} s  ${counts}${fresh.join("")}`
  }

  /** The report as text. */
  table(): string {
    if (this.skipped !== undefined) return `${this.test}: SKIPPED, nothing was tested: ${this.skipped}\n`
    const rows = this.sorted.map(([what, count]) => `  ${what.padEnd(44)}${String(count).padStart(9)}`)
    const failures = this.failures.slice(0, 40).map(failureText)
    return [
      `${this.test}, seed ${this.seed}: ${this.passed ? "passed" : "FAILED"} in ${this.seconds} s`,
      ...rows,
      ...failures.length > 0 ? ["", ...failures] : [],
      ""
    ].join("\n")
  }

  json(): object {
    const { failures, passed, seconds, seed, skipped, test } = this
    return {
      test,
      seed,
      passed,
      ...skipped === undefined ? {} : { skipped },
      seconds,
      counts: Object.fromEntries(this.sorted),
      failures
    }
  }
}
