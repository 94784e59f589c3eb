import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { barLine, CLEAR_LINE, type ProgressTerminal, standardTerminal } from "../../base/progressBar.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import { ImportFailed } from "../../chain/errors.ts"
import type { ImportProgress } from "../../chain/import/ImportRun.ts"
import { Snapshots } from "../../chain/Snapshots.ts"
import type { Settings } from "../../config/settings.ts"
import type { Height } from "../../protocol/keys.ts"
import { inBackground } from "./base.ts"
import { FilesImported } from "./chain.ts"

interface Summary {
  readonly height: Height
  readonly blocks: number
  readonly of: number
  readonly blocksPerSecond: number
  readonly etaSeconds: number
  readonly share: number
}

export const summarize = (progress: ImportProgress): Summary => {
  const { bytesDone, bytesTotal, done, elapsedMs, height, total } = progress
  const seconds = elapsedMs / 1000
  return {
    height,
    blocks: done,
    of: total,
    blocksPerSecond: seconds > 0 ? Math.round(done / seconds) : 0,
    etaSeconds: bytesDone > 0 ? Math.round((bytesTotal - bytesDone) * seconds / bytesDone) : 0,
    share: bytesTotal > 0 ? Math.min(1, bytesDone / bytesTotal) : 0
  }
}

const clock = (seconds: number): string => {
  const two = (n: number): string => String(n).padStart(2, "0")
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

export const drawBar = (progress: ImportProgress, columns: number): string => {
  const { blocksPerSecond, etaSeconds, height, share } = summarize(progress)
  const percent = `${String(Math.floor(100 * share)).padStart(3)}%`
  const facts = progress.phase === "headers"
    ? `${percent} reading headers, ${progress.done} found`
    : `${percent} height ${height}, ${blocksPerSecond} blocks/s, ${clock(etaSeconds)} left`
  return barLine({ facts, share }, columns)
}

/** A bar on a terminal, else periodic lines in the log, the first once there are numbers. Runs until interrupted. */
export const showImport = (terminal: ProgressTerminal | undefined): Effect.Effect<never, never, Chain> =>
  Effect.flatMap(Chain, (chain) => {
    const look = Effect.flatMap(chain.progress, ({ importing }) => {
      if (importing === undefined) return Effect.void
      if (terminal !== undefined) {
        return Effect.sync(() => terminal.write(CLEAR_LINE + drawBar(importing, terminal.columns)))
      }
      const { share: _, ...facts } = summarize(importing)
      const message = importing.phase === "headers" ? "reading headers" : "importing blocks"
      return Effect.logInfo(message, facts)
    })
    const pause = terminal === undefined ? "30 seconds" : "200 millis"
    const every = Schedule.spaced(pause)
    return Effect.sleep(terminal === undefined ? pause : "0 millis").pipe(
      Effect.zipRight(Effect.repeat(look, every)),
      Effect.zipRight(Effect.never),
      Effect.ensuring(Effect.sync(() => terminal?.write(CLEAR_LINE)))
    )
  })

const importBlocks = (files: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const sink = yield* ChainSink
    const control = yield* ChainControl
    const chain = yield* Chain
    const shown = yield* Effect.fork(showImport(standardTerminal()))
    const report = yield* sink.importFrom(files).pipe(Effect.ensuring(shown.interruptAsFork(shown.id())))
    const { elapsedMs, ...facts } = report
    if (facts.stored + facts.known + facts.refused + facts.orphans === 0) {
      return yield* Effect.logError(
        "nothing to import: the files hold no block of this network. Check them, and -network",
        {
          files: files.join(", "),
          network: chain.params.network.chainName
        }
      )
    }
    const timings = Object.entries(yield* control.timings).map(([what, ms]) => [what, Math.round(ms)] as const)
    yield* Effect.logInfo("import finished", {
      ...facts,
      seconds: Math.round(elapsedMs) / 1000,
      blocksPerSecond: Math.round(1000 * report.stored / Math.max(1, elapsedMs)),
      milliseconds: Object.fromEntries(timings)
    })
  })

const loadSnapshot = (file: string) =>
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
    if (yield* snapshots.began) {
      return yield* Effect.logInfo("a snapshot is loaded already: -loadsnapshot does nothing")
    }
    let waits = false
    const load = Effect.tapError(snapshots.load(file), (failure) => {
      if (waits || failure._tag !== "SnapshotRefused" || failure.cause !== "header") return Effect.void
      waits = true
      return Effect.logInfo("the snapshot waits for the header of its base block, which comes from peers", { file })
    })
    yield* Effect.retry(load, {
      while: (failure) => failure._tag === "SnapshotRefused" && failure.cause === "header",
      schedule: Schedule.spaced("1 second")
    })
  }).pipe(
    Effect.catchTag("SnapshotRefused", ({ reason }) => new ImportFailed({ file, reason }))
  )

export const loadFiles = ({ loadBlocks, loadSnapshot: snapshot }: Settings["chain"]) =>
  Effect.gen(function*() {
    const imported = yield* FilesImported
    if (loadBlocks.length > 0) {
      yield* inBackground(Effect.zipRight(importBlocks(loadBlocks), Deferred.succeed(imported, undefined)))
    }
    if (snapshot !== undefined) yield* inBackground(loadSnapshot(snapshot))
  })
