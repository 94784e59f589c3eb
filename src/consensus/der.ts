import type { Bytes } from "../protocol/bytes.ts"

// ECDSA signatures in DER. Parsing is strict as in BIP 66, and lax for signatures in older blocks. Numbers have 32
// big-endian bytes. A parsed signature is r and s, 64 bytes.

const INTEGER = 0x02
const SEQUENCE = 0x30

/** The order of the curve. */
const ORDER = Uint8Array.of(
  ...[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
  ...[0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41]
)

const ORDER_LESS_1 = Uint8Array.from(ORDER, (byte, i) => i === 31 ? byte - 1 : byte)

/** Half of the order, rounded down: the largest low s. */
const HALF_ORDER = Uint8Array.of(
  ...[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  ...[0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0]
)

const isAbove = (number: Bytes, offset: number, limit: Bytes): boolean => {
  for (let i = 0; i < 32; i++) {
    const difference = (number[offset + i] ?? 0) - (limit[i] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}

/** Whether r or s at `offset` is between 1 and the order minus 1. */
export const isScalar = (number: Bytes, offset: number): boolean => {
  if (isAbove(number, offset, ORDER_LESS_1)) return false
  for (let i = offset; i < offset + 32; i++) if (number[i] !== 0) return true
  return false
}

/** Replaces a high s with the low one, which is valid for the same message and key. */
export const normalizeS = (signature: Uint8Array): void => {
  if (!isAbove(signature, 32, HALF_ORDER)) return
  let borrow = 0
  for (let i = 31; i >= 0; i--) {
    const digit = (ORDER[i] ?? 0) - (signature[32 + i] ?? 0) - borrow
    borrow = digit < 0 ? 1 : 0
    signature[32 + i] = digit
  }
}

/** A cursor over a laxly encoded signature. Each step returns whether it found the expected element. */
class LaxCursor {
  readonly input: Bytes
  private at = 0

  constructor(input: Bytes) {
    this.input = input
  }

  /** Ignores the length of the sequence. */
  sequence(): boolean {
    if (this.input[this.at++] !== SEQUENCE) return false
    const length = this.input[this.at++]
    if (length === undefined) return false
    if (length >= 0x80) this.at += length - 0x80
    return this.at <= this.input.length
  }

  /**
   * Reads an unsigned integer with any padding into 32 bytes of `output`. A longer integer becomes the largest number,
   * which is not a scalar.
   */
  integer(output: Uint8Array, offset: number): boolean {
    const { input } = this
    if (input[this.at++] !== INTEGER) return false
    const length = this.length()
    let begin = this.at
    if (length < 0 || length > input.length - begin) return false
    const end = begin + length
    this.at = end
    while (begin < end && input[begin] === 0) begin++
    const padding = 32 - (end - begin)
    if (padding < 0) output.fill(0xff, offset, offset + 32)
    else {
      output.fill(0, offset, offset + padding)
      for (let to = offset + padding; begin < end; begin++) output[to++] = input[begin] ?? 0
    }
    return true
  }

  /** A length in short or long form; -1 if it is truncated or needs more than three bytes. */
  private length(): number {
    const { input } = this
    const first = input[this.at++]
    if (first === undefined || first < 0x80) return first ?? -1
    let width = first - 0x80
    if (width > input.length - this.at) return -1
    while (width > 0 && input[this.at] === 0) {
      this.at++
      width--
    }
    if (width > 3) return -1
    let length = 0
    for (; width > 0; width--) length = length * 256 + (input[this.at++] ?? 0)
    return length
  }
}

/**
 * Reads a signature without its hash type into 64 bytes, and returns whether it is readable. Accepts any padding,
 * negative numbers (read as positive), long-form lengths and trailing bytes. Ignores the length of the sequence.
 * Source: upstream `pubkey.cpp`, `ecdsa_signature_parse_der_lax`.
 */
export const parseDerLax = (input: Bytes, output: Uint8Array): boolean => {
  const cursor = new LaxCursor(input)
  return cursor.sequence() && cursor.integer(output, 0) && cursor.integer(output, 32)
}

/** Whether the integer of `size` bytes at `at` is positive and in its shortest form. positional: runs per signature. */
const isStrictInteger = (signature: Bytes, at: number, size: number): boolean => {
  const first = signature[at] ?? 0
  if (size === 0 || first >= 0x80) return false
  return size === 1 || first !== 0 || (signature[at + 1] ?? 0) >= 0x80
}

/** Checks a signature together with its hash type (BIP 66). */
export const isStrictDer = (signature: Bytes): boolean => {
  const size = signature.length
  if (size < 9 || size > 73) return false
  if (signature[0] !== SEQUENCE || signature[1] !== size - 3) return false
  const sizeR = signature[3] ?? 0
  if (5 + sizeR >= size) return false
  const sizeS = signature[5 + sizeR] ?? 0
  if (sizeR + sizeS + 7 !== size) return false
  return signature[2] === INTEGER && isStrictInteger(signature, 4, sizeR) &&
    signature[4 + sizeR] === INTEGER && isStrictInteger(signature, 6 + sizeR, sizeS)
}

/**
 * Takes a strictly encoded signature with its hash type. A number that is not a scalar passes, because upstream reads
 * it as zero (`pubkey.cpp`, `CPubKey::CheckLowS`).
 */
export const isLowS = (signature: Bytes): boolean => {
  const numbers = new Uint8Array(64)
  if (!parseDerLax(signature.subarray(0, signature.length - 1), numbers)) return false
  if (isAbove(numbers, 0, ORDER_LESS_1) || isAbove(numbers, 32, ORDER_LESS_1)) return true
  return !isAbove(numbers, 32, HALF_ORDER)
}
