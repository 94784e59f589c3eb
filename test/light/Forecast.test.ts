import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { BLOCK_WEIGHT, Forecast, HEADER_WEIGHT, type Outlook, type Stage } from "../../src/light/Forecast.ts"

/** A stage of a run: its speed in units a second, and how many there are. */
interface Part {
  readonly of: number
  readonly weight: number
  readonly speed: number
}

interface Seen extends Outlook {
  /** Seconds from the beginning. */
  readonly at: number
}

/** Seconds of a step. */
const STEP = 0.2

/** What a forecast says during a run, which progresses in bursts: `jitter` is the share of each step, in turn. */
const runOf = (parts: ReadonlyArray<Part>, jitter: ReadonlyArray<number>, step = STEP) => {
  const forecast = new Forecast()
  const mean = jitter.reduce((a, b) => a + b, 0) / jitter.length
  const done = parts.map(() => 0)
  const seen: Array<Seen> = []
  let at = 0
  for (let i = 0;; i++) {
    const stages = parts.map(({ of, weight }, n): Stage => ({
      done: Math.min(of, Math.floor(done[n] ?? 0)),
      of,
      weight
    }))
    seen.push({ at, ...forecast.note({ at: at * 1_000, stages }) })
    const now = stages.findIndex(({ done, of }) => done < of)
    const part = parts[now]
    if (part === undefined) return { seen, seconds: at }
    at += step
    done[now] = (done[now] ?? 0) + part.speed * step * (jitter[i % jitter.length] ?? 1) / mean
  }
}

/**
 * The largest part of the time left by which the forecasts after the first tenth miss it. A second does not count, because
 * forecasts are whole ones, and neither do the seconds of `slack`.
 */
const worstMiss = ({ seconds, seen }: ReturnType<typeof runOf>, slack = 0): number =>
  seen.filter(({ at }) => at >= seconds / 10 && at < seconds).reduce((worst, { at, secondsLeft }) => {
    const miss = secondsLeft === undefined
      ? Infinity
      : (Math.abs(secondsLeft - (seconds - at)) - 1 - slack) / (seconds - at)
    return Math.max(worst, miss)
  }, 0)

const headers: Part = { of: 63_500, weight: HEADER_WEIGHT, speed: 8_000 }
const blocks: Part = { of: 36_100, weight: BLOCK_WEIGHT, speed: 8_000 * HEADER_WEIGHT / BLOCK_WEIGHT }

describe("Forecast", () => {
  it("is within 30 % after the first tenth, on lines of any speed that come in bursts", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.double({ min: 0.05, max: 3, noNaN: true }),
        FastCheck.double({ min: 0.87, max: 1.15, noNaN: true }),
        FastCheck.array(FastCheck.double({ min: 0.5, max: 1.5, noNaN: true }), { minLength: 3, maxLength: 12 }),
        (line, ratio, jitter) => {
          const parts = [
            { ...headers, speed: headers.speed * line },
            { ...blocks, speed: blocks.speed * line * ratio }
          ]
          const run = runOf(parts, jitter)
          // The end may come within a burst that is slower or faster than all of them together.
          assert.isAtMost(worstMiss(run, jitter.length * STEP), 0.3)
        }
      ),
      { numRuns: 40 }
    )
  })

  it("knows nothing before it has measured, and 100 % only at the end", () => {
    const forecast = new Forecast()
    const stages = (done: number): ReadonlyArray<Stage> => [{ done, of: 10_000, weight: 1 }]
    assert.deepStrictEqual(forecast.note({ at: 0, stages: [] }), { percent: 0, secondsLeft: undefined })
    assert.deepStrictEqual(forecast.note({ at: 1, stages: stages(0) }), { percent: 0, secondsLeft: undefined })
    assert.isUndefined(forecast.note({ at: 100, stages: stages(1) }).secondsLeft)
    assert.deepStrictEqual(forecast.note({ at: 600, stages: stages(9_999) }), { percent: 99.9, secondsLeft: 1 })
    assert.deepStrictEqual(forecast.note({ at: 700, stages: stages(10_000) }), { percent: 100, secondsLeft: 0 })
  })

  it("does not count the time before the first progress", () => {
    const forecast = new Forecast()
    const note = (at: number, done: number) => forecast.note({ at, stages: [{ done, of: 1_000, weight: 3 }] })
    for (let at = 0; at <= 60_000; at += 100) note(at, 0)
    for (let i = 1; i <= 10; i++) note(60_000 + 100 * i, 10 * i)
    assert.strictEqual(note(61_100, 110).secondsLeft, 9)
  })

  it("takes the speed of the last third, so that a faster line counts", () => {
    const forecast = new Forecast()
    const note = (at: number, done: number) => forecast.note({ at, stages: [{ done, of: 1_000_000, weight: 1 }] })
    for (let i = 0; i <= 60; i++) note(1_000 * i, 100 * i)
    let last: Outlook = { percent: 0, secondsLeft: undefined }
    for (let i = 1; i <= 40; i++) last = note(60_000 + 1_000 * i, 6_000 + 10_000 * i)
    assert.approximately(last.secondsLeft ?? 0, 59.4, 2)
  })

  it("says nothing while the line is dead", () => {
    const forecast = new Forecast()
    const note = (at: number, done: number) => forecast.note({ at, stages: [{ done, of: 1_000, weight: 1 }] })
    for (let i = 0; i <= 20; i++) note(100 * i, 10 * i)
    let last: Outlook = { percent: 0, secondsLeft: 0 }
    for (let i = 1; i <= 100; i++) last = note(2_000 + 100 * i, 200)
    assert.deepStrictEqual(last, { percent: 20, secondsLeft: undefined })
  })

  it("begins again when the work does", () => {
    const forecast = new Forecast()
    const note = (at: number, done: number) => forecast.note({ at, stages: [{ done, of: 1_000, weight: 1 }] })
    for (let i = 0; i <= 20; i++) note(100 * i, 40 * i)
    assert.deepStrictEqual(note(2_100, 0), { percent: 0, secondsLeft: undefined })
    for (let i = 1; i <= 10; i++) note(2_100 + 100 * i, 10 * i)
    assert.strictEqual(note(3_200, 110).secondsLeft, 9)
  })

  it("keeps few samples however long it runs", () => {
    const run = runOf([{ of: 1_000_000, weight: 1, speed: 10 }], [0.2, 1.8], 1)
    assert.isAtMost(worstMiss(run), 0.05)
  })
})
