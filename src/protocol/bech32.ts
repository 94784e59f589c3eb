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

/** One to 83 printable ASCII characters, none in upper case. */
const HRP = /^[!-@[-~]{1,83}$/

/** Throws `RangeError` for a prefix outside BIP 173 and for a text longer than 90 characters. */
export const encodeBech32 = (variant: Bech32Variant, hrp: string, values: ReadonlyArray<number>): string => {
  if (!HRP.test(hrp)) throw new RangeError(`not a lower-case bech32 prefix: ${hrp}`)
  if (hrp.length + 1 + values.length + CHECKSUM_LENGTH > MAX_BECH32_LENGTH) {
    throw new RangeError(`${values.length} values under the prefix ${hrp} make a text longer than ${MAX_BECH32_LENGTH}`)
  }
  return CODECS[variant].encode(hrp, [...values], MAX_BECH32_LENGTH)
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
  return encodeBech32(version === 0 ? "bech32" : "bech32m", hrp, [version, ...bech32.toWords(program)])
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

export const decodeSegwit = (text: string): Segwit | undefined => {
  const decoded = decodeBech32(text)
  if (decoded === undefined) return undefined
  const segwit = segwitOf(decoded)
  return "error" in segwit ? undefined : segwit
}
