import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs"
import { open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { makeDirectory } from "./makeDirectory.ts"

/**
 * Files that are there whole or not at all, whenever the power fails (docs/data-directory.md): the new content is written beside
 * the file and synced, takes its place by a rename, and the directory is synced. These throw what the system throws.
 */

/** Nobody but the owner: any of these files tells something about him. */
const FILE_MODE = 0o600

export type Content = string | Uint8Array

/** Makes the entries of a directory durable. Not every system lets a directory be opened; those do it themselves. */
export const syncDirectory = async (path: string): Promise<void> => {
  if (process.platform === "win32") return
  const directory = await open(path, "r")
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** The same, at once. */
export const syncDirectoryNow = (path: string): void => {
  if (process.platform === "win32") return
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Makes a directory, and those above it that are missing, whose own names survive a power cut. */
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
 * Replaces a file by what the parts make together. The draft is made anew, as one that lies there may have other
 * rights; it is gone when this fails. Writers that may meet need drafts of their own.
 */
export const replaceFile = async (
  path: string,
  parts: Iterable<Content>,
  draft: string = draftOf(path)
): Promise<void> => {
  await rm(draft, { force: true })
  try {
    const file = await open(draft, "wx", FILE_MODE)
    try {
      for (const part of parts) await file.appendFile(part)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {})
    throw error
  }
  await syncDirectory(dirname(path))
}

/** Replaces a file at once, while the event loop waits: for small files, and at the end of the process. */
export const replaceFileNow = (path: string, content: Content): void => {
  const draft = draftOf(path)
  rmSync(draft, { force: true })
  try {
    const descriptor = openSync(draft, "wx", FILE_MODE)
    try {
      const bytes = typeof content === "string" ? Buffer.from(content) : content
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  syncDirectoryNow(dirname(path))
}
