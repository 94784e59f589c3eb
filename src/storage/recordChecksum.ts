import { crc32 } from "node:zlib"
import type { Bytes } from "../protocol/bytes.ts"

/** Stands for a missing checksum, in records of older versions. */
export const NO_CHECKSUM = 0

/**
 * The checksum of a stored record: CRC-32, which detects every burst error of up to 32 bits, for a hundredth of the
 * cost of decoding a block. It protects against disk errors, not attackers. Never `NO_CHECKSUM`.
 */
export const recordChecksum = (record: Bytes): number => {
  const checksum = crc32(record)
  return checksum === NO_CHECKSUM ? 1 : checksum
}
