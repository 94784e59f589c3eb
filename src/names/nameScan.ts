import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { type Bytes, compare, EMPTY } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { prefixEnd, successor } from "./nameChanges.ts"
import { firstOperationAt, type NameEntry, plain, RECORD_COLUMNS } from "./NameEntry.ts"
import { laterOf, type ListOptions, namedAll, type NamedRow, type Page, PAGE_ROWS, paged } from "./nameQueries.ts"
import { type NamesReads, query, type Statements } from "./NamesFile.ts"

// Names in the reference node's order, by length and then by bytes, with filters. Reads names from an index, and only
// the records of matching names. Source: upstream `rpc/names.cpp`, `name_scan`.

/** The filters of a scan, all of which a name must pass. */
export interface ScanOptions extends ListOptions {
  readonly prefix?: Bytes | undefined
  /** Heights of the last operation, inclusive. */
  readonly minHeight?: Height | undefined
  readonly maxHeight?: Height | undefined
  /** Whether a name is wanted, for example by a regular expression. Must be fast, as it is called for many names. */
  readonly matches?: ((name: Bytes) => boolean) | undefined
}

const MATCHED_AT_ONCE = 2_000

/** Up to this many names, the scan searches by height instead of by name. */
const FEW_NAMES = 5_000

interface Candidate {
  readonly id: number
  readonly name: Buffer
}

export const byLength = (a: Bytes, b: Bytes): number => a.length - b.length || compare(a, b)

const heightFits = ({ maxHeight = Infinity, minHeight = 0 }: ScanOptions) => ({ height }: NameEntry): boolean =>
  height >= minHeight && height <= maxHeight

const RECORDS = `
  SELECT ${RECORD_COLUMNS}, n.name FROM json_each(?) wanted
  JOIN names n ON n.id = wanted.value JOIN operations o ON o.id = n.operation ORDER BY wanted.key`

const recordsOf = (
  connection: Statements,
  candidates: ReadonlyArray<Candidate>
): Effect.Effect<ReadonlyArray<NameEntry>, SqlError> =>
  candidates.length === 0
    ? Effect.succeed([])
    : Effect.map(
      query<NamedRow>(connection, RECORDS, [JSON.stringify(candidates.map(({ id }) => id))]),
      namedAll
    )

/** A position in scan order: the names of this length from this one on. */
interface ScanState {
  readonly length: number
  readonly from: Bytes
  readonly left: number
}

const OF_LENGTH = "SELECT id, name FROM names WHERE length = ? AND name >= ?"
const LONGER = "SELECT min(length) AS length FROM names WHERE length > ?"

/** Scans all names by length, as a prefix is a range in each length. */
const scanByName = (file: NamesReads, options: ScanOptions): Stream.Stream<NameEntry, StorageFailure> => {
  const { count = Infinity, matches, prefix = EMPTY, start = EMPTY } = options
  const end = prefixEnd(prefix)
  const wanted = heightFits(options)

  const candidatesAt = (connection: Statements, { from, length }: ScanState, limit: number) =>
    end === undefined
      ? query<Candidate>(connection, `${OF_LENGTH} ORDER BY name LIMIT ?`, [length, from, limit])
      : query<Candidate>(connection, `${OF_LENGTH} AND name < ? ORDER BY name LIMIT ?`, [length, from, end, limit])

  const longer = (connection: Statements, { left, length }: ScanState) =>
    Effect.map(
      query<{ readonly length: number | null }>(connection, LONGER, [length]),
      ([row]) => row === undefined || row.length === null ? undefined : { length: row.length, from: prefix, left }
    )

  const page = (state: ScanState): Effect.Effect<Page<NameEntry, ScanState>, StorageFailure> =>
    file.snapshot((connection) =>
      Effect.gen(function*() {
        const limit = matches === undefined ? Math.min(PAGE_ROWS, state.left) : MATCHED_AT_ONCE
        const candidates = yield* candidatesAt(connection, state, limit)
        const fitting = matches === undefined ? candidates : candidates.filter(({ name }) => matches(plain(name)))
        const taken = fitting.slice(0, state.left)
        const rows = (yield* recordsOf(connection, taken)).filter(wanted)
        // Names that were not taken are read again if the height filter leaves room for them.
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

  // Shorter names cannot have the prefix. The start bounds only names of its own length.
  return paged<NameEntry, ScanState>(
    prefix.length > start.length
      ? { length: prefix.length, from: prefix, left: count }
      : { length: start.length, from: laterOf(start, prefix), left: count },
    page
  )
}

const IN_HEIGHTS = "SELECT id, name FROM names WHERE operation >= ? AND operation < ? LIMIT ?"

/** The matching names in order, if so few were updated since `minHeight` that a search by height is best. */
const fewNames = (
  file: NamesReads,
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

const scanFew = (
  file: NamesReads,
  options: ScanOptions,
  few: ReadonlyArray<Candidate>
): Stream.Stream<NameEntry, StorageFailure> => {
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

export const scan = (file: NamesReads, options: ScanOptions): Stream.Stream<NameEntry, StorageFailure> =>
  options.count !== undefined && options.count <= 0
    ? Stream.empty
    : Stream.unwrap(Effect.map(
      fewNames(file, options),
      (few) => few === undefined ? scanByName(file, options) : scanFew(file, options, few)
    ))
