import { crc32 } from "node:zlib"
import type { Bytes } from "../protocol/bytes.ts"

/** The value for a record without a checksum: a version without checksums stored it. */
export const NO_CHECKSUM = 0

/**
 * The checksum of a stored record: CRC-32, which detects every burst error of up to 32 bits. It protects against disk
 * errors, not against an attacker, and costs a hundredth of decoding a block. The result is never
 * `NO_CHECKSUM`.
 */
export const recordChecksum = (record: Bytes): number => {
  const checksum = crc32(record)
  return checksum === NO_CHECKSUM ? 1 : checksum
}
