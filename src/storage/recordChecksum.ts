import { crc32 } from "node:zlib"
import type { Bytes } from "../protocol/bytes.ts"

/** Stands for a record whose checksum is not known: it was stored by a version that kept none. */
export const NO_CHECKSUM = 0

/**
 * The checksum of a stored record: CRC-32, which notices every flip of up to 32 neighbouring bits. It guards against a
 * disk, not against an attacker, and costs a hundredth of decoding a block. Never `NO_CHECKSUM`.
 */
export const recordChecksum = (record: Bytes): number => {
  const checksum = crc32(record)
  return checksum === NO_CHECKSUM ? 1 : checksum
}
