import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type Bytes, compare, EMPTY } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { prefixEnd, successor } from "./nameChanges.ts"
import { laterOf, type ListOptions, namedAll, type NamedRow, type Page, PAGE_ROWS, paged } from "./nameQueries.ts"
import { firstOperationAt, type NameRecord, plain, RECORD_COLUMNS } from "./NameRecord.ts"
import { type NamesFile, query } from "./NamesFile.ts"

/**
 * Names as the reference node orders them, by length and then by bytes, through filters. Names are looked at alone, in
 * an index, and only the records of those that fit are read. Source: upstream `rpc/names.cpp`, `name_scan`.
 */

/** What a scan looks for. What is given has to hold all at once. */
export interface ScanOptions extends ListOptions {
  readonly prefix?: Bytes | undefined
  /** Heights of the last operation, both included. */
  readonly minHeight?: number | undefined
  readonly maxHeight?: number | undefined
  /** Whether a name is wanted: a regular expression, for instance. Asked for many names: it has to be quick. */
  readonly matches?: ((name: Bytes) => boolean) | undefined
}

/** Names that are shown to `matches` at once. */
const MATCHED_AT_ONCE = 2_000

/** As many names as are looked for by height rather than by name. */
const FEW_NAMES = 5_000

interface Candidate {
  readonly id: number
  readonly name: Buffer
}

const byLength = (a: Bytes, b: Bytes): number => a.length - b.length || compare(a, b)

const heightFits = ({ maxHeight = Infinity, minHeight = 0 }: ScanOptions) => ({ height }: NameRecord): boolean =>
  height >= minHeight && height <= maxHeight

const RECORDS = `
  SELECT ${RECORD_COLUMNS}, n.name FROM json_each(?) wanted
  JOIN names n ON n.id = wanted.value JOIN operations o ON o.id = n.operation ORDER BY wanted.key`

/** The records of candidates, in their order. */
const recordsOf = (
  connection: Connection,
  candidates: ReadonlyArray<Candidate>
): Effect.Effect<ReadonlyArray<NameRecord>, SqlError> =>
  candidates.length === 0
    ? Effect.succeed([])
    : Effect.map(
      query<NamedRow>(connection, RECORDS, [JSON.stringify(candidates.map(({ id }) => id))]),
      namedAll
    )

/** A place in the order of a scan: names of this length, from this one on. */
interface ScanState {
  readonly length: number
  readonly from: Bytes
  /** Names that are still to be found. */
  readonly left: number
}

const OF_LENGTH = "SELECT id, name FROM names WHERE length = ? AND name >= ?"
const LONGER = "SELECT min(length) AS length FROM names WHERE length > ?"

/** Goes through all names: those of one length after the other, so that a prefix is a range in each of them. */
const scanByName = (file: NamesFile, options: ScanOptions): Stream.Stream<NameRecord, StorageFailure> => {
  const { count = Infinity, matches, prefix = EMPTY, start = EMPTY } = options
  const end = prefixEnd(prefix)
  const wanted = heightFits(options)

  const candidatesAt = (connection: Connection, { from, length }: ScanState, limit: number) =>
    end === undefined
      ? query<Candidate>(connection, `${OF_LENGTH} ORDER BY name LIMIT ?`, [length, from, limit])
      : query<Candidate>(connection, `${OF_LENGTH} AND name < ? ORDER BY name LIMIT ?`, [length, from, end, limit])

  /** The start of the names that are longer. */
  const longer = (connection: Connection, { left, length }: ScanState) =>
    Effect.map(
      query<{ readonly length: number | null }>(connection, LONGER, [length]),
      ([row]) => row === undefined || row.length === null ? undefined : { length: row.length, from: prefix, left }
    )

  const page = (state: ScanState): Effect.Effect<Page<NameRecord, ScanState>, StorageFailure> =>
    file.snapshot((connection) =>
      Effect.gen(function*() {
        const limit = matches === undefined ? Math.min(PAGE_ROWS, state.left) : MATCHED_AT_ONCE
        const candidates = yield* candidatesAt(connection, state, limit)
        const fitting = matches === undefined ? candidates : candidates.filter(({ name }) => matches(plain(name)))
        const taken = fitting.slice(0, state.left)
        const rows = (yield* recordsOf(connection, taken)).filter(wanted)
        // What was not taken is looked at again, should the heights leave room for it.
        const seen = taken.length < fitting.length ? taken : candidates
        const last = seen[seen.length - 1]
        const rest = {
          ...state,
          left: state.left - rows.length,
          from: last === undefined ? state.from : successor(last.name)
        }
        if (rest.left <= 0) return { rows, next: undefined }
        const isWhole = candidates.length < limit && seen === candidates
        return { rows, next: isWhole ? yield* longer(connection, rest) : rest }
      })
    )

  // Shorter names than the prefix cannot begin with it; the start bounds only names of its own length.
  return paged<NameRecord, ScanState>(
    prefix.length > start.length
      ? { length: prefix.length, from: prefix, left: count }
      : { length: start.length, from: laterOf(start, prefix), left: count },
    page
  )
}

const IN_HEIGHTS = "SELECT id, name FROM names WHERE operation >= ? AND operation < ? LIMIT ?"

/** The names that fit, if so few of all were updated since `minHeight` that they are best found by that; in order. */
const fewNames = (
  file: NamesFile,
  { matches, maxHeight = Infinity, minHeight, prefix = EMPTY, start = EMPTY }: ScanOptions
): Effect.Effect<ReadonlyArray<Candidate> | undefined, StorageFailure> => {
  if (minHeight === undefined) return Effect.succeed(undefined)
  const range = [firstOperationAt(minHeight), firstOperationAt(maxHeight + 1)]
  const end = prefixEnd(prefix)
  return Effect.map(
    file.snapshot((connection) => query<Candidate>(connection, IN_HEIGHTS, [...range, FEW_NAMES + 1])),
    (found) =>
      found.length > FEW_NAMES ?
        undefined :
        found.filter(({ name }) =>
          byLength(name, start) >= 0 && compare(name, prefix) >= 0 && (end === undefined || compare(name, end) < 0) &&
          (matches === undefined || matches(plain(name)))
        ).sort((a, b) => byLength(a.name, b.name))
  )
}

/** The records of names that were found already. */
const scanFew = (
  file: NamesFile,
  options: ScanOptions,
  few: ReadonlyArray<Candidate>
): Stream.Stream<NameRecord, StorageFailure> => {
  const all = few.slice(0, options.count)
  return paged(0, (from) =>
    Effect.map(
      file.snapshot((connection) => recordsOf(connection, all.slice(from, from + PAGE_ROWS))),
      (records) => ({
        rows: records.filter(heightFits(options)),
        next: from + PAGE_ROWS < all.length ? from + PAGE_ROWS : undefined
      })
    ))
}

export const scan = (file: NamesFile, options: ScanOptions): Stream.Stream<NameRecord, StorageFailure> =>
  options.count !== undefined && options.count <= 0
    ? Stream.empty
    : Stream.unwrap(Effect.map(
      fewNames(file, options),
      (few) => few === undefined ? scanByName(file, options) : scanFew(file, options, few)
    ))
