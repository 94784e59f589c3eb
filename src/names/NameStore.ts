import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turns.ts"
import type { Cursor } from "../chain/write/Follower.ts"
import { hash256 } from "../protocol/hash.ts"
import { type Height, nameKey } from "../protocol/keys.ts"
import { nameIndexHash } from "../protocol/nameOperation.ts"
import { type MultiRow, runRows } from "./multiRow.ts"
import type { NameBatch, NumberedEffect, StoredEffect } from "./nameChanges.ts"
import { firstOperationAt, hashKey, plain } from "./NameEntry.ts"
import { query, type Statements } from "./NamesFile.ts"
import { emptySearch, endAt, namesFrom, reindexNames } from "./search/SearchWriter.ts"

/** The writes to names.db, all inside a transaction of the writer. */

/** Operations that a rewind removes per turn of the event loop. */
const REWIND_ROWS = 2_000

const UPSERT_NAMES: MultiRow<NumberedEffect> = {
  head: "INSERT INTO names (operation, name, hash, address, script)",
  tail:
    "ON CONFLICT (name) DO UPDATE SET operation = excluded.operation, address = excluded.address RETURNING id, operation",
  columns: 5,
  cells: ({ effect: { address, name }, id }, into) =>
    into.push(id, name, hashKey(hash256(name)), address, hashKey(nameIndexHash(name)))
}

/** `nameIdOf`: the number of the name that an operation sets. */
const insertOperations = (
  nameIdOf: (id: number, effect: StoredEffect) => number
): MultiRow<NumberedEffect> => ({
  head: "INSERT INTO operations (id, name_id, txid, vout, amount, value, address, rand)",
  tail: "",
  columns: 8,
  cells: ({ effect, id }, into) => {
    const { address, operation, transaction, value, vout } = effect
    const rand = operation.op === "name_firstupdate" ? operation.rand : null
    into.push(id, nameIdOf(id, effect), transaction.txid, vout, value, operation.value, address, rand)
  }
})

interface CursorRow {
  readonly height: Height
  readonly hash: Buffer
}

/** The last block in the tables; `undefined` if they are new. */
export const readCursor = (connection: Statements): Effect.Effect<Cursor | undefined, SqlError> =>
  Effect.map(
    query<CursorRow>(connection, "SELECT height, hash FROM cursor", []),
    ([row]) => row === undefined ? undefined : { height: row.height, hash: plain(row.hash) }
  )

const writeCursor = (connection: Connection, { hash, height }: Cursor) =>
  query(connection, "INSERT OR REPLACE INTO cursor (one, height, hash) VALUES (1, ?, ?)", [height, hash])

/** Recent blocks with stored hashes: at least the depth of any reorg in practice. */
const KEPT_BLOCKS = 300

const INSERT_BLOCKS: MultiRow<Cursor> = {
  head: "INSERT OR REPLACE INTO blocks (height, hash)",
  tail: "",
  columns: 2,
  cells: ({ hash, height }, into) => into.push(height, hash)
}

export const readTrail = (connection: Statements): Effect.Effect<ReadonlyArray<Cursor>, SqlError> =>
  Effect.map(
    query<CursorRow>(connection, "SELECT height, hash FROM blocks ORDER BY height DESC", []),
    (rows) => rows.map(({ hash, height }) => ({ height, hash: plain(hash) }))
  )

/** Stores operations. Each name is written once, even if it changed several times. */
const storeOperations = (
  connection: Connection,
  { latest, operations }: NameBatch
): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const ids = new Map<number, number>()
    const remember = ({ id, operation }: { readonly id: number; readonly operation: number }) =>
      void ids.set(operation, id)
    yield* runRows(connection, { statement: UPSERT_NAMES, rows: [...latest.values()], use: remember })
    const nameIdOf = (id: number, { height, name }: StoredEffect): number => {
      // The last operation on a name needs no lookup by name.
      const nameId = ids.get(id) ?? ids.get(latest.get(nameKey(name))?.id ?? -1)
      if (nameId === undefined) throw new Error(`a name of height ${height} was not stored`)
      return nameId
    }
    yield* runRows(connection, { statement: insertOperations(nameIdOf), rows: operations })
  })

/** Applies the effects of blocks and stores the blocks. */
export const applyBatch = (
  connection: Connection,
  batch: NameBatch,
  blocks: readonly [Cursor, ...ReadonlyArray<Cursor>]
): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    yield* storeOperations(connection, batch)
    const to = blocks[blocks.length - 1] ?? blocks[0]
    yield* runRows(connection, { statement: INSERT_BLOCKS, rows: blocks.slice(-KEPT_BLOCKS) })
    yield* query(connection, "DELETE FROM blocks WHERE height <= ?", [to.height - KEPT_BLOCKS])
    yield* writeCursor(connection, to)
  })

/** The height of the block where the histories begin; `undefined` for genesis. */
export const readBeginning = (connection: Statements): Effect.Effect<Height | undefined, SqlError> =>
  Effect.map(
    query<{ readonly height: Height }>(connection, "SELECT height FROM beginning", []),
    ([row]) => row?.height
  )

const EMPTY_ALL = ["operations", "names", "blocks", "cursor", "beginning"].map((table) => `DELETE FROM ${table}`)

/** Empties all tables for names that begin at a block. */
export const beginAt = (connection: Connection, at: Cursor): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    for (const statement of EMPTY_ALL) yield* query(connection, statement, [])
    yield* emptySearch(connection)
    yield* query(connection, "INSERT INTO beginning (one, height) VALUES (1, ?)", [at.height])
    yield* runRows(connection, { statement: INSERT_BLOCKS, rows: [at] })
    yield* writeCursor(connection, at)
  })

export const addNames = (
  connection: Connection,
  operations: ReadonlyArray<NumberedEffect>
): Effect.Effect<void, SqlError> =>
  storeOperations(connection, {
    operations,
    latest: new Map(operations.map((each) => [nameKey(each.effect.name), each]))
  })

/** Removes the operations from a number on. A name gets its previous operation, or is deleted without one. */
const TAKE_BACK = [
  `DELETE FROM names
   WHERE id IN (SELECT name_id FROM operations WHERE id >= @from)
     AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.name_id = names.id AND o.id < @from)`,
  `UPDATE names
   SET (operation, address) = (
     SELECT o.id, o.address FROM operations o WHERE o.name_id = names.id AND o.id < @from ORDER BY o.id DESC LIMIT 1
   )
   WHERE id IN (SELECT name_id FROM operations WHERE id >= @from)`,
  "DELETE FROM operations WHERE id >= @from"
]

/** Selects the first operation of a piece of a rewind, which begins with the last operations. */
const PIECE = `SELECT id FROM operations WHERE id >= ? ORDER BY id DESC LIMIT 1 OFFSET ${REWIND_ROWS - 1}`

export const rewindTo = (connection: Connection, to: Cursor): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const end = firstOperationAt(to.height + 1)
    for (let from = Infinity; from > end;) {
      const rows = yield* query<{ readonly id: number }>(connection, PIECE, [end])
      from = rows[0]?.id ?? end
      const touched = yield* namesFrom(connection, from)
      for (const step of TAKE_BACK) yield* query(connection, step, [{ from }])
      yield* reindexNames(connection, touched)
      yield* turnOfEventLoop
    }
    yield* endAt(connection, end)
    yield* query(connection, "DELETE FROM blocks WHERE height > ?", [to.height])
    yield* runRows(connection, { statement: INSERT_BLOCKS, rows: [to] })
    yield* writeCursor(connection, to)
  })
