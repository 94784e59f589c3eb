import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { doAside } from "./disk.ts"
import { reasonOf } from "./errorCode.ts"

/**
 * Files that a caller names. A FIFO waits for a writer, and a device may be endless: either would stop the event loop.
 * So these functions open without waiting, and only regular files. Their errors have a code, like the system's.
 */

/** Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

interface FileKind {
  readonly isFile: () => boolean
  readonly isDirectory: () => boolean
}

type RefusalCode = "EISDIR" | "ENOTFILE" | "ETOOLARGE"

const refusal = (code: RefusalCode, path: string): Error =>
  Object.assign(new Error(`${code}: ${reasonOf(code)}, open '${path}'`), { code })

const checkKind = (kind: FileKind, path: string): void => {
  if (kind.isDirectory()) throw refusal("EISDIR", path)
  if (!kind.isFile()) throw refusal("ENOTFILE", path)
}

/** The caller closes the descriptor, and reads in pieces. */
export const openGiven = (path: string): number => {
  const descriptor = openSync(path, FLAGS)
  try {
    checkKind(fstatSync(descriptor), path)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

const PIECE = 1_048_576

export const readGivenNow = (path: string, most: number): Buffer => {
  const descriptor = openGiven(path)
  try {
    const { size } = fstatSync(descriptor)
    if (size > most) throw refusal("ETOOLARGE", path)
    // Generated files have the size 0, and a file may grow meanwhile.
    let room = Buffer.allocUnsafe(Math.min(most, size) + 1)
    let length = 0
    for (let read = -1; read !== 0 && length <= most; length += read) {
      if (length === room.length) room = Buffer.concat([room], Math.min(most + 1, length + PIECE))
      read = readSync(descriptor, room, length, room.length - length, null)
    }
    if (length > most) throw refusal("ETOOLARGE", path)
    return room.subarray(0, length)
  } finally {
    closeSync(descriptor)
  }
}

/** Reads to the end, or one byte beyond `most`: generated files, as in /proc, have the size 0. */
const readPieces = async (file: FileHandle, most: number): Promise<Buffer> => {
  const pieces: Array<Buffer> = []
  let length = 0
  while (length <= most) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(PIECE), 0, Math.min(PIECE, most + 1 - length))
    if (bytesRead === 0) break
    pieces.push(buffer.subarray(0, bytesRead))
    length += bytesRead
  }
  return Buffer.concat(pieces)
}

const readLater = async (path: string, most: number): Promise<Buffer> => {
  const file = await open(path, FLAGS)
  try {
    const kind = await file.stat()
    checkKind(kind, path)
    if (kind.size > most) throw refusal("ETOOLARGE", path)
    const read = await readPieces(file, most)
    if (read.length > most) throw refusal("ETOOLARGE", path)
    return read
  } finally {
    await file.close()
  }
}

export const readGiven = (path: string, most: number): Promise<Buffer> =>
  doAside({
    name: "readFile",
    on: path,
    now: () => readGivenNow(path, most),
    later: () => readLater(path, most)
  })
