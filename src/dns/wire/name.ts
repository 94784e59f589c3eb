import type { Brand } from "../../protocol/keys.ts"

/**
 * A DNS name as on the wire, without compression, one character per byte: `\x03www\x07example\x03bit\0`. In
 * lower case unless said otherwise. Two names are equal if and only if their strings are, even where a label holds a
 * dot or a zero byte.
 */
export type WireName = Brand<string, "WireName">

/** RFC 1035, section 2.3.4: bytes of a label, and of a name with the zero at its end. */
export const MAX_LABEL_BYTES = 63
export const MAX_NAME_BYTES = 255

export const ROOT = "\0" as WireName
