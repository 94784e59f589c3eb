import { crc32 } from "node:zlib"
import type { Bytes } from "../protocol/bytes.ts"

/** For a missing checksum, in records of older versions. */
export const NO_CHECKSUM = 0

/** CRC-32 finds every burst error of up to 32 bits, but no attack, for a hundredth of the cost of decoding. Never 0. */
export const recordChecksum = (record: Bytes): number => {
  const checksum = crc32(record)
  return checksum === NO_CHECKSUM ? 1 : checksum
}
