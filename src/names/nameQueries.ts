import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../base/turns.ts"
import { type Bytes, compare, EMPTY } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { prefixEnd, successor } from "./nameChanges.ts"
import {
  firstOperationAt,
  type NameEntry,
  nameEntryOf,
  type NameHistoryEntry,
  type OperationRow,
  plain,
  RECORD_COLUMNS
} from "./NameEntry.ts"
import { type NamesFile, type NamesReads, query } from "./NamesFile.ts"

// Queries over many names, answered in pages with a turn of the event loop between them, so that neither memory nor the
// delay of other tasks depends on the number of names. A page is from one state; later pages include blocks connected
// meanwhile.

export const PAGE_ROWS = 1_000

export type NamedRow = OperationRow & { readonly name: Buffer }

/** The records of rows. Throws `WrongRow`, so use it inside a use of the file. */
export const namedAll = (rows: ReadonlyArray<NamedRow>): ReadonlyArray<NameEntry> =>
  rows.map((row) => nameEntryOf(plain(row.name), row))

/** A page, and the state from which the next page is read; `undefined` after the last. */
export interface Page<A, S> {
  readonly rows: ReadonlyArray<A>
  readonly next: S | undefined
}

export const paged = <A, S>(
  start: S,
  page: (state: S) => Effect.Effect<Page<A, S>, StorageFailure>
): Stream.Stream<A, StorageFailure> =>
  Stream.paginateChunkEffect(start, (state) =>
    Effect.map(
      Effect.zipLeft(page(state), turnOfEventLoop),
      ({ next, rows }) => [Chunk.unsafeFromArray(rows), Option.fromNullable(next)] as const
    ))

export interface ListOptions {
  /** The first name in list order, which need not exist. By default the list starts at its beginning. */
  readonly start?: Bytes | undefined
  /** Maximum names; by default all. */
  readonly count?: number | undefined
}

export const laterOf = (a: Bytes, b: Bytes): Bytes => compare(a, b) < 0 ? b : a

const below = ({ reader }: NamesFile, end: Bytes | undefined): Fragment =>
  end === undefined ? reader`` : reader` AND n.name < ${end}`

/** Names with a prefix, in byte order. */
export const scanByPrefix = (
  file: NamesFile,
  { count = Infinity, prefix, start = EMPTY }: ListOptions & { readonly prefix: Bytes }
): Stream.Stream<NameEntry, StorageFailure> =>
  listed(file, { from: laterOf(prefix, start), left: count }, (from, limit) => {
    const { reader } = file
    return reader<NamedRow>`
      SELECT ${reader.literal(RECORD_COLUMNS)}, n.name FROM names n JOIN operations o ON o.id = n.operation
      WHERE n.name >= ${from}${below(file, prefixEnd(prefix))} ORDER BY n.name LIMIT ${limit}`
  })

/** Names whose last operation pays to a script, in byte order. */
export const byAddress = (
  file: NamesFile,
  address: Bytes,
  { count = Infinity, start = EMPTY }: ListOptions
): Stream.Stream<NameEntry, StorageFailure> =>
  listed(file, { from: start, left: count }, (from, limit) => {
    const { reader } = file
    // IS, because a part of an empty script is NULL.
    return reader<NamedRow>`
      SELECT ${reader.literal(RECORD_COLUMNS)}, n.name FROM names n JOIN operations o ON o.id = n.operation
      WHERE substr(n.address, 4, 8) IS substr(${address}, 4, 8) AND n.address = ${address} AND n.name >= ${from}
      ORDER BY n.name LIMIT ${limit}`
  })

const listed = (
  file: NamesFile,
  start: { readonly from: Bytes; readonly left: number },
  ask: (from: Bytes, limit: number) => Effect.Effect<ReadonlyArray<NamedRow>, SqlError>
): Stream.Stream<NameEntry, StorageFailure> =>
  start.left <= 0 ? Stream.empty : paged(start, ({ from, left }) => {
    const limit = Math.min(PAGE_ROWS, left)
    return Effect.map(file.reading(Effect.map(ask(from, limit), namedAll)), (rows) => {
      const last = rows[rows.length - 1]
      const more = rows.length === limit && left > limit && last !== undefined
      return { rows, next: more ? { from: successor(last.name), left: left - limit } : undefined }
    })
  })

/** Names whose last operation is at height `from` to `to` (inclusive), in operation order. */
export const updatedBetween = (
  file: NamesFile,
  from: Height,
  to: Height
): Stream.Stream<NameEntry, StorageFailure> => {
  const { reader, reading } = file
  return paged(firstOperationAt(from), (first) => {
    const rows = reader<NamedRow>`
      SELECT ${reader.literal(RECORD_COLUMNS)}, n.name FROM names n JOIN operations o ON o.id = n.operation
      WHERE n.operation >= ${first} AND n.operation < ${firstOperationAt(to + 1)}
      ORDER BY n.operation LIMIT ${PAGE_ROWS}`
    return reading(Effect.map(rows, (found) => ({
      rows: namedAll(found),
      next: found.length === PAGE_ROWS ? (found[PAGE_ROWS - 1]?.id ?? first) + 1 : undefined
    })))
  })
}

type HistoryRow = OperationRow & { readonly rand: Buffer | null }

const historyEntry = (name: Bytes, row: HistoryRow): NameHistoryEntry => ({
  ...nameEntryOf(name, row),
  rand: row.rand === null ? undefined : plain(row.rand)
})

/** As in `PointReads`: with `+`, SQLite does not plan the join again for each name. */
const HISTORY = `
  SELECT ${RECORD_COLUMNS}, o.rand FROM names n JOIN operations o ON o.name_id = n.id
  WHERE n.name = +? AND o.id > ? ORDER BY o.id LIMIT ?`

/** All operations on a name, oldest first, from one state; empty for an unknown name. */
export const history = (
  file: Pick<NamesReads, "snapshot">,
  name: Bytes
): Effect.Effect<ReadonlyArray<NameHistoryEntry>, StorageFailure> =>
  file.snapshot((connection) =>
    Effect.gen(function*() {
      const entries: Array<NameHistoryEntry> = []
      for (let after = -1;;) {
        const rows = yield* query<HistoryRow>(connection, HISTORY, [name, after, PAGE_ROWS])
        for (const row of rows) {
          entries.push(historyEntry(name, row))
        }
        const last = rows[rows.length - 1]
        if (last === undefined || rows.length < PAGE_ROWS) return entries
        after = last.id
        yield* turnOfEventLoop
      }
    })
  )

export interface HistoryPage {
  /** The newest first. */
  readonly entries: ReadonlyArray<NameHistoryEntry>
  readonly total: number
}

export interface HistoryRange {
  readonly skip: number
  readonly count: number
}

const NEWEST = `
  SELECT ${RECORD_COLUMNS}, o.rand FROM names n JOIN operations o ON o.name_id = n.id
  WHERE n.name = +? ORDER BY o.id DESC LIMIT ? OFFSET ?`

const TOTAL = "SELECT count(*) AS total FROM names n JOIN operations o ON o.name_id = n.id WHERE n.name = +?"

/** A part of a name's history and its total length, from one state; empty for an unknown name. */
export const historyPage = (
  file: NamesFile,
  name: Bytes,
  { count, skip }: HistoryRange
): Effect.Effect<HistoryPage, StorageFailure> =>
  file.snapshot((connection) =>
    Effect.zipWith(
      query<HistoryRow>(connection, NEWEST, [name, count, skip]),
      query<{ readonly total: number }>(connection, TOTAL, [name]),
      (rows, [counted]) => ({ entries: rows.map((row) => historyEntry(name, row)), total: counted?.total ?? 0 })
    )
  )

export interface NameStats {
  /** Names with a record, including expired ones. */
  readonly names: number
  readonly active: number
  readonly operations: number
  /** Bytes of the file without its log. */
  readonly fileSize: number
}

interface StatsRow extends NameStats {
  readonly hash: Buffer | null
}

/** Counts names and operations. Names updated at or above `oldest` are active. `hash` is of the last block. */
export const statsOf = (
  { reader, reading }: NamesFile,
  oldest: number
): Effect.Effect<{ readonly hash: Bytes; readonly stats: NameStats }, StorageFailure> =>
  reading(Effect.map(
    reader<StatsRow>`
      SELECT (SELECT count(*) FROM names) AS names,
        (SELECT count(*) FROM names WHERE operation >= ${firstOperationAt(Math.max(0, oldest))}) AS active,
        (SELECT count(*) FROM operations) AS operations,
        (SELECT page_count * page_size FROM pragma_page_count, pragma_page_size) AS fileSize,
        (SELECT hash FROM cursor) AS hash`,
    ([row = { names: 0, active: 0, operations: 0, fileSize: 0, hash: null }]) => {
      const { hash, ...stats } = row
      return { hash: hash ?? EMPTY, stats }
    }
  ))
