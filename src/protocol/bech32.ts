import type { Bytes } from "./bytes.ts"

/** Bech32 (BIP 173), bech32m (BIP 350), and the segwit addresses in these encodings. */

/** The constant of the checksum: bech32 for witness version 0, bech32m for all others. */
export type Bech32Variant = "bech32" | "bech32m"

/** A decoded text: its prefix in lower case and its data as 5-bit values, without the checksum. */
export interface Bech32 {
  readonly variant: Bech32Variant
  readonly hrp: string
  readonly values: Uint8Array
}

export interface Segwit {
  readonly hrp: string
  readonly version: number
  readonly program: Uint8Array
}

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

/** The value of each character by its code, in either case; -1 for characters that are not digits. */
const VALUES = Int8Array.from(
  { length: 128 },
  (_, code) => ALPHABET.indexOf(String.fromCharCode(code).toLowerCase())
)

/** Longest valid text, in characters (BIP 173). */
export const MAX_BECH32_LENGTH = 90

export const CHECKSUM_LENGTH = 6

/** The remainder of a valid text, for each variant (BIP 173, BIP 350). */
export const CHECKSUM_CONSTANTS: Readonly<Record<Bech32Variant, number>> = { bech32: 1, bech32m: 0x2bc830a3 }

const GENERATOR = Int32Array.of(0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3)

/** Multiplies a remainder by x, adds a 5-bit value, and reduces by the generator of the code. 30 bits. */
export const remainderStep = (remainder: number, value: number): number => {
  const top = remainder >>> 25
  let next = ((remainder & 0x1ffffff) << 5) ^ value
  for (let bit = 0; bit < 5; bit++) if (((top >>> bit) & 1) === 1) next ^= GENERATOR[bit] ?? 0
  return next
}

/** The remainder of a whole text: the high and the low bits of the prefix, then the data values. */
export const remainder = (hrp: string, values: Bytes): number => {
  let result = 1
  for (let i = 0; i < hrp.length; i++) result = remainderStep(result, hrp.charCodeAt(i) >>> 5)
  result = remainderStep(result, 0)
  for (let i = 0; i < hrp.length; i++) result = remainderStep(result, hrp.charCodeAt(i) & 31)
  for (const value of values) result = remainderStep(result, value)
  return result
}

export const dataValue = (code: number): number => VALUES[code] ?? -1

/** One to 83 printable ASCII characters without upper case. */
const HRP = /^[!-@[-~]{1,83}$/

/**
 * Returns the text of 5-bit values after a lower-case prefix. Throws `RangeError` for a prefix outside BIP 173 and for
 * a text longer than 90 characters: both are mistakes of the caller.
 */
export const encodeBech32 = (variant: Bech32Variant, hrp: string, values: Bytes): string => {
  if (!HRP.test(hrp)) throw new RangeError(`not a lower-case bech32 prefix: ${hrp}`)
  if (hrp.length + 1 + values.length + CHECKSUM_LENGTH > MAX_BECH32_LENGTH) {
    throw new RangeError(`${values.length} values under the prefix ${hrp} make a text longer than ${MAX_BECH32_LENGTH}`)
  }
  let checksum = remainder(hrp, values)
  for (let i = 0; i < CHECKSUM_LENGTH; i++) checksum = remainderStep(checksum, 0)
  checksum ^= CHECKSUM_CONSTANTS[variant]
  let text = `${hrp}1`
  for (const value of values) text += ALPHABET[value]
  for (let shift = 25; shift >= 0; shift -= 5) text += ALPHABET[(checksum >>> shift) & 31]
  return text
}

/** Whether all characters are printable ASCII and all letters have the same case. */
const hasValidCharacters = (text: string): boolean =>
  /^[!-~]*$/.test(text) && (text === text.toLowerCase() || text === text.toUpperCase())

/**
 * Returns the parts of a bech32 or bech32m text. `undefined` for mixed case, a wrong character, a missing prefix, a
 * wrong length, or a checksum of neither variant. `locateErrors` in bech32Errors.ts returns which of these applies.
 */
export const decodeBech32 = (text: string): Bech32 | undefined => {
  if (text.length > MAX_BECH32_LENGTH || !hasValidCharacters(text)) return undefined
  const separator = text.lastIndexOf("1")
  if (separator < 1 || separator + CHECKSUM_LENGTH >= text.length) return undefined
  const hrp = text.slice(0, separator).toLowerCase()
  const values = new Uint8Array(text.length - separator - 1)
  for (let i = 0; i < values.length; i++) {
    const value = dataValue(text.charCodeAt(separator + 1 + i))
    if (value === -1) return undefined
    values[i] = value
  }
  const found = remainder(hrp, values)
  const data = values.subarray(0, -CHECKSUM_LENGTH)
  if (found === CHECKSUM_CONSTANTS.bech32) return { variant: "bech32", hrp, values: data }
  if (found === CHECKSUM_CONSTANTS.bech32m) return { variant: "bech32m", hrp, values: data }
  return undefined
}

/** Splits bytes into 5-bit values after a witness version. The last value is padded with zero bits. */
const segwitValues = (version: number, program: Bytes): Uint8Array => {
  const values = new Uint8Array(1 + Math.ceil(program.length * 8 / 5))
  values[0] = version
  let at = 1
  let buffer = 0
  let bits = 0
  for (const byte of program) {
    buffer = ((buffer << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; at++) {
      bits -= 5
      values[at] = (buffer >>> bits) & 31
    }
  }
  if (bits > 0) values[at] = (buffer << (5 - bits)) & 31
  return values
}

/** Joins 5-bit values to bytes; `undefined` if more than four bits are left over, or one of them is set. */
const programBytes = (values: Bytes): Uint8Array | undefined => {
  const program = new Uint8Array(Math.floor(values.length * 5 / 8))
  let at = 0
  let buffer = 0
  let bits = 0
  for (const value of values) {
    buffer = ((buffer << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      program[at++] = (buffer >>> bits) & 0xff
    }
  }
  return bits < 5 && (buffer & ((1 << bits) - 1)) === 0 ? program : undefined
}

/** Whether a witness program of this version may have this many bytes. BIP 141. */
export const isProgramLength = (version: number, length: number): boolean =>
  version === 0 ? length === 20 || length === 32 : version <= 16 && length >= 2 && length <= 40

/** Throws `RangeError` for a version or length outside BIP 141, which is a mistake of the caller. */
export const encodeSegwit = (hrp: string, version: number, program: Bytes): string => {
  if (!Number.isInteger(version) || version < 0 || !isProgramLength(version, program.length)) {
    throw new RangeError(`no witness program: version ${version}, ${program.length} bytes`)
  }
  return encodeBech32(version === 0 ? "bech32" : "bech32m", hrp, segwitValues(version, program))
}

/** Errors have the reference node's words and order (namecoin-core `key_io.cpp`, `DecodeDestination`). */
export const segwitOf = ({ hrp, values, variant }: Bech32): Segwit | { readonly error: string } => {
  const version = values[0]
  if (version === undefined) return { error: "Empty Bech32 data section" }
  if (version === 0 && variant !== "bech32") return { error: "Version 0 witness address must use Bech32 checksum" }
  if (version !== 0 && variant !== "bech32m") return { error: "Version 1+ witness address must use Bech32m checksum" }
  const program = programBytes(values.subarray(1))
  if (program === undefined) return { error: "Invalid padding in Bech32 data section" }
  if (version > 16) return { error: "Invalid Bech32 address witness version" }
  if (!isProgramLength(version, program.length)) {
    const size = `program size (${program.length} ${program.length === 1 ? "byte" : "bytes"})`
    return { error: version === 0 ? `Invalid Bech32 v0 address ${size}, per BIP141` : `Invalid Bech32 address ${size}` }
  }
  return { hrp, version, program }
}

/** Returns the content of a segwit address with any prefix; `undefined` if the text is not one. */
export const decodeSegwit = (text: string): Segwit | undefined => {
  const decoded = decodeBech32(text)
  if (decoded === undefined) return undefined
  const segwit = segwitOf(decoded)
  return "error" in segwit ? undefined : segwit
}
