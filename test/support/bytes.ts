import { assert } from "@effect/vitest"
import { FastCheck } from "effect"
import { type Bytes, fromHex, parseDisplayHash } from "../../src/protocol/bytes.ts"
import { DecodeError } from "../../src/protocol/Reader.ts"

/** Bytes written in hexadecimal, white space between them allowed. */
export const hex = (text: string): Uint8Array =>
  fromHex(text.replace(/\s+/g, "")) ?? assert.fail(`not hexadecimal: ${text}`)

/** A hash in the order in which it is displayed. */
export const hash = (text: string): Uint8Array => parseDisplayHash(text) ?? assert.fail(`not a hash: ${text}`)

/** Arbitrary bytes of a length. */
export const bytesOf = (minLength: number, maxLength = minLength): FastCheck.Arbitrary<Uint8Array> =>
  FastCheck.uint8Array({ minLength, maxLength })

/** What `work` throws, which must be a `DecodeError`. */
export const decodeError = (work: () => unknown): DecodeError => {
  try {
    work()
  } catch (cause) {
    if (cause instanceof DecodeError) return cause
    throw cause
  }
  return assert.fail("nothing was thrown")
}

/** Checks that every proper prefix of `bytes` fails with a `DecodeError`. `step` leaves prefixes of long bytes out. */
export const everyTruncationFails = (bytes: Bytes, decode: (bytes: Bytes) => unknown, step = 1): void => {
  for (let length = 0; length < bytes.length; length += step) decodeError(() => decode(bytes.subarray(0, length)))
}

/** The contents of the records of a block file: magic, LE32 length, content. */
export const recordsOf = (file: Bytes): ReadonlyArray<Uint8Array> => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const records: Array<Uint8Array> = []
  for (let at = 0; at < file.length;) {
    const size = view.getUint32(at + 4, true)
    records.push(file.subarray(at + 8, at + 8 + size))
    at += 8 + size
  }
  return records
}
