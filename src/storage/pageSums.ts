import { readFileSync } from "node:fs"
import { endianness } from "node:os"
import { crc32 } from "node:zlib"
import { replaceFileSteps } from "../base/atomicFile.ts"
import { type DiskSteps, doNow } from "../base/diskSteps.ts"
import { codeOf } from "../base/errorCode.ts"

/**
 * `<file>.sums`: 32 bytes of header, then one CRC-32 per page, little endian. With a checksum for each page, a missing
 * row is as certain as a row.
 *
 * | offset | bytes | |
 * |---|---|---|
 * | 0 | 8 | `svcdsums` |
 * | 8 | 4 | version, 1 |
 * | 12 | 4 | bytes of a page |
 * | 16 | 4 | number of pages |
 * | 20 | 4 | CRC-32 of the bytes before and of the checksums |
 * | 24 | 8 | zero |
 */
export interface PageSums {
  readonly pageSize: number
  /** From page 0. `ANY` accepts any content. */
  readonly sums: Uint32Array
}

const MAGIC = Buffer.from("svcdsums", "latin1")
const VERSION = 1
const HEADER_BYTES = 32
const CHECKED_HEADER = 20

/** For a page that SQLite counts but never wrote. It writes such a page before it reads it. */
export const ANY = 0

export const sumsFile = (file: string): string => `${file}.sums`

export const sumOf = (page: Uint8Array): number => crc32(page) || 1

const bytesOf = ({ pageSize, sums }: PageSums): Buffer => {
  const bytes = Buffer.alloc(HEADER_BYTES + 4 * sums.length)
  MAGIC.copy(bytes)
  bytes.writeUInt32LE(VERSION, 8)
  bytes.writeUInt32LE(pageSize, 12)
  bytes.writeUInt32LE(sums.length, 16)
  // A loop over the checksums of a large database takes several milliseconds.
  const ours = Buffer.from(sums.buffer, sums.byteOffset, sums.byteLength)
  ours.copy(bytes, HEADER_BYTES)
  if (endianness() === "BE") bytes.subarray(HEADER_BYTES).swap32()
  bytes.writeUInt32LE(crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(0, CHECKED_HEADER))), 20)
  return bytes
}

/** `undefined` for bytes that are not checksums or do not match their checksum. */
export const decodeSums = (bytes: Buffer): PageSums | undefined => {
  if (bytes.length < HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return undefined
  const [version, pageSize, count, sum] = [8, 12, 16, 20].map((offset) => bytes.readUInt32LE(offset))
  if (version !== VERSION || pageSize === undefined || count === undefined) return undefined
  if (pageSize < 512 || bytes.length !== HEADER_BYTES + 4 * count) return undefined
  if (bytes.readBigUInt64LE(24) !== 0n) return undefined
  if (sum !== crc32(bytes.subarray(HEADER_BYTES), crc32(bytes.subarray(0, CHECKED_HEADER)))) return undefined
  return { pageSize, sums: Uint32Array.from({ length: count }, (_, i) => bytes.readUInt32LE(HEADER_BYTES + 4 * i)) }
}

/** `unreadable` means that the content is invalid. */
export const readSums = (file: string): PageSums | "missing" | "unreadable" => {
  try {
    return decodeSums(readFileSync(sumsFile(file))) ?? "unreadable"
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return "missing"
    throw cause
  }
}

/** Durable at the end. */
export const writeSumsSteps = (file: string, sums: PageSums): DiskSteps =>
  replaceFileSteps(sumsFile(file), bytesOf(sums))

export const writeSums = (file: string, sums: PageSums): void => doNow(writeSumsSteps(file, sums))
