import * as Effect from "effect/Effect"
import { monotonic } from "../../base/clock.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { ChainParts } from "../ChainParts.ts"
import { verifyChain, type VerifyOptions, type VerifyReport } from "./verifyChain.ts"

/** The time limit of the check at the start. The background check covers the rest. */
const START_CHECK_MS = 60_000

/** Verifies the last blocks while no other caller writes. Ends the node if the coins contradict the blocks. */
export const checkLastBlocks = (
  { pool, state, stores, writer }: Pick<ChainParts, "pool" | "state" | "stores" | "writer">,
  wanted: VerifyOptions
): Effect.Effect<VerifyReport, StorageFailure> =>
  writer.exclusively(() =>
    Effect.flatMap(verifyChain(state, pool, wanted), (report) =>
      report.contradiction === undefined
        ? Effect.succeed(report)
        : Effect.fail(stores.beyondRepair(report.contradiction)))
  ).pipe(
    Effect.withSpan("svcd.chain.check", { attributes: { level: wanted.level, blocks: wanted.blocks } })
  )

/** Verifies the last blocks before any request is served. Damaged blocks are requested from peers. */
export const checkAtStart = (
  parts: Pick<ChainParts, "pool" | "state" | "stores" | "writer">,
  { blocks, level }: Pick<VerifyOptions, "level" | "blocks">
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const started = monotonic()
    const { checked, damaged } = yield* checkLastBlocks(parts, { blocks, level, deadline: started + START_CHECK_MS })
    const facts = { level, checked, damaged, milliseconds: Math.round(monotonic() - started) }
    if (damaged > 0) yield* Effect.logError("some of the last blocks are missing or damaged", facts)
    else if (checked > 0) yield* Effect.logDebug("last blocks verified", facts)
  })
