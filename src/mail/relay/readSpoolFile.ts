import { open } from "node:fs/promises"
import { crc32 } from "node:zlib"
import type { Envelope } from "./envelope.ts"
import { decodeEnvelope, decodePrologue, type Prologue, PROLOGUE_LENGTH } from "./spoolFile.ts"

/** Bytes that are read at a time to check a file. */
const PIECE = 1_048_576

/** An envelope with the most recipients and the longest addresses is smaller. */
const LONGEST_ENVELOPE = 16 * 1_048_576

/** Reads a spool file's envelope and checks the whole file; `undefined` for an incomplete or damaged file. */
export const readSpoolFile = async (
  path: string
): Promise<{ readonly envelope: Envelope; readonly bodyLength: number } | undefined> => {
  const file = await open(path, "r")
  try {
    const { buffer } = await file.read(Buffer.alloc(PROLOGUE_LENGTH), 0, PROLOGUE_LENGTH, 0)
    const prologue = decodePrologue(buffer)
    if (prologue === undefined || prologue.envelopeLength > LONGEST_ENVELOPE) return undefined
    if ((await file.stat()).size !== sizeOf(prologue)) return undefined
    let crc = 0
    const piece = Buffer.alloc(Math.min(PIECE, prologue.bodyLength))
    for (let at = 0; at < prologue.bodyLength;) {
      const length = Math.min(piece.length, prologue.bodyLength - at)
      const { bytesRead } = await file.read(piece, 0, length, PROLOGUE_LENGTH + at)
      if (bytesRead === 0) return undefined
      crc = crc32(piece.subarray(0, bytesRead), crc)
      at += bytesRead
    }
    const json = Buffer.alloc(prologue.envelopeLength)
    await file.read(json, 0, json.length, PROLOGUE_LENGTH + prologue.bodyLength)
    const envelope = crc32(json, crc) === prologue.crc ? decodeEnvelope(json) : undefined
    return envelope === undefined ? undefined : { envelope, bodyLength: prologue.bodyLength }
  } finally {
    await file.close()
  }
}

const sizeOf = ({ bodyLength, envelopeLength }: Prologue): number => PROLOGUE_LENGTH + bodyLength + envelopeLength
