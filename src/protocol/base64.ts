import { base64 } from "@scure/base"
import type { Bytes } from "./bytes.ts"
import { orNothing } from "./orNothing.ts"

/** Base64 (RFC 4648, section 4) as the reference node reads it: with padding, and with zeros for unused bits. */

export const encodeBase64 = (bytes: Bytes): string => base64.encode(bytes)

/**
 * Returns the bytes of a base64 text; `undefined` for a wrong character (white space included), wrong padding, or bits
 * set beyond the last byte. Source: upstream `util/strencodings.cpp`, `DecodeBase64`.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => orNothing(() => base64.decode(text))
