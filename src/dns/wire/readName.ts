import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { DecodeError } from "../../protocol/Reader.ts"
import { MAX_LABEL_BYTES, MAX_NAME_BYTES, type WireName } from "./name.ts"

/** The first two bits of a pointer, and those of an ordinary label (RFC 1035, section 4.1.4). */
const POINTER_BITS = 0xc0

/** No name of 127 labels needs more. The bound is for pointers that lead to pointers. */
const MAX_JUMPS = 127

/** A name in the letters of the message, and the offset after it. */
export interface NameRead {
  readonly name: WireName
  readonly end: number
}

/**
 * The offset behind a name without pointers; -1 if the name is cut off, too long, or has a pointer or a label of a
 * reserved kind.
 */
export const endOfPlainName = (bytes: Bytes, start: number): number => {
  for (let at = start;;) {
    const length = bytes[at]
    if (length === undefined || length > MAX_LABEL_BYTES) return -1
    at += 1 + length
    if (at - start > MAX_NAME_BYTES || at > bytes.length) return -1
    if (length === 0) return at
  }
}

/** The offset behind a name that may end in a pointer, which is not followed; -1 as above. */
export const endOfName = (bytes: Bytes, start: number): number => {
  for (let at = start;;) {
    const length = bytes[at]
    if (length === undefined) return -1
    if (length >= POINTER_BITS) return at + 2 <= bytes.length && at + 2 - start <= MAX_NAME_BYTES ? at + 2 : -1
    if (length > MAX_LABEL_BYTES) return -1
    at += 1 + length
    if (at - start > MAX_NAME_BYTES || at > bytes.length) return -1
    if (length === 0) return at
  }
}

const malformed = (reason: string, at: number): never => {
  throw new DecodeError({ field: "name", reason }, at)
}

/** Reads a name and follows its pointers, each of which must lead further back. Throws `DecodeError`. */
export const readWireName = (bytes: Bytes, start: number): NameRead => {
  let name = ""
  let end = -1
  let jumps = 0
  for (let at = start, from = start;;) {
    const length = bytes[at]
    if (length === undefined) return malformed("cut off", at)
    if (length >= POINTER_BITS) {
      const low = bytes[at + 1]
      if (low === undefined) return malformed("cut off", at)
      const target = (length & 0x3f) << 8 | low
      if (target >= from) return malformed("a pointer that does not lead back", at)
      if (++jumps > MAX_JUMPS) return malformed("too many pointers", at)
      if (end < 0) end = at + 2
      at = from = target
      continue
    }
    if (length > MAX_LABEL_BYTES) return malformed("a label of a reserved kind", at)
    const next = at + 1 + length
    if (next > bytes.length) return malformed("cut off", at)
    name += binaryString(bytes.subarray(at, next))
    if (name.length > MAX_NAME_BYTES) return malformed(`longer than ${MAX_NAME_BYTES} bytes`, at)
    if (length === 0) return { name: name as WireName, end: end < 0 ? next : end }
    at = next
  }
}
