import { closeSync, openSync, readSync, statSync } from "node:fs"
import { endianness } from "node:os"
import { codeOf } from "../base/errorCode.ts"
import { runSteps, type Steps } from "../protocol/steps.ts"
import { sumOf } from "./pageSums.ts"

/** SQLite's write-ahead log. Source: sqlite.org/fileformat2.html, "The Write-Ahead Log". */
export interface WalContent {
  readonly pageSize: number
  /** Up to the last complete commit. */
  readonly frames: number
  readonly pageCount: number
  /** Sums of pages (from 1) after the last commit. */
  readonly pages: ReadonlyMap<number, number>
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** If its lowest bit is set, sums are over big endian words. */
const MAGIC = 0x377f0682
const FORMAT = 3_007_000

const CHUNK = 1024 * 1024

const HOST_IS_BIG = endianness() === "BE"

const NOTHING: WalContent = { pageSize: 0, frames: 0, pageCount: 0, pages: new Map() }

export const walFile = (file: string): string => `${file}-wal`

/** Over pairs of words. `from` and `to` count words. */
class RunningSum {
  a = 0
  b = 0

  add(words: Uint32Array, from: number, to: number): void {
    let { a, b } = this
    for (let i = from; i < to; i += 2) {
      a = (a + (words[i] ?? 0) + b) | 0
      b = (b + (words[i + 1] ?? 0) + a) | 0
    }
    this.a = a
    this.b = b
  }

  equals(bytes: Buffer, offset: number): boolean {
    return bytes.readUInt32BE(offset) === this.a >>> 0 && bytes.readUInt32BE(offset + 4) === this.b >>> 0
  }
}

/** Reads until `bytes` is full or the file ends. Returns the bytes read. */
export const readFully = (descriptor: number, bytes: Buffer, position: number): number => {
  let got = 0
  while (got < bytes.length) {
    const more = readSync(descriptor, bytes, got, bytes.length - got, position + got)
    if (more === 0) break
    got += more
  }
  return got
}

/** Its words can be viewed as a `Uint32Array`. */
const aligned = (size: number): Buffer => Buffer.from(new ArrayBuffer(size))

const wordsOf = (bytes: Buffer, swapped: boolean): Uint32Array => {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2)
  if (!swapped) return words
  const copy = Buffer.from(bytes.subarray(0, 4 * words.length)).swap32()
  return new Uint32Array(Uint8Array.from(copy).buffer)
}

/** Pauses after each chunk. Reads at most `most` frames. */
function* read(descriptor: number, { most }: { readonly most: number }): Steps<WalContent> {
  const header = aligned(HEADER_BYTES)
  if (readFully(descriptor, header, 0) < HEADER_BYTES) return NOTHING
  const magic = header.readUInt32BE(0)
  if ((magic & ~1) !== MAGIC || header.readUInt32BE(4) !== FORMAT) return NOTHING
  const pageSize = header.readUInt32BE(8)
  if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0) return NOTHING
  const swapped = ((magic & 1) === 1) !== HOST_IS_BIG
  const sum = new RunningSum()
  sum.add(wordsOf(header, swapped), 0, 6)
  if (!sum.equals(header, 24)) return NOTHING

  const frameBytes = FRAME_HEADER_BYTES + pageSize
  const perChunk = Math.max(1, Math.floor(CHUNK / frameBytes))
  const chunk = aligned(perChunk * frameBytes)
  const pages = new Map<number, number>()
  let pending = new Map<number, number>()
  let [seen, frames, pageCount] = [0, 0, 0]
  for (;;) {
    const whole = Math.floor(readFully(descriptor, chunk, HEADER_BYTES + seen * frameBytes) / frameBytes)
    const words = wordsOf(chunk, swapped)
    for (let i = 0; i < whole; i++) {
      if (seen === most) return { pageSize, frames, pageCount, pages }
      const at = i * frameBytes
      const page = chunk.readUInt32BE(at)
      // The salts distinguish this log's frames from an earlier one's.
      const ours = page > 0 && chunk.compare(header, 16, 24, at + 8, at + 16) === 0
      if (!ours) return { pageSize, frames, pageCount, pages }
      sum.add(words, at / 4, at / 4 + 2)
      sum.add(words, (at + FRAME_HEADER_BYTES) / 4, (at + frameBytes) / 4)
      if (!sum.equals(chunk, at + 16)) return { pageSize, frames, pageCount, pages }
      pending.set(page, sumOf(chunk.subarray(at + FRAME_HEADER_BYTES, at + frameBytes)))
      seen++
      const committed = chunk.readUInt32BE(at + 4)
      if (committed === 0) continue
      for (const [number, its] of pending) pages.set(number, its)
      pending = new Map()
      frames = seen
      pageCount = committed
    }
    if (whole < perChunk) return { pageSize, frames, pageCount, pages }
    yield
  }
}

/** Reads up to the last complete commit, as SQLite does on open, or to a commit at frame `most`. */
export function* readWalSteps(file: string, most = Infinity): Steps<WalContent> {
  let descriptor
  try {
    descriptor = openSync(walFile(file), "r")
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return NOTHING
    throw cause
  }
  try {
    return yield* read(descriptor, { most })
  } finally {
    closeSync(descriptor)
  }
}

export const readWal = (file: string): WalContent => runSteps(readWalSteps(file))

export const walSize = (file: string): number => statSync(walFile(file), { throwIfNoEntry: false })?.size ?? 0
