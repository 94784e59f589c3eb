import {
  closeSync,
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  readdirSync,
  readSync,
  rmSync,
  statSync
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { createGunzip } from "node:zlib"
import { openGiven, readGivenNow } from "../../base/givenFile.ts"
import { storageFailure } from "../../storage/Database.ts"

// Import files: plain, gzipped, or the block folder of a reference node with its XOR key (reference/protocol.md 8.1).

export interface SourceFile {
  /** The path for messages. */
  readonly path: string
  readonly size: number
  /** Reads up to `length` bytes from `offset`, unmasked. */
  readonly read: (offset: number, length: number) => Buffer
  readonly close: () => void
}

const XOR_KEY_SIZE = 8

/** The longest file to read in search of a key. */
const MAX_KEY_FILE = 4_096

/** The XOR key of a reference node's block folder, if masked. Throws if the key file is invalid. */
const readKey = (directory: string): Buffer | undefined => {
  const path = join(directory, "xor.dat")
  if (!existsSync(path)) return undefined
  const key = readGivenNow(path, MAX_KEY_FILE)
  if (key.length !== XOR_KEY_SIZE) throw new Error(`xor.dat has ${key.length} bytes instead of ${XOR_KEY_SIZE}`)
  return key.every((byte) => byte === 0) ? undefined : key
}

const unmask = (bytes: Buffer, key: Buffer, offset: number): void => {
  const [low, high] = [key.readUInt32LE(0), key.readUInt32LE(4)]
  let at = 0
  // Single bytes up to a word boundary of the key, then whole words.
  for (; at < bytes.length && (offset + at) % 8 !== 0; at++) {
    bytes[at] = (bytes[at] ?? 0) ^ (key[(offset + at) % 8] ?? 0)
  }
  for (; at + 8 <= bytes.length; at += 8) {
    bytes.writeUInt32LE((bytes.readUInt32LE(at) ^ low) >>> 0, at)
    bytes.writeUInt32LE((bytes.readUInt32LE(at + 4) ^ high) >>> 0, at + 4)
  }
  for (; at < bytes.length; at++) bytes[at] = (bytes[at] ?? 0) ^ (key[(offset + at) % 8] ?? 0)
}

/** Opens a plain file. `shown` is another path for messages. */
export const openSource = (path: string, key?: Buffer, shown = path): SourceFile => {
  const descriptor = openGiven(path)
  const { size } = fstatSync(descriptor)
  return {
    path: shown,
    size,
    read: (offset, length) => {
      const buffer = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, size - offset)))
      let done = 0
      while (done < buffer.length) {
        const got = readSync(descriptor, buffer, done, buffer.length - done, offset + done)
        if (got === 0) break
        done += got
      }
      const bytes = buffer.subarray(0, done)
      if (key !== undefined) unmask(bytes, key, offset)
      return bytes
    },
    close: () => closeSync(descriptor)
  }
}

const BLOCK_FILE = /^blk\d{5,}\.dat$/

const blockFolder = (path: string): string => {
  const inside = join(path, "blocks")
  return existsSync(inside) && statSync(inside).isDirectory() ? inside : path
}

const isGzip = (path: string): boolean => {
  const source = openSource(path)
  try {
    const head = source.read(0, 2)
    return head[0] === 0x1f && head[1] === 0x8b
  } finally {
    source.close()
  }
}

/** Expands an import path to plain files with their key, or one packed file. Throws the errors of the file system. */
export const expandSource = (
  path: string
): { readonly files: ReadonlyArray<string>; readonly key: Buffer | undefined; readonly packed: boolean } => {
  if (statSync(path).isDirectory()) {
    const folder = blockFolder(path)
    const files = readdirSync(folder).filter((name) => BLOCK_FILE.test(name)).sort().map((name) => join(folder, name))
    if (files.length === 0) throw new Error("the folder has no blkNNNNN.dat")
    return { files, key: readKey(folder), packed: false }
  }
  if (isGzip(path)) return { files: [path], key: undefined, packed: true }
  return { files: [path], key: BLOCK_FILE.test(basename(path)) ? readKey(dirname(path)) : undefined, packed: false }
}

/**
 * Unpacks a gzipped file to a temporary file, which the caller removes even on failure. Rejects with
 * `StorageUnavailable` if it cannot be written, otherwise with the error of the packed file.
 */
export const unpack = async (
  { path, to }: { readonly path: string; readonly to: string },
  signal?: AbortSignal
): Promise<void> => {
  const streams = [createReadStream(path), createGunzip(), createWriteStream(to, { mode: 0o600 })] as const
  try {
    await pipeline(...streams, signal === undefined ? {} : { signal })
  } catch (cause) {
    const isTarget = cause instanceof Error &&
      (("syscall" in cause && cause.syscall === "write") || ("path" in cause && cause.path === to))
    throw isTarget ? storageFailure({ file: to, doing: "writing", remedy: "" })(cause) : cause
  }
}

export const removeFile = (path: string): void => rmSync(path, { force: true })

export const unpackedPath = (directory: string, number: number, path: string): string =>
  join(directory, `unpacked-${number}-${basename(path)}.dat`)

const UNPACKED = /^unpacked-\d+-.*\.dat$/

/** Removes unpacked files that a killed process left behind. */
export const removeUnpacked = (directory: string): void => {
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory)) if (UNPACKED.test(name)) removeFile(join(directory, name))
}
