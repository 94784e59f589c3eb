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
 * Says what is wrong with a text that is no bech32, and where. The code can find up to two wrong characters of
 * the data part; what they should have been is deliberately not told: a person has to look it up.
 */

/** The reference node's words, and the positions that are likely wrong, counted in bytes of UTF-8. */
export interface Bech32Error {
  readonly error: string
  readonly locations: ReadonlyArray<number>
}

/** How much of a text is looked at; an overlong one has its positions listed no further than this. */
const MAX_EXAMINED_LENGTH = 1000

const isUpper = (code: number): boolean => code >= 0x41 && code <= 0x5a
const isLower = (code: number): boolean => code >= 0x61 && code <= 0x7a

/** Positions of unprintable characters and of letters whose case is not that of the first letter. */
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
 * Finds the one or two values that must be wrong for the remainder to be off by `syndrome`, as distances from
 * the end; none if it takes more. The remainder is linear: a wrong value at a distance adds the same difference
 * to every text, so the differences of all single errors are listed and the syndrome is looked up as one of
 * them or as the sum of two. Within 89 characters the code tells any two such sums apart (BIP 173), so what is
 * found first is the only answer.
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

/** The variant that needs fewer corrections decides; neither may be near. */
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

/**
 * Explains why `decodeBech32` refused a text. Source of the words and of their order: namecoin-core
 * `bech32.cpp`, `LocateErrors`.
 */
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
