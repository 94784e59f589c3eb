import type { Bytes } from "./bytes.ts"

/** Base64 (RFC 4648, section 4) as the reference node reads it: padding is required, and unused bits must be zero. */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

const VALUES = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)))

const PIECE = 1024

export const encodeBase64 = (bytes: Bytes): string => {
  const pieces: Array<string> = []
  let text = ""
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    text += `${ALPHABET[group >> 18]}${ALPHABET[(group >> 12) & 63]}`
    text += left > 1 ? ALPHABET[(group >> 6) & 63] : "="
    text += left > 2 ? ALPHABET[group & 63] : "="
    if (text.length >= 4 * PIECE) {
      pieces.push(text)
      text = ""
    }
  }
  return pieces.join("") + text
}

/**
 * Returns the bytes of a base64 text. `undefined` for a character outside the alphabet (white space included), missing
 * or excess padding, and set bits in the last character that belong to no byte. Source: upstream
 * `util/strencodings.cpp`, `DecodeBase64`.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0
  const characters = text.length - padding
  const bytes = new Uint8Array(Math.floor(characters * 6 / 8))
  let bits = 0
  let width = 0
  let at = 0
  for (let i = 0; i < characters; i++) {
    const value = VALUES[text.charCodeAt(i)] ?? -1
    if (value < 0) return undefined
    bits = (bits << 6) | value
    width += 6
    if (width < 8) continue
    width -= 8
    bytes[at++] = bits >> width
    bits &= (1 << width) - 1
  }
  return bits === 0 ? bytes : undefined
}
