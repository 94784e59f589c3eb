import { MAX_BLOCK_SIZE } from "../../consensus/params.ts"
import { HEADER_SIZE } from "../../protocol/header.ts"
import { MAX_SIZE } from "../../protocol/Reader.ts"
import type { SourceFile } from "./importSource.ts"

/** A record of a block file: the offset of its content, and the length in its frame. */
export interface FoundRecord {
  readonly offset: number
  readonly size: number
  /** The first bytes of the content, enough for most headers with their proof. A view, valid until the next step. */
  readonly head: Buffer
}

const WINDOW = 256 * 1024

/** Bytes of a record that the scan reads. Longer headers are read later. */
const HEAD = 16_384

export interface ScanTrouble {
  readonly offset: number
  readonly what: string
}

interface ScanOptions {
  readonly magic: Uint8Array
  readonly from?: number | undefined
  readonly trouble: (found: ScanTrouble) => void
}

/**
 * Finds the records of a block file: magic, LE32 length, content. Skips anything else byte by byte to the next magic,
 * up to the end of the file (reference/protocol.md 8.1).
 */
export function* scanRecords(
  source: SourceFile,
  { from = 0, magic, trouble }: ScanOptions
): Iterable<FoundRecord> {
  let window: Buffer = Buffer.alloc(0)
  let windowStart = 0
  /** Loads `length` bytes from `offset`, as far as the file has them. */
  const view = (offset: number, length: number): Buffer => {
    if (offset < windowStart || offset + length > windowStart + window.length) {
      windowStart = offset
      window = source.read(offset, Math.max(WINDOW, length))
    }
    return window.subarray(offset - windowStart, offset - windowStart + length)
  }
  for (let at = from; at + 8 <= source.size;) {
    const frame = view(at, 8)
    if (!frame.subarray(0, 4).equals(magic)) {
      // Search the rest of the window, whose end may split a magic.
      view(at, 4)
      const found = window.indexOf(magic, at - windowStart)
      at = found >= 0 ? windowStart + found : Math.max(at + 1, windowStart + window.length - 3)
      continue
    }
    const size = frame.readUInt32LE(4)
    const offset = at + 8
    if (size < HEADER_SIZE || size > Math.min(MAX_BLOCK_SIZE, MAX_SIZE)) {
      trouble({ offset: at, what: `a record that claims ${size} bytes` })
      at += 1
    } else if (offset + size > source.size) {
      trouble({ offset: at, what: `a record of ${size} bytes that extends beyond the end of the file` })
      at += 1
    } else {
      yield { offset, size, head: view(offset, Math.min(size, HEAD)) }
      at = offset + size
    }
  }
}
