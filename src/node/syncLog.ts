import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { LightPart } from "../light/LightPart.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import type { Millis } from "../protocol/keys.ts"

/** Milliseconds between two log entries within a phase that callers wait for. */
const REPORT_MS = 30_000

const factsOf = ({ headers, height, percent, phase, proof, secondsLeft, window }: SyncReport) => ({
  phase,
  proof,
  percent,
  ...secondsLeft === undefined ? {} : { secondsLeft },
  height,
  headers,
  ...window
})

type Facts = ReturnType<typeof factsOf>

/** Whether the node is where it was; the time left is an estimate. */
const isSamePlace = (a: Facts, b: Facts): boolean =>
  a.height === b.height && a.headers === b.headers && a.blocks === b.blocks && a.of === b.of &&
  a.names === b.names && a.unchecked === b.unchecked && a.percent === b.percent

/** Follows the reports of a light start, and decides which are worth an entry: new phases, and progress in one. */
export class PhaseLog {
  #told: { readonly at: Millis; readonly facts: Facts } | undefined

  next(report: SyncReport, now: Millis): { readonly message: string; readonly facts: Facts } | undefined {
    const { phase } = report
    const facts = factsOf(report)
    const isNew = phase !== this.#told?.facts.phase
    const waits = phase === "headers" || phase === "window" || phase === "signatures"
    if (this.#told !== undefined && !isNew) {
      if (!waits || now - this.#told.at < REPORT_MS || isSamePlace(facts, this.#told.facts)) return undefined
    }
    this.#told = { at: now, facts }
    return { message: isNew ? "light sync: new phase" : "light sync: progress", facts }
  }
}

/** Logs the phases of a light start, and how far they are. It ends with the window: the chain has its own entries. */
export const logSync = Effect.gen(function*() {
  const { report } = yield* SyncReporter
  const { current } = yield* LightPart
  const log = new PhaseLog()
  const look = Effect.gen(function*() {
    const entry = log.next(yield* report, yield* Clock.currentTimeMillis)
    if (entry !== undefined) yield* Effect.logInfo(entry.message, entry.facts)
  })
  while (current() !== undefined) {
    yield* look
    yield* Effect.sleep("1 second")
  }
}).pipe(Effect.annotateLogs("subsystem", "names"))
