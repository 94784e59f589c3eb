import { bech32, bech32m } from "@scure/base"
import type { Bytes } from "./bytes.ts"

/** The constant of the checksum: bech32 for witness version 0, bech32m for others. */
export type Bech32Variant = "bech32" | "bech32m"

/** The prefix is in lower case, the data are 5-bit values without the checksum. */
export interface Bech32 {
  readonly variant: Bech32Variant
  readonly hrp: string
  readonly values: ReadonlyArray<number>
}

export interface Segwit {
  readonly hrp: string
  readonly version: number
  readonly program: Uint8Array
}

/** Longest valid text, in characters (BIP 173). */
export const MAX_BECH32_LENGTH = 90

export const CHECKSUM_LENGTH = 6

const CODECS = { bech32, bech32m } as const

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

/** What the checksum of a valid text leaves over (BIP 173, BIP 350). */
const REST: Readonly<Record<Bech32Variant, number>> = { bech32: 1, bech32m: 0x2bc830a3 }

const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]

/** The rest of the division of all values so far, after one more. */
// positional: runs for each character of an address
const divided = (rest: number, value: number): number => {
  const top = rest >>> 25
  let next = ((rest & 0x1ffffff) << 5) ^ value
  for (let i = 0; i < GENERATORS.length; i++) if (((top >>> i) & 1) === 1) next ^= GENERATORS[i] ?? 0
  return next
}

const checksumOf = (variant: Bech32Variant, hrp: string, values: ReadonlyArray<number>): ReadonlyArray<number> => {
  let rest = 1
  for (let i = 0; i < hrp.length; i++) rest = divided(rest, hrp.charCodeAt(i) >> 5)
  rest = divided(rest, 0)
  for (let i = 0; i < hrp.length; i++) rest = divided(rest, hrp.charCodeAt(i) & 31)
  for (const value of values) rest = divided(rest, value)
  for (let i = 0; i < CHECKSUM_LENGTH; i++) rest = divided(rest, 0)
  rest ^= REST[variant]
  return Array.from({ length: CHECKSUM_LENGTH }, (_, i) => (rest >>> (5 * (CHECKSUM_LENGTH - 1 - i))) & 31)
}

/** Bytes as 5-bit values, the last one filled up with zeros. */
const toWords = (bytes: Bytes): ReadonlyArray<number> => {
  const words: Array<number> = []
  let held = 0
  let bits = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; bits -= 5) words.push((held >>> (bits - 5)) & 31)
  }
  if (bits > 0) words.push((held << (5 - bits)) & 31)
  return words
}

/** One to 83 printable ASCII characters, none in upper case. */
const HRP = /^[!-@[-~]{1,83}$/

/** Throws `RangeError` for a prefix outside BIP 173 and for a text longer than 90 characters. */
export const encodeBech32 = (variant: Bech32Variant, hrp: string, values: ReadonlyArray<number>): string => {
  if (!HRP.test(hrp)) throw new RangeError(`not a lower-case bech32 prefix: ${hrp}`)
  if (hrp.length + 1 + values.length + CHECKSUM_LENGTH > MAX_BECH32_LENGTH) {
    throw new RangeError(`${values.length} values under the prefix ${hrp} make a text longer than ${MAX_BECH32_LENGTH}`)
  }
  let text = `${hrp}1`
  for (const value of [...values, ...checksumOf(variant, hrp, values)]) text += ALPHABET.charAt(value)
  return text
}

const decodeVariant = (variant: Bech32Variant, text: string): Bech32 | undefined => {
  const decoded = CODECS[variant].decodeUnsafe(text, MAX_BECH32_LENGTH)
  return decoded === undefined ? undefined : { variant, hrp: decoded.prefix, values: decoded.words }
}

/** `locateErrors` in bech32Errors.ts tells why a text is invalid. */
export const decodeBech32 = (text: string): Bech32 | undefined => {
  // A wrong checksum throws inside the library, which is slow, so the likelier variant goes first.
  const version = text.charAt(text.lastIndexOf("1") + 1)
  return version === "q" || version === "Q"
    ? decodeVariant("bech32", text) ?? decodeVariant("bech32m", text)
    : decodeVariant("bech32m", text) ?? decodeVariant("bech32", text)
}

/** Whether a witness program of this version may have this many bytes (BIP 141). */
export const isProgramLength = ({ length, version }: { readonly version: number; readonly length: number }): boolean =>
  version === 0 ? length === 20 || length === 32 : version <= 16 && length >= 2 && length <= 40

/** Throws `RangeError` for a version or length outside BIP 141. */
export const encodeSegwit = (hrp: string, version: number, program: Bytes): string => {
  if (!Number.isInteger(version) || version < 0 || !isProgramLength({ version, length: program.length })) {
    throw new RangeError(`not a witness program: version ${version}, ${program.length} bytes`)
  }
  return encodeBech32(version === 0 ? "bech32" : "bech32m", hrp, [version, ...toWords(program)])
}

/** Errors have the reference node's words and order (namecoin-core `key_io.cpp`, `DecodeDestination`). */
export const segwitOf = ({ hrp, values, variant }: Bech32): Segwit | { readonly error: string } => {
  const version = values[0]
  if (version === undefined) return { error: "Empty Bech32 data section" }
  if (version === 0 && variant !== "bech32") return { error: "Version 0 witness address must use Bech32 checksum" }
  if (version !== 0 && variant !== "bech32m") return { error: "Version 1+ witness address must use Bech32m checksum" }
  const program = bech32.fromWordsUnsafe(values.slice(1))
  if (program === undefined) return { error: "Invalid padding in Bech32 data section" }
  if (version > 16) return { error: "Invalid Bech32 address witness version" }
  if (!isProgramLength({ version, length: program.length })) {
    const size = `program size (${program.length} ${program.length === 1 ? "byte" : "bytes"})`
    return { error: version === 0 ? `Invalid Bech32 v0 address ${size}, per BIP141` : `Invalid Bech32 address ${size}` }
  }
  return { hrp, version, program }
}
