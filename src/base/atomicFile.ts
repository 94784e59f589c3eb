import { closeSync, openSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { closeAside, openAside, removeAside, renameAside, renameFile, syncAside, writeAll, writeAside } from "./disk.ts"
import { type DiskSteps, doNow } from "./diskSteps.ts"
import { makeDirectory } from "./makeDirectory.ts"

/**
 * Files that are complete or absent after a power cut (docs/data-directory.md): written beside the old file, synced,
 * renamed, and the directory synced. The functions throw system errors.
 */

/** Each of these files holds private information. */
const FILE_MODE = 0o600

export type Content = string | Uint8Array

const bytesOf = (content: Content): Uint8Array => typeof content === "string" ? Buffer.from(content) : content

/** Makes the entries of a directory durable. Windows cannot open a directory, and does this itself. */
export const syncDirectory = async (path: string): Promise<void> => {
  if (process.platform === "win32") return
  const directory = await openAside(path, { flags: "r" })
  try {
    await syncAside(directory)
  } finally {
    await closeAside(directory)
  }
}

function* directorySteps(path: string): DiskSteps {
  if (process.platform === "win32") return
  const descriptor = openSync(path, "r")
  try {
    yield descriptor
  } finally {
    closeSync(descriptor)
  }
}

export const syncDirectoryNow = (path: string): void => doNow(directorySteps(path))

export const makeDirectoryDurably = async (directory: string): Promise<void> => {
  const made = makeDirectory(directory)
  if (made === undefined) return
  for (let parent = dirname(directory);; parent = dirname(parent)) {
    await syncDirectory(parent)
    if (parent.length < made.length) return
  }
}

const draftOf = (path: string): string => `${path}.new`

/**
 * Replaces a file by the joined parts. The draft is always a new file, because an old one may have other permissions,
 * and is removed on failure. Concurrent writers need different drafts.
 */
export const replaceFile = async (
  path: string,
  parts: Iterable<Content>,
  draft: string = draftOf(path)
): Promise<void> => {
  await removeAside(draft)
  try {
    const file = await openAside(draft, { flags: "wx", mode: FILE_MODE })
    try {
      for (const part of parts) await writeAside(file, bytesOf(part))
      await syncAside(file)
    } finally {
      await closeAside(file)
    }
    await renameAside({ from: draft, to: path })
  } catch (error) {
    await removeAside(draft).catch(() => {})
    throw error
  }
  await syncDirectory(dirname(path))
}

/** Replaces a file in steps; it is written at once. Concurrent writers of one file need other means. */
export function* replaceFileSteps(path: string, content: Content): DiskSteps {
  const draft = draftOf(path)
  rmSync(draft, { force: true })
  let complete = false
  try {
    const descriptor = openSync(draft, "wx", FILE_MODE)
    try {
      writeAll(descriptor, bytesOf(content))
      yield descriptor
    } finally {
      closeSync(descriptor)
    }
    renameFile({ from: draft, to: path })
    complete = true
  } finally {
    if (!complete) rmSync(draft, { force: true })
  }
  yield* directorySteps(dirname(path))
}

/** Blocks the event loop: for small files, and at the end of the process. */
export const replaceFileNow = (path: string, content: Content): void => doNow(replaceFileSteps(path, content))
