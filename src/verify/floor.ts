import { decodeCompact } from "../consensus/difficulty.ts"
import type { ReaderParams } from "../consensus/readerParams.ts"
import type { UnixTime } from "../protocol/keys.ts"

/**
 * Compact targets that all mainnet headers meet from a time on, the latest first: a quarter of the lowest difficulty
 * since. The first row has a quarter of the difficulty between the anchors at 789,000 and 815,000
 * (`consensus/params.ts`), 8·10^13. The key is a time, because a server may only claim a height, while the local clock
 * bounds the time of a living name.
 */
const FLOORS: ReadonlyArray<readonly [since: UnixTime, bits: number]> = [
  [1_757_300_000, 0x170e12d3],
  [1_582_540_599, 0x18008cbc],
  [1_530_003_649, 0x180232f0],
  [1_460_000_000, 0x19009d12],
  [1_400_000_000, 0x1907287d],
  [1_360_000_000, 0x1a584cbf]
]

/** The easiest allowed target for a header of this time. Test networks allow any target. */
export const floorAt = (time: UnixTime, { minDifficultySince, powLimit }: ReaderParams): bigint => {
  const row = minDifficultySince === undefined ? FLOORS.find(([since]) => time >= since) : undefined
  return row === undefined ? powLimit : decodeCompact(row[1]).target
}
