import { type Bech32Variant, CHECKSUM_LENGTH, MAX_BECH32_LENGTH } from "./bech32.ts"
import type { Bytes } from "./bytes.ts"

// Locates up to two wrong characters in the data part of invalid bech32. It deliberately does not return the right
// characters: the user should look up the address. Computes the checksum itself because the search needs the remainder,
// which @scure/base does not give.

/** The reference node's words, and the probably wrong positions in bytes of UTF-8. */
export interface Bech32Error {
  readonly error: string
  readonly locations: ReadonlyArray<number>
}

/** Positions in an overlong text are listed up to here. */
const MAX_EXAMINED_LENGTH = 1000

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

/** The value of each character by its code, in either case; -1 for others. */
const VALUES = Int8Array.from(
  { length: 128 },
  (_, code) => ALPHABET.indexOf(String.fromCharCode(code).toLowerCase())
)

/** The remainder of a valid text (BIP 173, BIP 350). */
const CHECKSUM_CONSTANTS: Readonly<Record<Bech32Variant, number>> = { bech32: 1, bech32m: 0x2bc830a3 }

const GENERATOR = Int32Array.of(0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3)

/**
 * Multiplies by x, adds a 5-bit value, and reduces by the 30-bit generator. positional: runs thousands of times per
 * address
 */
const remainderStep = (remainder: number, value: number): number => {
  const top = remainder >>> 25
  let next = ((remainder & 0x1ffffff) << 5) ^ value
  for (let bit = 0; bit < 5; bit++) if (((top >>> bit) & 1) === 1) next ^= GENERATOR[bit] ?? 0
  return next
}

/** The remainder of a text: the high and the low bits of the prefix, then the data values. */
const remainder = (hrp: string, values: Bytes): number => {
  let result = 1
  for (let i = 0; i < hrp.length; i++) result = remainderStep(result, hrp.charCodeAt(i) >>> 5)
  result = remainderStep(result, 0)
  for (let i = 0; i < hrp.length; i++) result = remainderStep(result, hrp.charCodeAt(i) & 31)
  for (const value of values) result = remainderStep(result, value)
  return result
}

const dataValue = (code: number): number => VALUES[code] ?? -1

const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** Positions of unprintable characters, and of letters in another case than the first letter. */
const invalidCharacters = (codes: Bytes): ReadonlyArray<number> => {
  const positions: Array<number> = []
  const first = codes.find((code) => isUpper(code) || isLower(code))
  const isWrongCase = first !== undefined && isUpper(first) ? isLower : isUpper
  codes.forEach((code, position) => {
    if (code < 33 || code > 126 || isWrongCase(code)) positions.push(position)
  })
  return positions
}

/**
 * Finds the one or two wrong values that explain a remainder off by `syndrome`, as distances from the end; none if more
 * are wrong. The remainder is linear, so a wrong value at a distance adds the same difference to every text: the
 * syndrome is one such difference or the sum of two. Within 89 characters these sums differ (BIP 173), so the first
 * match is right.
 */
const wrongDistances = (
  { length, syndrome }: { readonly syndrome: number; readonly length: number }
): ReadonlyArray<number> => {
  const distanceOf = new Map<number, number>()
  for (let error = 1; error < 32; error++) {
    let difference = error
    for (let distance = 0; distance < length; distance++) {
      distanceOf.set(difference, distance)
      difference = remainderStep(difference, 0)
    }
  }
  const single = distanceOf.get(syndrome)
  if (single !== undefined) return [single]
  for (const [difference, distance] of distanceOf) {
    const other = distanceOf.get(syndrome ^ difference)
    if (other !== undefined) return distance > other ? [distance, other] : [other, distance]
  }
  return []
}

const VARIANTS: ReadonlyArray<readonly [Bech32Variant, string]> = [
  ["bech32", "Invalid Bech32 checksum"],
  ["bech32m", "Invalid Bech32m checksum"]
]

/** Uses the variant that needs fewer corrections, if any can be corrected. */
const checksumError = (hrp: string, values: Bytes, textLength: number): Bech32Error => {
  let best: Bech32Error = { error: "Invalid checksum", locations: [] }
  const found = remainder(hrp, values)
  for (const [variant, error] of VARIANTS) {
    const distances = wrongDistances({ syndrome: found ^ CHECKSUM_CONSTANTS[variant], length: values.length })
    if (distances.length > 0 && (best.locations.length === 0 || distances.length < best.locations.length)) {
      best = { error, locations: distances.map((distance) => textLength - 1 - distance) }
    }
  }
  return best
}

/** Returns why `decodeBech32` refused a text. Source: namecoin-core `bech32.cpp`, `LocateErrors`. */
export const locateErrors = (text: string): Bech32Error => {
  const codes = new TextEncoder().encode(text.slice(0, MAX_EXAMINED_LENGTH))
  if (codes.length > MAX_BECH32_LENGTH) {
    const locations = Array.from({ length: codes.length - MAX_BECH32_LENGTH }, (_, i) => MAX_BECH32_LENGTH + i)
    return { error: "Bech32 string too long", locations }
  }
  const invalid = invalidCharacters(codes)
  if (invalid.length > 0) return { error: "Invalid character or mixed case", locations: invalid }
  const separator = text.lastIndexOf("1")
  if (separator === -1) return { error: "Missing separator", locations: [] }
  if (separator === 0 || separator + CHECKSUM_LENGTH >= codes.length) {
    return { error: "Invalid separator position", locations: [separator] }
  }
  const values = codes.slice(separator + 1)
  for (let i = 0; i < values.length; i++) {
    const value = dataValue(values[i] ?? 0)
    if (value === -1) return { error: "Invalid Base 32 character", locations: [separator + 1 + i] }
    values[i] = value
  }
  return checksumError(text.slice(0, separator).toLowerCase(), values, codes.length)
}
