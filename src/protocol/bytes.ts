/**
 * Plain functions over bytes. Hashes are kept in the order in which they travel ("wire order"); people see
 * them reversed. `displayHash` and `parseDisplayHash` are the only places where the order turns.
 */

/** Bytes that nobody changes after they were made. */
export type Bytes = Uint8Array

export const EMPTY: Uint8Array = new Uint8Array(0)

/** Whether two byte strings are the same. Not constant time: never for secrets. */
export const equal = (a: Bytes, b: Bytes): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Orders byte strings as unsigned bytes, a prefix before what it begins. */
export const compare = (a: Bytes, b: Bytes): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** One byte string from several. */
export const concat = (...parts: ReadonlyArray<Bytes>): Uint8Array => {
  let length = 0
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

type Slice = (this: Uint8Array, start: number, end: number) => string
type Write = (this: Uint8Array, text: string) => number

interface BufferHost {
  readonly Buffer?: {
    readonly prototype: { readonly latin1Slice?: Slice; readonly hexSlice?: Slice; readonly hexWrite?: Write }
  }
}

/** Node's own conversions, where they exist: several times faster than what takes their place in a browser. */
const host: BufferHost = globalThis
const { hexSlice, hexWrite, latin1Slice } = host.Buffer?.prototype ?? {}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const joinedDigits = (bytes: Bytes): string => {
  let text = ""
  for (const byte of bytes) text += DIGITS[byte]
  return text
}

/** Bytes up to which joining the digits is faster; a longer text would be a chain of as many pieces. */
const FEW = 16

/** Lower-case hexadecimal digits. */
export const toHex: (bytes: Bytes) => string = hexSlice === undefined
  ? joinedDigits
  : (bytes) => bytes.length > FEW ? hexSlice.call(bytes, 0, bytes.length) : joinedDigits(bytes)

const HEX = /^(?:[0-9a-fA-F]{2})*$/

/** Whether a text consists of an even number of hexadecimal digits, none included. */
export const isHex = (text: string): boolean => HEX.test(text)

/** The bytes that hexadecimal digits stand for, in any case; `undefined` for a text that is something else. */
export const fromHex = (text: string): Uint8Array | undefined => {
  if (!isHex(text)) return undefined
  const bytes = new Uint8Array(text.length / 2)
  if (hexWrite !== undefined) hexWrite.call(bytes, text)
  else for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

/** A copy in the opposite order. */
export const reversed = (bytes: Bytes): Uint8Array => Uint8Array.from(bytes).reverse()

/** A hash as people see it: the bytes in reverse, in hexadecimal. */
export const displayHash = (hash: Bytes): string => toHex(reversed(hash))

/** The hash that 64 hexadecimal digits show; `undefined` for a text that is something else. */
export const parseDisplayHash = (text: string): Uint8Array | undefined =>
  text.length === 64 ? fromHex(text)?.reverse() : undefined

/** Bytes as a string with one character a byte: a compact key for maps. */
export const binaryString: (bytes: Bytes) => string = latin1Slice === undefined
  ? (bytes) => String.fromCharCode(...bytes)
  : (bytes) => latin1Slice.call(bytes, 0, bytes.length)

/** The bytes of a string made by `binaryString`. */
export const fromBinaryString = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}
