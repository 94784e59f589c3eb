// Hashes are stored in the order of the wire ("wire order") and displayed in reverse. Only `displayHash` and
// `parseDisplayHash` reverse them.

export type Bytes = Uint8Array

export const EMPTY: Uint8Array = new Uint8Array(0)

/** Not constant time, so never for secrets. */
export const equal = (a: Bytes, b: Bytes): boolean => {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Compares as unsigned bytes. A prefix comes before the longer string. */
export const compare = (a: Bytes, b: Bytes): number => {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

export const concat = (...parts: ReadonlyArray<Bytes>): Uint8Array<ArrayBuffer> => concatAll(parts)

/** Like `concat` for a list of any length: a call takes at most some 120,000 arguments. */
export const concatAll = (parts: ReadonlyArray<Bytes>): Uint8Array<ArrayBuffer> => {
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

/** A copy with room for `size` bytes, and at least twice as long: what grows byte by byte is copied seldom. */
export const grown = (bytes: Bytes, size: number): Uint8Array<ArrayBuffer> => {
  const larger = new Uint8Array(Math.max(size, 2 * bytes.length))
  larger.set(bytes)
  return larger
}

type Slice = (this: Uint8Array, start: number, end: number) => string
type Write = (this: Uint8Array, text: string) => number

interface BufferHost {
  readonly Buffer?: {
    readonly prototype: { readonly latin1Slice?: Slice; readonly hexSlice?: Slice; readonly hexWrite?: Write }
  }
}

/** Node's conversions if available, several times faster than the replacements in a browser. */
const host: BufferHost = globalThis
const { hexSlice, hexWrite, latin1Slice } = host.Buffer?.prototype ?? {}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

const joinedDigits = (bytes: Bytes): string => {
  let text = ""
  for (const byte of bytes) text += DIGITS[byte]
  return text
}

/** Up to this many bytes, joining digits is faster. A longer text would be a chain of as many pieces. */
const FEW = 16

export const toHex: (bytes: Bytes) => string = hexSlice === undefined
  ? joinedDigits
  : (bytes) => bytes.length > FEW ? hexSlice.call(bytes, 0, bytes.length) : joinedDigits(bytes)

const HEX = /^(?:[0-9a-fA-F]{2})*$/

export const isHex = (text: string): boolean => HEX.test(text)

/** Digits in any case. */
export const fromHex = (text: string): Uint8Array | undefined => {
  if (!isHex(text)) return undefined
  const bytes = new Uint8Array(text.length / 2)
  if (hexWrite !== undefined) hexWrite.call(bytes, text)
  else for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16)
  return bytes
}

export const reversed = (bytes: Bytes): Uint8Array => new Uint8Array(bytes).reverse()

export const displayHash = (hash: Bytes): string => toHex(reversed(hash))

export const parseDisplayHash = (text: string): Uint8Array | undefined =>
  text.length === 64 ? fromHex(text)?.reverse() : undefined

/** Bytes as a string of one character per byte: a compact key for maps. */
export const binaryString: (bytes: Bytes) => string = latin1Slice === undefined
  ? (bytes) => String.fromCharCode(...bytes)
  : (bytes) => latin1Slice.call(bytes, 0, bytes.length)

export const fromBinaryString = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}
