import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { resolve } from "node:path"
import type { Bytes } from "../protocol/bytes.ts"
import type { HeaderId, Height } from "../protocol/keys.ts"
import type { DataHealth } from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { attempt } from "./attempt.ts"
import * as BackgroundValidation from "./background/BackgroundValidation.ts"
import type { ChainParts } from "./ChainParts.ts"
import { NONE } from "./index/BlockIndex.ts"
import { type HeaderInfo, headerInfo } from "./index/headerInfo.ts"
import { dumpCoins, type SnapshotWritten } from "./snapshot/dumpCoins.ts"
import { loadCoins, type SnapshotLoaded } from "./snapshot/loadCoins.ts"
import type { SnapshotRefused } from "./snapshot/snapshotFile.ts"
import { snapshotDirectory, validatedBases } from "./snapshot/snapshotState.ts"

export type { SnapshotLoaded, SnapshotRefused, SnapshotWritten }

/** Files with all coins at a block, in the reference node's format. */
export class Snapshots extends Context.Tag("svcd/Snapshots")<Snapshots, {
  /** The absolute path of a snapshot file. Relative paths start in the data directory. */
  readonly pathOf: (given: string) => string
  /** Writes the coins at the tip, or at an earlier block of the best chain, to a new file. */
  readonly dump: (
    path: string,
    base: "tip" | HeaderId
  ) => Effect.Effect<SnapshotWritten, SnapshotRefused | StorageFailure>
  /** Loads the coins and names of a file and continues from its base block. Runs one load at a time. */
  readonly load: (path: string) => Effect.Effect<SnapshotLoaded, SnapshotRefused | StorageFailure>
  /** The base block of the chain's snapshot until it is validated. */
  readonly base: Effect.Effect<HeaderInfo | undefined>
  /** Whether the chain began with a snapshot, validated or not. */
  readonly began: Effect.Effect<boolean, StorageFailure>
  /** Whether the base block of that snapshot, or of a validated one before it, is at this height. */
  readonly beganAt: (height: Height) => Effect.Effect<boolean, StorageFailure>
  /** The last block validated in the background, below the base of the snapshot. */
  readonly background: Effect.Effect<HeaderInfo | undefined>
  /** Memory for the coins of the chain state in use and of the background one, in bytes. */
  readonly cacheBytes: { readonly inUse: number; readonly background: number }
}>() {}

export interface SnapshotOptions {
  /** Relative paths start in this directory, the data directory. */
  readonly temporaryDirectory: string
  /** The directory of the node's own chain state. */
  readonly chainstateDirectory: string
  readonly pageSize: number
  readonly coinCacheBytes: number
  readonly snapshotHash?: Bytes | undefined
}

/** The share of the coin memory that the background may use in addition. */
const BACKGROUND_SHARE = 0.25

/** The service and the background validation of a snapshot, which ends with the scope. */
export const make = (
  parts: ChainParts,
  options: SnapshotOptions
): Effect.Effect<Context.Tag.Service<Snapshots>, never, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { chainstateDirectory, coinCacheBytes, pageSize, temporaryDirectory } = options
    const { state } = parts
    const cacheBytes = { inUse: coinCacheBytes, background: coinCacheBytes * BACKGROUND_SHARE }
    const alone = Effect.unsafeMakeSemaphore(1).withPermits(1)
    const validated = attempt(() => validatedBases(chainstateDirectory))
    const pathOf = (given: string): string => resolve(temporaryDirectory, given)
    const background = yield* BackgroundValidation.make(parts, {
      chainstateDirectory,
      pageSize,
      cacheBytes: cacheBytes.background
    })
    yield* background.begin
    return {
      pathOf,
      dump: (path, base) => dumpCoins(parts, { path: pathOf(path), base, memory: coinCacheBytes }),
      load: (path) =>
        alone(loadCoins(parts, {
          path: pathOf(path),
          directory: snapshotDirectory(chainstateDirectory),
          pageSize,
          trusted: options.snapshotHash
        })).pipe(Effect.zipLeft(background.begin)),
      base: Effect.sync(() => state.snapshot === undefined ? undefined : headerInfo(state, state.snapshot.id)),
      began: Effect.map(validated, (bases) => state.snapshot !== undefined || bases.length > 0),
      beganAt: (height) =>
        Effect.map(validated, (bases) => {
          const ids = bases.map((hash) => state.index.find(hash))
          // The height of a base with a lost header is unknown.
          return state.snapshot?.height === height || ids.some((id) => id === NONE || state.index.height(id) === height)
        }),
      background: Effect.map(background.tip, (tip) => tip === undefined ? undefined : headerInfo(state, tip)),
      cacheBytes
    }
  })
