import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { replaceFileNow, syncDirectoryNow } from "../../base/atomicFile.ts"
import { type Bytes, displayHash, parseDisplayHash } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import { guarded } from "../../storage/Database.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { rebuildRequested } from "../repair/rebuild.ts"

/**
 * The chain state that began with a snapshot. It is in a directory beside the node's own one, which keeps its coins. A
 * marker file, written last, makes it the chain state in use:
 *
 *     load → chainstate_snapshot/chainstate.db, synced ──► marker BASE ──► in use
 *
 * Without a marker the directory is what a load left that did not end, and is removed at the start.
 */

export interface SnapshotBase {
  /** The hash of the base block, wire order. */
  readonly hash: Bytes
  /** `hash_serialized_3` of its coins, wire order. */
  readonly coins: Bytes
}

/** The snapshot that a chain state began with, and the number and height of its base block. */
export interface BegunWith extends SnapshotBase {
  readonly id: HeaderId
  readonly height: Height
}

/** The directory for the chain state of a snapshot, given the node's own. */
export const snapshotDirectory = (chainstateDirectory: string): string => `${chainstateDirectory}_snapshot`

const markerOf = (directory: string): string => join(directory, "BASE")

const REMEDY =
  "Stop the node, delete the folder chainstate_snapshot and start again: the node continues from its own chain state"

/** Makes a chain state of a snapshot the one in use. Durable when it returns. Throws `StorageUnavailable`. */
export const useSnapshot = (directory: string, { coins, hash }: SnapshotBase): void => {
  const marker = markerOf(directory)
  guarded({ file: marker, doing: "writing", remedy: "" }, () => {
    replaceFileNow(marker, `${displayHash(hash)} ${displayHash(coins)}\n`)
    syncDirectoryNow(dirname(directory))
  })
}

/** Removes the directory. The marker goes first: from then on the state is not in use. */
const remove = (directory: string): void => {
  rmSync(markerOf(directory), { force: true })
  if (existsSync(directory)) syncDirectoryNow(directory)
  rmSync(directory, { recursive: true, force: true })
}

/** Makes an empty directory for a chain state. Throws `StorageUnavailable`. */
export const beginSnapshot = (directory: string): void =>
  guarded({ file: directory, doing: "creating", remedy: "" }, () => {
    remove(directory)
    mkdirSync(directory, { mode: 0o700 })
  })

/** Removes a chain state that is not in use. Throws `StorageUnavailable`. */
export const dropSnapshot = (directory: string): void =>
  guarded({ file: directory, doing: "removing", remedy: "" }, () => remove(directory))

export interface ChainStateInUse {
  readonly directory: string
  readonly base: SnapshotBase | undefined
  /** Why a chain state of a snapshot was removed. */
  readonly removed: string | undefined
}

/**
 * Finds the chain state in use, before it is opened. One of a snapshot that was found damaged is removed: without the
 * blocks below its base it cannot be rebuilt. Throws `StorageFailure`.
 */
export const chainStateInUse = (chainstateDirectory: string): ChainStateInUse => {
  const directory = snapshotDirectory(chainstateDirectory)
  const own = { directory: chainstateDirectory, base: undefined }
  if (!existsSync(directory)) return { ...own, removed: undefined }
  const marker = markerOf(directory)
  return guarded({ file: marker, doing: "reading", remedy: REMEDY }, () => {
    if (!existsSync(marker) || rebuildRequested(directory)) {
      const removed = existsSync(marker) ? "it is damaged" : "its loading did not end"
      remove(directory)
      return { ...own, removed }
    }
    const [hash, coins] = readFileSync(marker, "utf8").trim().split(" ").map(parseDisplayHash)
    if (hash === undefined || coins === undefined) {
      throw new StorageCorrupted({ file: marker, found: "it does not name a block", remedy: REMEDY })
    }
    return { directory, base: { hash, coins }, removed: undefined }
  })
}
