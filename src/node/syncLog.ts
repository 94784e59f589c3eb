import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { LightPart } from "../light/LightPart.ts"
import type { SyncPhase, SyncReport } from "../light/syncReport.ts"
import { SyncReporter } from "../light/SyncReporter.ts"

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

/** Logs the phases of a light start, and how far they are. It ends with the window: the chain has its own entries. */
export const logSync = Effect.gen(function*() {
  const { report } = yield* SyncReporter
  const { current } = yield* LightPart
  let phase: SyncPhase | undefined
  let told = 0
  const look = Effect.gen(function*() {
    const now = yield* report
    const time = yield* Clock.currentTimeMillis
    const isNew = now.phase !== phase
    const waits = now.phase === "headers" || now.phase === "window" || now.phase === "signatures"
    if (!isNew && !(waits && time - told >= REPORT_MS)) return
    phase = now.phase
    told = time
    yield* Effect.logInfo(isNew ? "light sync: new phase" : "light sync: progress", factsOf(now))
  })
  while (current() !== undefined) {
    yield* look
    yield* Effect.sleep("1 second")
  }
}).pipe(Effect.annotateLogs("subsystem", "names"))
