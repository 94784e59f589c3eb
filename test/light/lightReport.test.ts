import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { vi } from "vitest"
import { mainnetParams } from "../../src/consensus/params.ts"
import type { LightProgress } from "../../src/light/Light.ts"
import { makeLightReport } from "../../src/light/lightReport.ts"
import type { SyncReport } from "../../src/light/syncReport.ts"
import { headerId } from "../../src/protocol/keys.ts"

/** The chain of mainnet in November 2026. */
const TIP = 852_500
const ROOT = mainnetParams.anchors[0]?.height ?? 0
const WINDOW = 36_100
const NOW = 1_795_000_000

/** Seconds of the phases of a run. */
interface Run {
  readonly headers: number
  readonly window: number
  readonly signatures: number
}

/** Runs of `scripts/bench light`: on a busy machine, on a very busy one, and one that is bound by its line. */
const RUNS: ReadonlyArray<Run> = [
  { headers: 25.7, window: 58, signatures: 26.9 },
  { headers: 61.2, window: 110.5, signatures: 73.6 },
  { headers: 6.2, window: 11.1, signatures: 6.8 }
]

/** Headers in a message, and blocks and signatures in a batch: progress comes in steps of these. */
const STEPS = { headers: 2_000, blocks: 64, signatures: 512 }

const SIGNATURES = 150_000

const stepped = (value: number, step: number): number => Math.floor(value / step) * step

/** The progress of a run after some seconds. */
const progressAt = ({ headers, signatures, window }: Run, at: number): LightProgress => {
  const tip = { height: TIP, hash: new Uint8Array(32) }
  const none = { names: 0, unchecked: 0, tip: { ...tip, height: ROOT } }
  if (at < headers) {
    const known = ROOT + stepped((TIP - ROOT) * at / headers, STEPS.headers)
    return { ...none, phase: "headers", headers: known, blocks: 0, of: 0 }
  }
  if (at < headers + window) {
    const blocks = stepped(WINDOW * (at - headers) / window, STEPS.blocks)
    return { ...none, phase: "window", headers: TIP, blocks, of: WINDOW, tip }
  }
  const checked = stepped(SIGNATURES * (at - headers - window) / signatures, STEPS.signatures)
  const unchecked = Math.max(0, SIGNATURES - checked)
  return { phase: "ready", headers: TIP, blocks: WINDOW, of: WINDOW, names: 100_000, unchecked, tip }
}

interface Seen extends SyncReport {
  readonly at: number
}

/** What the report says during a run, four times a second. */
const watched = (run: Run) =>
  Effect.gen(function*() {
    let at = 0
    vi.spyOn(performance, "now").mockImplementation(() => 1_000 * at)
    const now = (): LightProgress => progressAt(run, at)
    const report = makeLightReport({
      params: mainnetParams,
      progress: Effect.sync(now),
      complete: Effect.sync(() => now().phase === "ready"),
      chain: {
        tree: {
          best: () => headerId(now().headers),
          // Blocks came a bit faster than the target spacing. An anchor has no time.
          time: (height) => height === ROOT ? 0 : NOW - 300 - (TIP - height) * 592
        }
      }
    })
    yield* TestClock.setTime(1_000 * NOW)
    const seen: Array<Seen> = []
    const end = run.headers + run.window + run.signatures + 1
    for (; at < end; at += 0.25) seen.push({ at, ...yield* report })
    return seen
  })

/** Checks the forecasts of the phases that lead to one level, after its first tenth. */
const checkForecast = (seen: ReadonlyArray<Seen>, from: number, seconds: number): void => {
  let last = 0
  for (const { at, percent, secondsLeft } of seen) {
    assert.isAtLeast(percent, last, `per cent after ${at} s`)
    assert.isBelow(percent, 100)
    last = percent
    const left = from + seconds - at
    if (at - from < seconds / 10 || left <= 0) continue
    // It is in whole seconds.
    assert.isAtMost(
      Math.abs((secondsLeft ?? Infinity) - left),
      0.3 * left + 1,
      `after ${at} s, ${left} s before the end`
    )
  }
}

afterEach(() => void vi.restoreAllMocks())

describe("the report of a light node", () => {
  it.effect.each(RUNS)("predicts the end within 30 % after the first tenth: %o", (run) =>
    Effect.gen(function*() {
      const seen = yield* watched(run)
      const waiting = seen.filter(({ phase }) => phase === "headers" || phase === "window")
      checkForecast(waiting, 0, run.headers + run.window)
      const checking = seen.filter(({ phase }) => phase === "signatures")
      checkForecast(checking, run.headers + run.window, run.signatures)
      assert.deepInclude(seen.at(-1), { phase: "ready", percent: 100, secondsLeft: 0, proof: "signatures" })
    }))
})
