import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { resolve } from "node:path"
import type { Bytes } from "../protocol/bytes.ts"
import type { HeaderId } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { ChainParts } from "./ChainParts.ts"
import { type HeaderInfo, headerInfo } from "./index/headerInfo.ts"
import { dumpCoins, type SnapshotWritten } from "./snapshot/dumpCoins.ts"
import { loadCoins, type SnapshotLoaded } from "./snapshot/loadCoins.ts"
import type { SnapshotRefused } from "./snapshot/snapshotFile.ts"
import { snapshotDirectory } from "./snapshot/snapshotState.ts"

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
  /** Bytes of memory for the coins. */
  readonly cacheBytes: number
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

export const make = (parts: ChainParts, options: SnapshotOptions): Context.Tag.Service<Snapshots> => {
  const { chainstateDirectory, coinCacheBytes, pageSize, temporaryDirectory } = options
  const { state } = parts
  const alone = Effect.unsafeMakeSemaphore(1).withPermits(1)
  const pathOf = (given: string): string => resolve(temporaryDirectory, given)
  return {
    pathOf,
    dump: (path, base) => dumpCoins(parts, { path: pathOf(path), base, memory: coinCacheBytes }),
    load: (path) =>
      alone(loadCoins(parts, {
        path: pathOf(path),
        directory: snapshotDirectory(chainstateDirectory),
        pageSize,
        trusted: options.snapshotHash
      })),
    base: Effect.sync(() => state.snapshot === undefined ? undefined : headerInfo(state, state.snapshot.id)),
    cacheBytes: coinCacheBytes
  }
}
