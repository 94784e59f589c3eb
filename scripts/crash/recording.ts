import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { DiskEvent, Image, StoredFile } from "./diskImage.ts"
import { ROOT } from "./workplace.ts"

/** The output of a recorder: events, and the offset in its log where the record of each ends. */
export interface Recording {
  readonly events: ReadonlyArray<DiskEvent>
  readonly ends: ReadonlyArray<number>
}

const HEADER = 32

/** Shared memory of SQLite: no program reads it after a crash. */
const isShared = (path: string): boolean => path.endsWith("-shm")

/**
 * Builds the library that records what a process writes. Returns its path, or why it cannot be built: it needs a C
 * compiler and a system that preloads libraries.
 */
export const buildRecorder = (directory: string): { readonly library: string } | { readonly skipped: string } => {
  if (process.platform !== "linux") return { skipped: `${process.platform} has no LD_PRELOAD` }
  const library = join(directory, "recorder.so")
  const source = join(ROOT, "scripts/crash/recorder.c")
  try {
    execFileSync(process.env["CC"] ?? "cc", ["-O2", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"], {
      stdio: ["ignore", "ignore", "pipe"]
    })
    return { library }
  } catch (error) {
    return { skipped: `no C compiler: ${String(error).split("\n")[0]}` }
  }
}

/** Reads the log of a recorder. An incomplete record is left out. */
export const readRecording = (log: Uint8Array): Recording => {
  const bytes = Buffer.from(log.buffer, log.byteOffset, log.byteLength)
  const events: Array<DiskEvent> = []
  const ends: Array<number> = []
  for (let at = 0; at + HEADER <= bytes.length;) {
    const firstLength = bytes.readUInt32LE(at + 4)
    const secondLength = bytes.readUInt32LE(at + 8)
    const dataLength = bytes.readUInt32LE(at + 12)
    const inode = Number(bytes.readBigUInt64LE(at + 16))
    const number = Number(bytes.readBigUInt64LE(at + 24))
    const firstAt = at + HEADER
    const dataAt = firstAt + firstLength + secondLength
    const end = dataAt + dataLength
    if (end > bytes.length) break
    const path = bytes.toString("utf8", firstAt, firstAt + firstLength)
    const to = bytes.toString("utf8", firstAt + firstLength, dataAt)
    events.push(eventOf(bytes.readUInt8(at), path, to, inode, number, bytes.subarray(dataAt, end)))
    ends.push(end)
    at = end
  }
  return { events, ends }
}

/** The numbers of the record kinds in recorder.c. */
const eventOf = (
  kind: number,
  path: string,
  to: string,
  inode: number,
  number: number,
  bytes: Uint8Array
): DiskEvent => {
  switch (kind) {
    case 1:
      return { _tag: "Create", path, inode }
    case 2:
      return { _tag: "Truncate", inode, size: number }
    case 3:
      return { _tag: "Write", inode, offset: number, bytes }
    case 4:
      return { _tag: "Sync", inode }
    case 5:
      return { _tag: "SyncDirectory", path }
    case 6:
      return { _tag: "Rename", from: path, to }
    case 7:
      return { _tag: "Unlink", path }
    default:
      throw new Error(`the recording has a record of unknown kind ${kind}`)
  }
}

/** The files of a directory, all of them synced. */
export const storedFiles = (directory: string): ReadonlyMap<string, StoredFile> => {
  const files = new Map<string, StoredFile>()
  for (const path of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const found = statSync(join(directory, path))
    if (!found.isFile() || isShared(path)) continue
    files.set(path, { inode: found.ino, bytes: readFileSync(join(directory, path)) })
  }
  return files
}

/** Writes an image out as a directory. */
export const writeImage = (directory: string, image: Image): void => {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const [path, bytes] of image) {
    mkdirSync(dirname(join(directory, path)), { recursive: true, mode: 0o700 })
    writeFileSync(join(directory, path), bytes, { mode: 0o600 })
  }
}

/** Files in which an image differs from a directory: none where the recording is complete. */
export const differingFiles = (directory: string, image: Image): ReadonlyArray<string> => {
  const files = storedFiles(directory)
  return [...new Set([...files.keys(), ...image.keys()])].filter((path) => {
    const file = files.get(path)
    const kept = image.get(path)
    return file === undefined || kept === undefined || Buffer.compare(file.bytes, kept) !== 0
  })
}
