import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { withLoneSpan } from "../base/spans.ts"
import { type Bytes, displayHash } from "../protocol/bytes.ts"
import { guarded } from "../storage/Database.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { findDamage } from "../storage/inspect.ts"
import { attempt } from "./attempt.ts"
import type { ChainParts } from "./ChainParts.ts"
import type { ValidatedByOtherRules } from "./errors.ts"
import { unreadBlocks } from "./errors.ts"
import * as ChainImport from "./import/ChainImport.ts"
import type { ImportReport } from "./import/importBlocks.ts"
import { removeUnpacked } from "./import/importSource.ts"
import { Decisions } from "./index/Decisions.ts"
import { emptyPrunedDirectory, isPruned, refuseUnpruned } from "./prune/prunedDirectory.ts"
import { checkPages, removeDamagedChainState } from "./repair/chainDamage.ts"
import { checkAtStart } from "./repair/checkLastBlocks.ts"
import { requestRebuild } from "./repair/rebuild.ts"
import { DEFAULT_CHECK, type VerifyOptions } from "./repair/verifyChain.ts"
import { type ChainStateInUse, chainStateInUse } from "./snapshot/snapshotState.ts"
import { applyRules } from "./state/appliedRules.ts"
import { hasChainState, inspected } from "./state/ChainDatabase.ts"
import { ChainState, type ChainStateOptions } from "./state/ChainState.ts"
import { ChainStores, type ChainStoresOptions } from "./state/ChainStores.ts"
import * as ChainWriter from "./write/ChainWriter.ts"
import * as VerifyPool from "./write/VerifyPool.ts"

export interface ChainOptions
  extends Omit<ChainStateOptions, "now" | "snapshot">, Omit<ChainStoresOptions, "onDamage">
{
  /** Worker threads for scripts, besides the main thread. */
  readonly verifyThreads: number
  /** Unix time in seconds; by default Effect's clock. */
  readonly now?: () => number
  readonly check?: Pick<VerifyOptions, "level" | "blocks">
  readonly temporaryDirectory: string
  /** The hash of the coins of a snapshot that the operator trusts, in wire order. */
  readonly snapshotHash?: Bytes | undefined
}

interface OpenOptions extends ChainOptions, Pick<ChainStateOptions, "snapshot"> {}

/** The chain state in use: that of a snapshot, or the node's own. Removes a damaged one of a snapshot. */
const chooseChainState = (own: string): Effect.Effect<ChainStateInUse, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const first = yield* attempt(() => chainStateInUse(own))
    const found = first.base === undefined ? undefined : yield* findDamage(inspected(first.directory))
    if (found !== undefined) {
      yield* attempt(() => requestRebuild({ chainstateDirectory: first.directory, reason: found }))
    }
    const chosen = found === undefined ? first : yield* attempt(() => chainStateInUse(own))
    if (chosen.removed !== undefined) {
      yield* Effect.logWarning("chain state of a snapshot removed: the node continues from its own", {
        reason: chosen.removed
      })
    }
    const { invalid } = chosen
    if (invalid !== undefined) {
      const { notice } = yield* DataHealth
      yield* Effect.asVoid(notice({
        what: "chainstate_snapshot",
        reason:
          `the snapshot of block ${displayHash(invalid.hash)} is invalid: ${invalid.reason}. The node continues from ` +
          "its own chain state. This notice ends at the first start after another snapshot was loaded, or after the " +
          "folder chainstate_snapshot was deleted"
      }))
    }
    return chosen
  })

/** Refuses a chain state that was validated under other rules: see `applyRules`. */
const checkRules = (
  { active, index }: ChainStores,
  { chainstateDirectory, params }: OpenOptions
): Effect.Effect<void, StorageFailure | ValidatedByOtherRules> =>
  Effect.flatMap(
    attempt(() => applyRules({ directory: chainstateDirectory, active, index }, params)),
    (refused) => refused ?? Effect.void
  )

const openParts = (
  options: OpenOptions
): Effect.Effect<ChainParts, StorageFailure | ValidatedByOtherRules, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { temporaryDirectory } = options
    const clock = yield* Effect.clock
    const now = options.now ?? (() => Math.floor(clock.unsafeCurrentTimeMillis() / 1000))
    const met = yield* Queue.sliding<StorageFailure>(1)
    const { state, stores } = yield* Effect.acquireRelease(
      attempt(() => {
        const stores = new ChainStores({ ...options, onDamage: (damage) => void met.unsafeOffer(damage) })
        try {
          return { stores, state: new ChainState(stores, { ...options, now }) }
        } catch (cause) {
          stores.close()
          throw cause
        }
      }),
      ({ state }) => Effect.sync(() => state.close())
    )
    yield* checkRules(stores, options)
    const decisions = yield* attempt(() => new Decisions(options.blocksDirectory))
    const pool = yield* VerifyPool.make(options.verifyThreads)
    const writer = yield* ChainWriter.make(state, pool, stores)
    const endBy = (damage: Effect.Effect<never, StorageFailure>) => Effect.ignore(writer.exclusively(() => damage))
    yield* checkPages(options, stores, endBy)
    // Even if only a caller's read found the damage: the database may return wrong data to others.
    yield* Effect.forkScoped(Effect.flatMap(Queue.take(met), (damage) => endBy(Effect.fail(damage))))
    // Waits for the current writer, so that its batch is settled while worker threads exist.
    yield* Effect.addFinalizer(() =>
      Effect.catchAll(
        writer.exclusively(({ flush }) => flush),
        (failure) => Effect.logError("chain state could not be saved at shutdown", { reason: failure.message })
      )
    )
    const imports = ChainImport.make({ state, writer, temporaryDirectory })
    return { stores, state, pool, writer, decisions, imports }
  })

/** Reads the node's own block files again, in place. */
const reread = (
  { imports }: ChainParts,
  sources: Omit<ChainImport.ImportSources, "own">
): Effect.Effect<ImportReport, StorageFailure> =>
  Effect.catchTag(imports.run({ ...sources, own: true }), "ImportFailed", unreadBlocks)

/** Block files without an index, because the folder chainstate was deleted. Blocks are read again in place. */
const rebuild = (parts: ChainParts, strayFiles: ReadonlyArray<string>): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { imports, stores, writer } = parts
    yield* Effect.logWarning("chain state missing: rebuilding it from the stored blocks", {
      files: strayFiles.length
    })
    const progress = Effect.suspend(() => {
      const importing = imports.progress()
      return Effect.logInfo("rebuilding the chain state", { phase: importing?.phase, height: importing?.height })
    })
    const said = yield* Effect.fork(Effect.repeat(progress, Schedule.spaced("10 seconds")))
    yield* reread(parts, { paths: strayFiles }).pipe(Effect.ensuring(Fiber.interrupt(said)))
    yield* writer.exclusively(({ flush }) => Effect.zipRight(attempt(() => stores.storeGenesis()), flush))
  })

/** Blocks that were written and possibly acknowledged, but not yet indexed, before a power cut. */
const readTails = (parts: ChainParts, tails: ReadonlyMap<string, number>): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { decisions, state, stores } = parts
    yield* attempt(() => decisions.lift(state))
    const { stored } = yield* reread(parts, { paths: [...tails.keys()], from: tails })
    if (stored > 0) stores.noteRepair(`${stored} blocks after the end of the block index were read again`)
    yield* attempt(() => stores.cutTails())
  })

/** Blocks stored but not connected when the node ended. A damaged one can be fetched again. */
const connectStored = ({ writer }: ChainParts, blocksDirectory: string): Effect.Effect<void, StorageFailure> =>
  writer.exclusively((held) =>
    Effect.gen(function*() {
      let isRefused = false
      yield* held.activate(true, (_, reject) => isRefused ||= reject !== undefined)
      yield* held.catchUp
      // Stores a refusal at once, so that a start after a crash does not validate the block again.
      if (isRefused) yield* held.flush
    }).pipe(
      Effect.catchIf(
        (failure) => failure._tag === "StorageCorrupted" && failure.file.startsWith(blocksDirectory),
        (damage) => Effect.logError(damage.message)
      )
    )
  )

/** Empties a pruned directory that lost its chain state, to which the remaining blocks do not lead. */
const usePrunedDirectory = (options: ChainOptions): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { blocksDirectory, chainstateDirectory, prune } = options
    if (!isPruned(blocksDirectory)) return
    if (hasChainState(chainstateDirectory)) {
      return prune === undefined ? yield* attempt(() => refuseUnpruned(blocksDirectory)) : undefined
    }
    const files = yield* attempt(() => emptyPrunedDirectory(blocksDirectory))
    yield* Effect.logWarning("chain state missing, and old blocks were pruned: all blocks are downloaded again", {
      files
    })
  })

/** Opens a chain: repairs or rebuilds after a crash, checks the last blocks, and connects all stored blocks. */
export const openChain = (
  given: ChainOptions
): Effect.Effect<ChainParts, StorageFailure | ValidatedByOtherRules, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { blocksDirectory, temporaryDirectory } = given
    const { base, directory } = yield* chooseChainState(given.chainstateDirectory)
    const options = { ...given, chainstateDirectory: directory, snapshot: base }
    yield* attempt(() =>
      guarded({ file: temporaryDirectory, doing: "tidying", remedy: "" }, () => removeUnpacked(temporaryDirectory))
    )
    const rebuilt = yield* removeDamagedChainState(options)
    yield* usePrunedDirectory(options)
    const parts = yield* openParts(options)
    const { decisions, state, stores } = parts
    const strayFiles = stores.strayFiles()
    if (strayFiles.length > 0) yield* rebuild(parts, strayFiles)
    const tails = stores.tailStarts()
    if (tails.size > 0) yield* readTails(parts, tails)
    // A chain state just rebuilt from the blocks needs no check.
    if (rebuilt === undefined) yield* checkAtStart(parts, options.check ?? DEFAULT_CHECK)
    // Restores the operator's decisions about the best chain.
    for (const said of yield* attempt(() => decisions.apply(state))) yield* Effect.logWarning(said)
    yield* connectStored(parts, blocksDirectory)
    return parts
  }).pipe(withLoneSpan("svcd.chain.open"))
