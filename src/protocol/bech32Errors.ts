import {
  type Bech32Variant,
  CHECKSUM_CONSTANTS,
  CHECKSUM_LENGTH,
  dataValue,
  MAX_BECH32_LENGTH,
  remainder,
  remainderStep
} from "./bech32.ts"
import type { Bytes } from "./bytes.ts"

/**
 * Locates the errors in a text that is not valid bech32. The code finds up to two wrong characters of the data part. It
 * deliberately does not return the right characters: the user has to look up the address.
 */

/** The reference node's words, and the positions that are probably wrong, in bytes of UTF-8. */
export interface Bech32Error {
  readonly error: string
  readonly locations: ReadonlyArray<number>
}

/** The checked length of a text. Positions in an overlong text are listed up to here. */
const MAX_EXAMINED_LENGTH = 1000

const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** Positions of unprintable characters, and of letters whose case differs from the first letter. */
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
 * Finds the one or two wrong values that explain a remainder that is off by `syndrome`, as distances from the end.
 * Returns none if more values are wrong. The remainder is linear: a wrong value at a distance adds the same difference
 * to every text. So the differences of all single errors are listed, and the syndrome is one of them or the sum of two.
 * Within 89 characters the code distinguishes any two such sums (BIP 173), so the first match is the only one.
 */
const wrongDistances = (syndrome: number, length: number): ReadonlyArray<number> => {
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

/** The variant that needs fewer corrections is used. Both may need too many. */
const checksumError = (hrp: string, values: Bytes, textLength: number): Bech32Error => {
  let best: Bech32Error = { error: "Invalid checksum", locations: [] }
  const found = remainder(hrp, values)
  for (const [variant, error] of VARIANTS) {
    const distances = wrongDistances(found ^ CHECKSUM_CONSTANTS[variant], values.length)
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
