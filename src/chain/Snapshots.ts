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

/** Files with all coins of a block, in the reference node's format. */
export class Snapshots extends Context.Tag("svcd/Snapshots")<Snapshots, {
  /** The absolute path of a snapshot file; a relative one begins in the data directory. */
  readonly pathOf: (given: string) => string
  /** Writes the coins of the tip, or of an earlier block of the best chain, to a new file. */
  readonly dump: (
    path: string,
    base: "tip" | HeaderId
  ) => Effect.Effect<SnapshotWritten, SnapshotRefused | StorageFailure>
  /** Loads the coins and names of a file, and continues from its base block. One load runs at a time. */
  readonly load: (path: string) => Effect.Effect<SnapshotLoaded, SnapshotRefused | StorageFailure>
  /** The base block of the snapshot that the chain began with and that is not validated; `undefined` for none. */
  readonly base: Effect.Effect<HeaderInfo | undefined>
  /** Whether the chain began with a snapshot, even if it was validated since. */
  readonly began: Effect.Effect<boolean, StorageFailure>
  /** Whether that snapshot, or a validated one before it, has a base block at this height. */
  readonly beganAt: (height: Height) => Effect.Effect<boolean, StorageFailure>
  /** The chain state that validates the blocks below the base from genesis: its last block. `undefined` for none. */
  readonly background: Effect.Effect<HeaderInfo | undefined>
  /** Bytes of memory for the coins of the chain state in use, and of that in the background. */
  readonly cacheBytes: { readonly inUse: number; readonly background: number }
}>() {}

export interface SnapshotOptions {
  /** The data directory: relative paths begin here. */
  readonly temporaryDirectory: string
  /** The directory of the node's own chain state. */
  readonly chainstateDirectory: string
  readonly pageSize: number
  readonly coinCacheBytes: number
  readonly snapshotHash?: Bytes | undefined
}

/** The share of the memory for coins that the background may use in addition. */
const BACKGROUND_SHARE = 0.25

/** The service, and the validation of a snapshot in the background, which ends with the scope. */
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
          const ids = bases.map((hash) => state.find(hash))
          // The height of a base whose header was lost is not known.
          return state.snapshot?.height === height || ids.some((id) => id === NONE || state.index.height(id) === height)
        }),
      background: Effect.map(background.tip, (tip) => tip === undefined ? undefined : headerInfo(state, tip)),
      cacheBytes
    }
  })
