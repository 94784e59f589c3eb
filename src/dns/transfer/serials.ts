import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { checksummed, checkText } from "../../base/checksum.ts"
import type { Cursor } from "../../chain/write/Follower.ts"
import { equal, toHex } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"

/**
 * Serials of the zone: 32-bit numbers that secondaries compare to see whether they are behind (RFC 1034, section
 * 4.3.5). Each tip of the chain has one, at least its height, and greater than that of the tip before: after a
 * reorganisation the height may be lower, the serial never is.
 */

/** A tip and its serial. */
export interface SerialRow {
  readonly serial: number
  readonly height: Height
  /** Hash of the block, in wire order. */
  readonly hash: Uint8Array
}

/** Rows that are remembered: as many as names.db remembers blocks, since a change can be told from these alone. */
export const KEPT_SERIALS = 300

const MAX_SERIAL = 0xffff_ffff

/** The rows with that of a tip at the end; the same rows if the tip is the last one. `least`: the serial is not lower. */
export const withTip = (
  rows: ReadonlyArray<SerialRow>,
  { hash, height }: Cursor,
  least = 0
): ReadonlyArray<SerialRow> => {
  const last = rows.at(-1)
  if (last !== undefined && last.height === height && equal(last.hash, hash)) return rows
  const serial = Math.max(height, least, last === undefined ? 0 : last.serial + 1)
  return [...rows, { serial, height, hash: hash.slice() }].slice(-KEPT_SERIALS)
}

/** The row of a block, the newest if a reorganisation came back to it. */
export const rowOfBlock = (rows: ReadonlyArray<SerialRow>, hash: Uint8Array): SerialRow | undefined =>
  rows.findLast((row) => equal(row.hash, hash))

/** Whether serial `a` is earlier than `b` (RFC 1982, section 3.2). */
export const isEarlierSerial = (a: number, b: number): boolean => a !== b && ((b - a) >>> 0) < 0x8000_0000

const Serial = Schema.Int.pipe(Schema.between(0, MAX_SERIAL))

/** The content of `serials.json`. */
export interface SavedSerials {
  /** What the records depend on besides the names: the settings of the zone, and the version of svcd. */
  readonly made: string
  readonly rows: ReadonlyArray<SerialRow>
}

const SerialsFile = Schema.parseJson(Schema.Struct({
  version: Schema.Literal(1),
  made: Schema.String,
  rows: Schema.Array(Schema.Struct({
    serial: Serial,
    height: Serial,
    hash: Schema.Uint8ArrayFromHex.pipe(Schema.filter(({ length }) => length === 32))
  })).pipe(Schema.maxItems(KEPT_SERIALS))
}))

export const printSerials = ({ made, rows }: SavedSerials): string => {
  const shown = rows.map(({ hash, height, serial }) => ({ serial, height, hash: toHex(hash) }))
  return checksummed(`${JSON.stringify({ version: 1, made, rows: shown })}\n`)
}

const grows = (rows: ReadonlyArray<{ readonly serial: number }>): boolean =>
  rows.every(({ serial }, at) => at === 0 || serial > (rows[at - 1]?.serial ?? 0))

/** `undefined` if the text is damaged. */
export const readSerials = (text: string): SavedSerials | undefined => {
  const checked = checkText(text)
  if (checked.checksum === "wrong") return undefined
  const found = Option.getOrUndefined(Schema.decodeUnknownOption(SerialsFile)(checked.text))
  return found === undefined || !grows(found.rows)
    ? undefined
    : found
}
