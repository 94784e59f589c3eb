import * as Effect from "effect/Effect"
import { withLoneSpan } from "../../base/spans.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { attemptSteps } from "../attempt.ts"
import type { ImportFailed } from "../errors.ts"
import type { ChainState } from "../state/ChainState.ts"
import type { ChainWriter } from "../write/ChainWriter.ts"
import { type ImportReport, importSources } from "./importBlocks.ts"
import type { ImportContext, ImportProgress } from "./ImportRun.ts"

export type ImportSources = Pick<ImportContext, "paths" | "own" | "from">

/** Imports block files into a chain. */
export interface ChainImport {
  readonly run: (sources: ImportSources) => Effect.Effect<ImportReport, ImportFailed | StorageFailure>
  readonly progress: () => ImportProgress | undefined
}

export interface ChainImportParts {
  readonly state: ChainState
  readonly writer: ChainWriter
  readonly temporaryDirectory: string
}

export const make = ({ state, temporaryDirectory, writer }: ChainImportParts): ChainImport => {
  const { exclusively } = writer
  let importing: ImportProgress | undefined
  return {
    progress: () => importing,
    run: (sources) =>
      importSources({
        ...sources,
        state,
        temporaryDirectory,
        batch: (work, judged) =>
          exclusively((held) =>
            attemptSteps(work).pipe(Effect.zipRight(held.activate(true, judged)), Effect.zipLeft(held.flushAfter(true)))
          ).pipe(Effect.withSpan("svcd.chain.importBatch")),
        flush: exclusively(({ catchUp, flush }) => Effect.zipRight(catchUp, flush)),
        report: (progress) => Effect.sync(() => void (importing = progress))
      }).pipe(
        // Brings the followers to the tip even if the import ends early.
        Effect.ensuring(Effect.ignore(exclusively(({ catchUp }) => catchUp))),
        Effect.ensuring(Effect.sync(() => void (importing = undefined))),
        withLoneSpan("svcd.chain.import", { attributes: { files: sources.paths.length } })
      )
  }
}
