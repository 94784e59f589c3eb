import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import type { ConsensusParams } from "../consensus/params.ts"
import { CursorUnusable } from "../names/errors.ts"
import { BEGINNING, blockKey, cursorText, endOf, type EventCursor, MOST_AHEAD } from "../names/events/EventCursor.ts"
import { noticesOf, operationKind } from "../names/events/NameEvent.ts"
import type { EventOptions, EventPage } from "../names/events/NameEvents.ts"
import type { LoggedOperation, OperationLog } from "../names/events/OperationLog.ts"
import { expiredFrom, PAGE_EVENTS, readEvents } from "../names/events/readEvents.ts"
import { undoneEvent } from "../names/events/undone.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import { type Bytes, reversed } from "../protocol/bytes.ts"
import { type Height, nameKey } from "../protocol/keys.ts"
import { bytesOf, idOf, NAME_COLUMNS, nameEntryIn, type OperationLogRow, rowsOf } from "./pgNames.ts"

/**
 * The events of an export equal those of names.db, cursors included, because both come from the same functions
 * (`names/events`). Those functions read a log synchronously, so the data of a page is loaded beforehand.
 */

const PAGE_BLOCKS = 200

/** Approximate limit on the operations read per page. A page with many operations has fewer blocks. */
const MOST_READ = 5_000

interface Place {
  readonly height: Height
  readonly hash: Buffer
  readonly beginning: Height
}

interface PlaceRow extends Place {
  /** The highest block to expect soon; `null` while the daemon is not synced, because any height is possible then. */
  readonly expected: Height | null
}

interface BlockRow {
  readonly height: Height
  readonly hash: Buffer
  readonly operations: number
}

interface UndoneRow {
  readonly hash: Buffer
  readonly height: Height
  readonly parent: Buffer
}

/** An operation with the previous and the next one on the same name. */
interface NeighbourRow extends OperationLogRow {
  readonly before_height: number | null
  readonly before_number: number | null
  readonly before_first: boolean | null
  readonly before_value: Buffer | null
  readonly before_owner: Buffer | null
  readonly before_txid: Buffer | null
  readonly before_vout: number | null
  readonly next_height: number | null
  readonly next_number: number | null
}

/** The tables store hashes in display order. */
const wireHash = (hash: Buffer): Bytes => reversed(bytesOf(hash))

const ENTRY_COLUMNS = `${NAME_COLUMNS}, n.number, n.type = 'registered' AS first`

interface Known extends LoggedOperation {
  readonly next: number | undefined
}

const beforeOf = (row: NeighbourRow): NameEntry | undefined => {
  const { before_height: height, before_number: number, before_owner, before_txid, before_value } = row
  if (height === null || number === null) return undefined
  if (before_owner === null || before_txid === null || before_value === null) return undefined
  return nameEntryIn({
    name: row.name,
    value: before_value,
    owner: before_owner,
    address: null,
    txid: before_txid,
    vout: row.before_vout ?? 0,
    height,
    first: row.before_first === true
  })
}

const knownOf = (row: NeighbourRow): Known => {
  const [record, before] = [nameEntryIn(row), beforeOf(row)]
  return {
    id: idOf(row),
    kind: operationKind(record, before),
    record,
    before,
    next: row.next_height === null || row.next_number === null
      ? undefined
      : idOf({ height: row.next_height, number: row.next_number })
  }
}

const logOf = (
  { beginning, height, hash }: Place,
  operations: ReadonlyArray<Known>,
  below: ReadonlyMap<string, NameEntry> = new Map()
): OperationLog => ({
  last: { height, hash: wireHash(hash) },
  beginning,
  operations: ({ from, to }, { limit }) => operations.filter(({ id }) => id >= from && id < to).slice(0, limit),
  newest: ({ from, to }, asOf) =>
    operations.filter(({ id, next }) => id >= from && id < to && (next === undefined || next >= asOf)),
  recordBelow: (name) => below.get(nameKey(name)),
  count: ({ from, to }) => operations.filter(({ id }) => id >= from && id < to).length
})

/** Both ends are inclusive. */
interface Range {
  readonly from: Height
  readonly to: Height
}

export class PgEvents {
  readonly params: ConsensusParams
  readonly #sql: SqlClient
  readonly #schema: string

  constructor(sql: SqlClient, { params, schema }: { readonly schema: string; readonly params: ConsensusParams }) {
    this.#sql = sql
    this.#schema = schema
    this.params = params
  }

  #rows<A extends object>(statement: string, params: ReadonlyArray<unknown> = []) {
    return rowsOf<A>(this.#sql, statement, params)
  }

  get #place(): Effect.Effect<PlaceRow | undefined, SqlError> {
    return Effect.map(
      this.#rows<PlaceRow>(
        `SELECT b.height, b.hash, c.beginning,
            CASE WHEN c.synced THEN greatest(c.height, c.daemon_height) + ${MOST_AHEAD} END AS expected FROM ${this.#schema}.cursor c
          JOIN ${this.#schema}.blocks b ON b.height = c.height WHERE c.complete`
      ),
      ([place]) => place
    )
  }

  get now(): Effect.Effect<EventCursor, SqlError> {
    return Effect.map(
      this.#place,
      (place) => place === undefined ? BEGINNING : endOf({ height: place.height, hash: wireHash(place.hash) })
    )
  }

  /** Changes with each block, so that readers can poll it. */
  get version(): Effect.Effect<string, SqlError> {
    return Effect.map(
      this.#rows<{ readonly cursor: string }>(`SELECT cursor FROM ${this.#schema}.cursor WHERE complete`),
      ([row]) => row?.cursor ?? ""
    )
  }

  #blocks({ from, to }: Range): Effect.Effect<ReadonlyArray<BlockRow>, SqlError> {
    return this.#rows<BlockRow>(
      `SELECT height, hash, operations FROM ${this.#schema}.blocks WHERE height BETWEEN $1 AND $2 ORDER BY height`,
      [from, to]
    )
  }

  #operations({ from, to }: Range): Effect.Effect<ReadonlyArray<Known>, SqlError> {
    const table = `${this.#schema}.name_operations`
    return Effect.map(
      this.#rows<NeighbourRow>(
        `SELECT ${ENTRY_COLUMNS}, b.height AS before_height, b.number AS before_number,
            b.type = 'registered' AS before_first, b.value AS before_value, b.owner AS before_owner,
            b.txid AS before_txid, b.vout AS before_vout, a.height AS next_height, a.number AS next_number
          FROM ${table} n
          LEFT JOIN LATERAL (SELECT * FROM ${table} p WHERE p.name = n.name AND (p.height, p.number) < (n.height, n.number)
            ORDER BY p.height DESC, p.number DESC LIMIT 1) b ON true
          LEFT JOIN LATERAL (SELECT q.height, q.number FROM ${table} q
            WHERE q.name = n.name AND (q.height, q.number) > (n.height, n.number)
            ORDER BY q.height, q.number LIMIT 1) a ON true
          WHERE n.height BETWEEN $1 AND $2 ORDER BY n.height, n.number`,
        [from, to]
      ),
      (rows) => rows.map(knownOf)
    )
  }

  /** For each shift, the heights of the operations that expire that many blocks after the given blocks. */
  #agedRanges({ from, to }: Range, shifts: ReadonlyArray<number>): ReadonlyArray<Range> {
    return shifts.flatMap((shift) => {
      const heights = Array.from({ length: to - from + 1 }, (_, i) => expiredFrom(from + i + shift, this.params))
      const known = heights.filter((height) => height !== undefined)
      return known.length === 0 ? [] : [{ from: Math.min(...known), to: Math.max(...known) }]
    })
  }

  /** Ends the page early if its own and its expiring operations exceed `MOST_READ`. */
  #endOfPage({ from, to }: Range, shifts: ReadonlyArray<number>): Effect.Effect<Height, SqlError> {
    return Effect.gen(this, function*() {
      const counts = new Map<number, number>()
      for (const aged of this.#agedRanges({ from, to }, shifts)) {
        for (const { height, operations } of yield* this.#blocks(aged)) counts.set(height, operations)
      }
      const own = new Map((yield* this.#blocks({ from, to })).map(({ height, operations }) => [height, operations]))
      let read = 0
      for (let height = from; height <= to; height++) {
        read += own.get(height) ?? 0
        for (const shift of shifts) read += counts.get(expiredFrom(height + shift, this.params) ?? -1) ?? 0
        if (read > MOST_READ) return height
      }
      return to
    })
  }

  /** Follows a cursor whose block is on the chain. */
  #on(
    place: Place,
    from: EventCursor,
    { most = PAGE_EVENTS, notices }: EventOptions
  ): Effect.Effect<EventPage, SqlError> {
    return Effect.gen(this, function*() {
      const first = Math.max(0, from.height)
      const shifts = [0, ...notices ? noticesOf(this.params) : []]
      const range = { from: first, to: Math.min(place.height, first + PAGE_BLOCKS - 1) }
      const to = yield* this.#endOfPage(range, shifts)
      const blocks = new Map((yield* this.#blocks({ from: first, to })).map(({ hash, height }) => [height, hash]))
      if (place.beginning >= 0) {
        for (const { hash, height } of yield* this.#blocks({ from: place.beginning, to: place.beginning })) {
          blocks.set(height, hash)
        }
      }
      const operations = new Map<number, Known>()
      const ranges = [{ from: first, to }, ...this.#agedRanges({ from: first, to }, shifts)]
      for (const each of ranges) for (const known of yield* this.#operations(each)) operations.set(known.id, known)
      const end = blocks.get(to)
      if (end === undefined) return { events: [], next: from, isEnd: true, height: place.height }
      const sorted = [...operations.values()].sort((a, b) => a.id - b.id)
      const log = logOf({ height: to, hash: end, beginning: place.beginning }, sorted)
      const hashAt = (height: Height): Bytes => wireHash(blocks.get(height) ?? end)
      const page = readEvents(log, { params: this.params, hashAt, timeAt: () => 0 }, { from, notices, most })
      return { ...page, isEnd: page.isEnd && to === place.height, height: place.height }
    })
  }

  /** Follows a cursor whose block was undone. */
  #undoing(place: Place, from: EventCursor, block: UndoneRow): Effect.Effect<EventPage, SqlError | CursorUnusable> {
    return Effect.gen(this, function*() {
      const fork = yield* this.#forkOf(block)
      if (fork === undefined) return yield* unusable(from, "pruned")
      const base = Math.min(fork, from.base ?? Infinity)
      const touched = yield* this.#rows<{ readonly name: Buffer; readonly owner: Buffer }>(
        `SELECT name, owner FROM ${this.#schema}.undone_names WHERE hash = $1 ORDER BY number`,
        [block.hash]
      )
      const expired = expiredFrom(block.height, this.params)
      const aged = expired === undefined || expired > base
        ? []
        : yield* this.#operations({ from: expired, to: expired })
      const names = [...touched.map(({ name }) => bytesOf(name)), ...aged.map(({ record }) => record.name)]
      const below = yield* this.#rows<OperationLogRow>(
        `SELECT DISTINCT ON (n.name) ${ENTRY_COLUMNS} FROM ${this.#schema}.name_operations n
          WHERE n.name = ANY($1) AND n.height <= $2 ORDER BY n.name, n.height DESC, n.number DESC`,
        [names.map((name) => Buffer.from(name)), base]
      )
      const records = new Map(below.map((row) => [nameKey(bytesOf(row.name)), nameEntryIn(row)]))
      const event = undoneEvent(logOf(place, aged, records), {
        touched: touched.map(({ name, owner }) => ({ name: bytesOf(name), owner: bytesOf(owner) })),
        params: this.params,
        from,
        at: { hash: wireHash(block.hash), height: block.height },
        parent: { hash: wireHash(block.parent), height: block.height - 1 },
        base
      })
      return { events: [event], next: event.cursor, isEnd: false, height: place.height }
    })
  }

  /** Height of the last block shared with the tables; `undefined` if the tables have dropped a block in between. */
  #forkOf(block: UndoneRow): Effect.Effect<Height | undefined, SqlError> {
    return Effect.map(
      this.#rows<{ readonly fork: Height }>(
        `WITH RECURSIVE way AS (
            SELECT $1::bytea AS parent, $2::int AS height
            UNION ALL
            SELECT u.parent, way.height - 1 FROM way JOIN ${this.#schema}.undone_blocks u ON u.hash = way.parent
              WHERE NOT EXISTS (SELECT 1 FROM ${this.#schema}.blocks b WHERE b.hash = way.parent)
          )
          SELECT way.height - 1 AS fork FROM way JOIN ${this.#schema}.blocks b ON b.hash = way.parent`,
        [block.parent, block.height]
      ),
      ([row]) => row?.fork
    )
  }

  /** Finds the block of a cursor in one of the tables. */
  #blockOf({ block, height }: EventCursor, table: "blocks" | "undone_blocks") {
    const parent = table === "blocks"
      ? `(SELECT p.hash FROM ${this.#schema}.blocks p WHERE p.height = n.height - 1)`
      : "n.parent"
    return Effect.map(
      this.#rows<UndoneRow>(
        `SELECT n.hash, n.height, coalesce(${parent}, '') AS parent FROM ${this.#schema}.${table} n WHERE n.height = $1`,
        [height]
      ),
      (rows) => rows.find(({ hash }) => blockKey(wireHash(hash)) === block)
    )
  }

  #page(from: EventCursor, options: EventOptions): Effect.Effect<EventPage, SqlError | CursorUnusable> {
    return Effect.gen(this, function*() {
      const place = yield* this.#place
      const nothing = { events: [], next: from, isEnd: true, height: place?.height ?? -1 }
      if (place === undefined) return nothing
      const { beginning } = place
      if (from.height < 0) return yield* this.#on(place, from, options)
      if (from.height < beginning) {
        const known = from.base === undefined &&
          (yield* this.#blockOf({ ...from, height: beginning }, "blocks")) !== undefined
        return known ? yield* this.#on(place, from, options) : yield* unusable(from, "early")
      }
      const connected = yield* this.#blockOf(from, "blocks")
      if (connected !== undefined && from.base === undefined) return yield* this.#on(place, from, options)
      const undone = yield* this.#blockOf(from, "undone_blocks")
      if (undone !== undefined) return yield* this.#undoing(place, from, undone)
      // Another replica or the daemon may be ahead of these tables. Or the block was connected again before the reader
      // undid it.
      if (connected === undefined && from.height > place.height) {
        return place.expected !== null && from.height > place.expected ? yield* unusable(from, "future") : nothing
      }
      return yield* unusable(from, "unknown")
    })
  }

  /** Reads a page from a single state of the tables. */
  page(from: EventCursor, options: EventOptions): Effect.Effect<EventPage, SqlError | CursorUnusable> {
    return this.#sql.withTransaction(
      Effect.zipRight(
        this.#rows("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"),
        this.#page(from, options)
      )
    )
  }
}

const unusable = (from: EventCursor, why: CursorUnusable["why"]) =>
  new CursorUnusable({ cursor: cursorText(from), why, oldest: cursorText(BEGINNING) })
