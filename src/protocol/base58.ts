import { base58 } from "@scure/base"
import { type Bytes, concat, equal } from "./bytes.ts"
import { hash256 } from "./hash.ts"

/**
 * Base58 and Base58Check, the text of legacy addresses, private keys and extended keys. Encoding and decoding take
 * quadratic time: they are for short data, and decoding limits the length of its input.
 */

const CHECKSUM_BYTES = 4

/** Longest decoded text, white space included. An extended key, the longest in use, has 112 characters. */
export const MAX_BASE58_LENGTH = 1000

/** The fewest bytes per digit after the first: log(58) / log(256) is a little more. */
const BYTES_PER_DIGIT = 0.732

/** The ones that stand for zero bytes, and the other digits. */
const FORM = /^(1*)((?:[2-9A-HJ-NP-Za-km-z][1-9A-HJ-NP-Za-km-z]*)?)$/

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/** The text without the white space around it, in one pass: a pattern would take quadratic time. */
const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/**
 * Returns bytes as Base58 text: a `1` for each leading zero byte, then the other bytes as one big-endian number. Throws
 * for more than 2048 bytes, which is a mistake of the caller.
 */
export const encodeBase58 = (bytes: Bytes): string => base58.encode(bytes)

/**
 * Returns the bytes of a Base58 text. `undefined` for a character outside the alphabet, for more than `maxBytes` bytes,
 * and for a text longer than `MAX_BASE58_LENGTH`. White space before and after the digits is ignored, as in the
 * reference node (namecoin-core `base58.cpp`, `DecodeBase58`).
 */
export const decodeBase58 = (text: string, maxBytes: number = MAX_BASE58_LENGTH): Uint8Array | undefined => {
  if (text.length > MAX_BASE58_LENGTH) return undefined
  const [form, ones = "", digits = ""] = FORM.exec(trimmed(text)) ?? []
  // A text that must be too long is refused before the slow decoding.
  if (form === undefined || ones.length + Math.floor((digits.length - 1) * BYTES_PER_DIGIT) + 1 > maxBytes) {
    return undefined
  }
  const bytes = base58.decode(ones + digits)
  return bytes.length > maxBytes ? undefined : bytes
}

const checksumOf = (payload: Bytes): Uint8Array => hash256(payload).subarray(0, CHECKSUM_BYTES)

/** Returns the Base58 text of a payload and the first four bytes of its double SHA-256. */
export const encodeBase58Check = (payload: Bytes): string => encodeBase58(concat(payload, checksumOf(payload)))

/**
 * Returns the payload of a Base58Check text, at most `maxBytes` long. `undefined` if `decodeBase58` refuses the text,
 * if the text is too short for a checksum, and on a checksum mismatch.
 */
export const decodeBase58Check = (text: string, maxBytes: number = MAX_BASE58_LENGTH): Uint8Array | undefined => {
  const bytes = decodeBase58(text, maxBytes + CHECKSUM_BYTES)
  if (bytes === undefined || bytes.length < CHECKSUM_BYTES) return undefined
  const payload = bytes.slice(0, -CHECKSUM_BYTES)
  return equal(bytes.subarray(-CHECKSUM_BYTES), checksumOf(payload)) ? payload : undefined
}
