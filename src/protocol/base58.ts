import { type Bytes, concat } from "./bytes.ts"
import { hash256 } from "./hash.ts"

/**
 * Base58 and Base58Check, the text of legacy addresses, private keys and extended keys. Encoding and decoding take
 * quadratic time: they are for short data, and decoding limits the length of its input.
 */

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

/** The value of each character by its code; -1 for characters that are not digits. */
const VALUES = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)))

const CHECKSUM_BYTES = 4

/** Longest decoded text, white space included. An extended key, the longest in use, has 112 characters. */
export const MAX_BASE58_LENGTH = 1000

/** Returns bytes as Base58 text: a `1` for each leading zero byte, then the other bytes as one big-endian number. */
export const encodeBase58 = (bytes: Bytes): string => {
  let zeros = 0
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++
  // log(256) / log(58) is a little less than 1.38.
  const digits = new Uint8Array(Math.floor((bytes.length - zeros) * 1.38) + 1)
  let length = 0
  for (let i = zeros; i < bytes.length; i++) {
    let carry = bytes[i] ?? 0
    let j = 0
    for (; j < length || carry !== 0; j++) {
      carry += (digits[j] ?? 0) << 8
      digits[j] = carry % 58
      carry = (carry / 58) | 0
    }
    length = j
  }
  let text = "1".repeat(zeros)
  for (let j = length - 1; j >= 0; j--) text += ALPHABET[digits[j] ?? 0]
  return text
}

/** Space, tab, line feed, vertical tab, form feed, carriage return. */
const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d)

/**
 * Returns the bytes of a Base58 text. `undefined` for a character outside the alphabet, for more than `maxBytes` bytes,
 * and for a text longer than `MAX_BASE58_LENGTH`. White space before and after the digits is ignored, as in the
 * reference node (namecoin-core `base58.cpp`, `DecodeBase58`).
 */
export const decodeBase58 = (text: string, maxBytes: number = MAX_BASE58_LENGTH): Uint8Array | undefined => {
  if (text.length > MAX_BASE58_LENGTH) return undefined
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  let zeros = 0
  while (start + zeros < end && text[start + zeros] === "1") zeros++
  if (zeros > maxBytes) return undefined
  const number = new Uint8Array(end - start - zeros)
  let length = 0
  for (let i = start + zeros; i < end; i++) {
    let carry = VALUES[text.charCodeAt(i)] ?? -1
    if (carry === -1) return undefined
    let j = 0
    for (; j < length || carry !== 0; j++) {
      carry += (number[j] ?? 0) * 58
      number[j] = carry & 0xff
      carry >>= 8
    }
    length = j
    if (zeros + length > maxBytes) return undefined
  }
  const bytes = new Uint8Array(zeros + length)
  for (let j = 0; j < length; j++) bytes[bytes.length - 1 - j] = number[j] ?? 0
  return bytes
}

/** Returns the Base58 text of a payload and the first four bytes of its double SHA-256. */
export const encodeBase58Check = (payload: Bytes): string =>
  encodeBase58(concat(payload, hash256(payload).subarray(0, CHECKSUM_BYTES)))

/**
 * Returns the payload of a Base58Check text, at most `maxBytes` long. `undefined` if `decodeBase58` refuses the text,
 * if the text is too short for a checksum, and on a checksum mismatch.
 */
export const decodeBase58Check = (text: string, maxBytes: number = MAX_BASE58_LENGTH): Uint8Array | undefined => {
  const bytes = decodeBase58(text, maxBytes + CHECKSUM_BYTES)
  if (bytes === undefined || bytes.length < CHECKSUM_BYTES) return undefined
  const payload = bytes.slice(0, -CHECKSUM_BYTES)
  const checksum = hash256(payload)
  for (let i = 0; i < CHECKSUM_BYTES; i++) if (bytes[payload.length + i] !== checksum[i]) return undefined
  return payload
}
