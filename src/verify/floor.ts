import { decodeCompact } from "../consensus/difficulty.ts"
import type { ReaderParams } from "../consensus/readerParams.ts"
import type { Height } from "../protocol/keys.ts"

/**
 * Compact targets that all headers of mainnet meet from a height on, the highest first: a quarter of the lowest difficulty
 * since. The first row has a quarter of that between the anchors at 789,000 and 815,000 (`consensus/params.ts`), 8·10^13.
 */
const FLOORS: ReadonlyArray<readonly [since: Height, bits: number]> = [
  [789_000, 0x170e12d3],
  [495_000, 0x18008cbc],
  [385_056, 0x180232f0],
  [264_096, 0x19009d12],
  [163_296, 0x1907287d],
  [82_656, 0x1a584cbf]
]

/** The easiest target of a header at a height; on test networks, any. */
export const floorAt = (height: Height, { minDifficultySince, powLimit }: ReaderParams): bigint => {
  const row = minDifficultySince === undefined ? FLOORS.find(([since]) => height >= since) : undefined
  return row === undefined ? powLimit : decodeCompact(row[1]).target
}
