import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { standardTerminal } from "../../base/progressBar.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { ChainSink } from "../../chain/ChainSink.ts"
import { ImportFailed } from "../../chain/errors.ts"
import { Snapshots } from "../../chain/Snapshots.ts"
import type { Settings } from "../../config/settings.ts"
import { showImport } from "../importProgress.ts"
import { inBackground } from "./base.ts"
import { FilesImported } from "./chain.ts"

/** Blocks and coins from files, in the background. */

/** Imports the files of the command line, and logs the result. */
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

/** Loads the snapshot of the command line as soon as the header of its base block is known. */
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

/** Imports the files of the options, if there are any. */
export const loadFiles = ({ loadBlocks, loadSnapshot: snapshot }: Settings["chain"]) =>
  Effect.gen(function*() {
    const imported = yield* FilesImported
    if (loadBlocks.length > 0) {
      yield* inBackground(Effect.zipRight(importBlocks(loadBlocks), Deferred.succeed(imported, undefined)))
    }
    if (snapshot !== undefined) yield* inBackground(loadSnapshot(snapshot))
  })
