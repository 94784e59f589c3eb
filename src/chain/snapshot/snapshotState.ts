import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { replaceFileNow, syncDirectoryNow } from "../../base/atomicFile.ts"
import { renameFile } from "../../base/disk.ts"
import { type Bytes, displayHash, parseDisplayHash } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import { guarded } from "../../storage/Database.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { removeDatabase } from "../../storage/inspect.ts"
import { rebuildRequested } from "../repair/rebuild.ts"
import { chainStateFile } from "../state/ChainDatabase.ts"

// The chain state that began with a snapshot. It is in a directory beside the node's own one, which keeps its coins. A
// marker file, written last, makes it the chain state in use:
//
//     load → chainstate_snapshot/chainstate.db, synced ──► BASE ──► in use ──► VALIDATED ──► becomes the node's own
//                                                                        └──► INVALID ──► only this marker stays
//
// Meanwhile a third chain state, in chainstate_background, connects the blocks up to the base block. Without a marker
// the directory is what a load left that did not end, and is removed at the start.

export interface SnapshotBase {
  /** The hash of the base block, in wire order. */
  readonly hash: Bytes
  /** `hash_serialized_3` of its coins, in wire order. */
  readonly coins: Bytes
}

/** The snapshot that a chain state began with, and its base block's number and height. */
export interface BegunWith extends SnapshotBase {
  readonly id: HeaderId
  readonly height: Height
}

/** The directory of a snapshot's chain state, given the node's own. */
export const snapshotDirectory = (chainstateDirectory: string): string => `${chainstateDirectory}_snapshot`

/** The directory of the background chain state, given the node's own. */
export const backgroundDirectory = (chainstateDirectory: string): string => `${chainstateDirectory}_background`

const markerOf = (directory: string): string => join(directory, "BASE")

const validatedOf = (directory: string): string => join(directory, "VALIDATED")

const invalidOf = (directory: string): string => join(directory, "INVALID")

const REMEDY =
  "Stop the node, delete the folder chainstate_snapshot and start again: the node continues from its own chain state"

/** The snapshot in a marker; `undefined` if it does not name a block. */
const baseIn = (text: string): SnapshotBase | undefined => {
  const [hash, coins] = text.trim().split(" ").map(parseDisplayHash)
  return hash === undefined || coins === undefined ? undefined : { hash, coins }
}

/** The same, but a marker that does not name a block is damage. Throws `StorageCorrupted`. */
const namedBase = ({ marker, text }: { readonly marker: string; readonly text: string }): SnapshotBase => {
  const base = baseIn(text)
  if (base === undefined) {
    throw new StorageCorrupted({ file: marker, found: "it does not name a block", remedy: REMEDY })
  }
  return base
}

/** Makes a snapshot's chain state the one in use. Durable when it returns. Throws `StorageUnavailable`. */
export const useSnapshot = (directory: string, { coins, hash }: SnapshotBase): void => {
  const marker = markerOf(directory)
  guarded({ file: marker, doing: "writing", remedy: "" }, () => {
    replaceFileNow(marker, `${displayHash(hash)} ${displayHash(coins)}\n`)
    syncDirectoryNow(dirname(directory))
  })
}

export interface InvalidSnapshot extends SnapshotBase {
  readonly reason: string
}

/** The snapshot last found invalid, unless another was loaded since. Throws `StorageFailure`. */
export const invalidSnapshot = (directory: string): InvalidSnapshot | undefined => {
  const marker = invalidOf(directory)
  return guarded({ file: marker, doing: "reading", remedy: REMEDY }, () => {
    if (!existsSync(marker)) return undefined
    const [first = "", reason = ""] = readFileSync(marker, "utf8").split("\n")
    return { ...namedBase({ marker, text: first }), reason }
  })
}

/** Ends the use of an invalid snapshot from the next start. Durable when it returns. Throws `StorageFailure`. */
export const markInvalid = (directory: string, { coins, hash, reason }: InvalidSnapshot): void => {
  const marker = invalidOf(directory)
  guarded({ file: marker, doing: "writing", remedy: "" }, () => {
    replaceFileNow(marker, `${displayHash(hash)} ${displayHash(coins)}\n${reason}\n`)
    rmSync(markerOf(directory), { force: true })
    syncDirectoryNow(directory)
  })
}

/**
 * Records that the blocks up to the base lead to the snapshot. Removes the node's own and the background chain state.
 * Durable when it returns. Throws `StorageUnavailable`.
 */
export const markValidated = (chainstateDirectory: string): void => {
  const directory = snapshotDirectory(chainstateDirectory)
  guarded({ file: directory, doing: "changing", remedy: "" }, () => {
    renameFile({ from: markerOf(directory), to: validatedOf(directory) })
    syncDirectoryNow(directory)
    removeDatabase(chainStateFile(chainstateDirectory))
    rmSync(backgroundDirectory(chainstateDirectory), { recursive: true, force: true })
  })
}

/**
 * The base blocks, in wire order, of the validated snapshots that a chain state began with: the one in use and an
 * earlier one. A marker that does not name a block counts as missing. Throws `StorageFailure`.
 */
export const validatedBases = (chainstateDirectory: string): ReadonlyArray<Bytes> =>
  [chainstateDirectory, snapshotDirectory(chainstateDirectory)].flatMap((directory) => {
    const marker = validatedOf(directory)
    if (!existsSync(marker)) return []
    const text = guarded({ file: marker, doing: "reading", remedy: REMEDY }, () => readFileSync(marker, "utf8"))
    return baseIn(text)?.hash ?? []
  })

/** Whether a chain state began with a snapshot, validated or not, according to the markers. Changes nothing. */
export const beganWithSnapshot = (chainstateDirectory: string): boolean => {
  const directory = snapshotDirectory(chainstateDirectory)
  return [markerOf(directory), validatedOf(directory), validatedOf(chainstateDirectory)].some((file) =>
    existsSync(file)
  )
}

/**
 * Makes a validated chain state the node's own by moving its files. Runs before a chain state is opened, and continues
 * after a crash. The database moves first: while it is there, anything at its new place is older and is removed.
 */
const becomeOwn = (chainstateDirectory: string): void => {
  const directory = snapshotDirectory(chainstateDirectory)
  if (!existsSync(validatedOf(directory))) return
  const move = (from: string): void => {
    renameFile({ from, to: join(chainstateDirectory, basename(from)) })
    for (const changed of [chainstateDirectory, directory]) syncDirectoryNow(changed)
  }
  guarded({ file: directory, doing: "moving", remedy: "" }, () => {
    const database = chainStateFile(directory)
    if (existsSync(database)) {
      removeDatabase(chainStateFile(chainstateDirectory))
      syncDirectoryNow(chainstateDirectory)
      move(database)
    }
    const marker = validatedOf(directory)
    for (const name of readdirSync(directory).sort()) if (join(directory, name) !== marker) move(join(directory, name))
    move(marker)
    rmSync(directory, { recursive: true, force: true })
  })
}

/** Removes the directory, marker first so that the state is no longer in use. */
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
  /** Why a snapshot's chain state was removed. */
  readonly removed: string | undefined
  readonly invalid: InvalidSnapshot | undefined
}

/** Removes everything but the marker of an invalid snapshot. */
const emptyInvalid = (directory: string): void => {
  const marker = basename(invalidOf(directory))
  for (const name of readdirSync(directory)) {
    if (name !== marker) rmSync(join(directory, name), { recursive: true, force: true })
  }
}

/**
 * Finds the chain state in use before it is opened. A validated one becomes the node's own. A snapshot's damaged one is
 * removed, as it cannot be rebuilt without the blocks below its base. Throws `StorageFailure`.
 */
export const chainStateInUse = (chainstateDirectory: string): ChainStateInUse => {
  becomeOwn(chainstateDirectory)
  const found = findInUse(chainstateDirectory)
  if (found.base === undefined) removeBackground(chainstateDirectory)
  return found
}

/** Removes the background chain state. Throws `StorageUnavailable`. */
export const removeBackground = (chainstateDirectory: string): void => {
  const directory = backgroundDirectory(chainstateDirectory)
  guarded({ file: directory, doing: "removing", remedy: "" }, () => {
    rmSync(directory, { recursive: true, force: true })
  })
}

const findInUse = (chainstateDirectory: string): ChainStateInUse => {
  const directory = snapshotDirectory(chainstateDirectory)
  const own = { directory: chainstateDirectory, base: undefined, invalid: undefined }
  if (!existsSync(directory)) return { ...own, removed: undefined }
  const invalid = invalidSnapshot(directory)
  const marker = markerOf(directory)
  return guarded({ file: marker, doing: "reading", remedy: REMEDY }, () => {
    if (invalid !== undefined) {
      emptyInvalid(directory)
      return { ...own, removed: undefined, invalid }
    }
    if (!existsSync(marker) || rebuildRequested(directory)) {
      const removed = existsSync(marker) ? "it is damaged" : "its loading did not end"
      remove(directory)
      return { ...own, removed }
    }
    const base = namedBase({ marker, text: readFileSync(marker, "utf8") })
    return { directory, base, removed: undefined, invalid: undefined }
  })
}
