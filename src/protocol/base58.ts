import { base58 } from "@scure/base"
import { binaryString, type Bytes, concat, equal } from "./bytes.ts"
import { hash256 } from "./hash.ts"

// Base58 and Base58Check, for legacy addresses, private keys and extended keys. Both directions take quadratic time, so
// decoding limits the length of its input.

const CHECKSUM_BYTES = 4

/** Longest decoded text with white space. Extended keys, the longest in use, have 112 characters. */
export const MAX_BASE58_LENGTH = 1000

/** The fewest bytes per digit after the first: slightly below log(58) / log(256). */
const BYTES_PER_DIGIT = 0.732

const ALPHABET = Uint8Array.from(
  "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  (digit) => digit.charCodeAt(0)
)

/** Numbers are in limbs of three bytes and divided by the fourth power of 58, so all values are exact in a double. */
const LIMB = 2 ** 24
const DIGITS_AT_ONCE = 4
const DIVISOR = 58 ** DIGITS_AT_ONCE

const MAX_ENCODED_BYTES = 2048

/** The ones for zero bytes, and the other digits. */
const FORM = /^(1*)((?:[2-9A-HJ-NP-Za-km-z][1-9A-HJ-NP-Za-km-z]*)?)$/

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/** In one pass; a pattern would take quadratic time. */
const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** Reused, as making them takes longer than an address. A byte has less than 1.4 digits. */
const limbs = new Int32Array(Math.ceil(MAX_ENCODED_BYTES / 3))
const digits = new Uint8Array(Math.ceil(MAX_ENCODED_BYTES * 1.4) + DIGITS_AT_ONCE)

/** Big-endian bytes, first limb first. Returns the count. */
const writeLimbs = (bytes: Bytes): number => {
  const count = Math.ceil(bytes.length / 3)
  for (let at = count - 1, end = bytes.length; at >= 0; at--, end -= 3) {
    limbs[at] = ((bytes[end - 3] ?? 0) << 16) | ((bytes[end - 2] ?? 0) << 8) | (bytes[end - 1] ?? 0)
  }
  return count
}

/** A `1` for each leading zero byte, then the rest as a big-endian number. Throws for more than 2048 bytes. */
export const encodeBase58 = (bytes: Bytes): string => {
  if (bytes.length > MAX_ENCODED_BYTES) throw new RangeError(`Base58 of ${bytes.length} bytes`)
  let zeros = 0
  while (bytes[zeros] === 0) zeros++
  const count = writeLimbs(bytes)
  let start = digits.length
  for (let first = 0; first < count;) {
    let rest = 0
    for (let i = first; i < count; i++) {
      const part = rest * LIMB + (limbs[i] ?? 0)
      // Less than a limb, so a bit operation truncates it.
      const quotient = (part / DIVISOR) | 0
      limbs[i] = quotient
      rest = part - quotient * DIVISOR
    }
    while (first < count && limbs[first] === 0) first++
    for (let i = 0; i < DIGITS_AT_ONCE; i++) {
      const quotient = (rest / 58) | 0
      digits[--start] = ALPHABET[rest - 58 * quotient] ?? 0
      rest = quotient
    }
  }
  const [one = 0] = ALPHABET
  // The first digits are padded with zeros that the number does not have.
  while (digits[start] === one) start++
  for (let i = 0; i < zeros; i++) digits[--start] = one
  return binaryString(digits.subarray(start))
}

/**
 * `undefined` for a wrong character, or beyond `maxBytes` or `MAX_BASE58_LENGTH`. Ignores white space around the
 * digits, as namecoin-core `base58.cpp`, `DecodeBase58`.
 */
export const decodeBase58 = (text: string, maxBytes: number = MAX_BASE58_LENGTH): Uint8Array | undefined => {
  if (text.length > MAX_BASE58_LENGTH) return undefined
  const [form, ones = "", digits = ""] = FORM.exec(trimmed(text)) ?? []
  // Refuses a text that must be too long before the slow decoding.
  if (form === undefined || ones.length + Math.floor((digits.length - 1) * BYTES_PER_DIGIT) + 1 > maxBytes) {
    return undefined
  }
  const bytes = base58.decode(ones + digits)
  return bytes.length > maxBytes ? undefined : bytes
}

const checksumOf = (payload: Bytes): Uint8Array => hash256(payload).subarray(0, CHECKSUM_BYTES)

/** With the first four bytes of the double SHA-256. */
export const encodeBase58Check = (payload: Bytes): string => encodeBase58(concat(payload, checksumOf(payload)))

/** Returns the payload, at most `maxBytes` long; `undefined` if `decodeBase58` refuses it or its checksum is wrong. */
export const decodeBase58Check = (text: string, maxBytes: number = MAX_BASE58_LENGTH): Uint8Array | undefined => {
  const bytes = decodeBase58(text, maxBytes + CHECKSUM_BYTES)
  if (bytes === undefined || bytes.length < CHECKSUM_BYTES) return undefined
  const payload = bytes.slice(0, -CHECKSUM_BYTES)
  return equal(bytes.subarray(-CHECKSUM_BYTES), checksumOf(payload)) ? payload : undefined
}
