import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../../base/turns.ts"
import { importedNames, searchPairs, searchTexts } from "../../values/searchable.ts"
import { type MultiRow, runRows } from "../multiRow.ts"
import { IMPORT_KEY, plain } from "../NameEntry.ts"
import { query } from "../NamesFile.ts"
import { rangeOf, textTable } from "./textRange.ts"

// Writes the search indexes of names.db. For every name whose newest operation is up to `search.operation`, they have
// exactly the current state; of later names they may have none or an old one. All statements run inside the caller's
// transaction.

/** Names indexed per turn of the event loop. */
const PIECE = 64

/** Names indexed together with the blocks that changed them. More are left to the background. */
const AT_ONCE = 200

/** Blocks to index at once. More come from an import or sync, which gets the machine for itself. */
export const FEW_BLOCKS = 16

/** Names per background step, for whose end blocks wait. */
const STEP = 500

const CREATE = (table: string) =>
  `CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING fts5(text, content='', contentless_delete=1, detail=none, ` +
  "tokenize='trigram case_sensitive 1')"

interface IndexedRow {
  readonly id: number
  readonly name: Buffer
  readonly value: Buffer
}

const run = (connection: Connection, text: string, params: ReadonlyArray<unknown> = []) =>
  Effect.asVoid(query(connection, text, params))

interface PairRow {
  readonly id: number
  readonly key: string
  readonly value: string
}

const pairsOf = ({ id, value }: IndexedRow): ReadonlyArray<PairRow> => {
  const bytes = plain(value)
  return [
    ...searchPairs(bytes).map((pair) => ({ ...pair, id })),
    ...importedNames(bytes).map((name) => ({ id, key: IMPORT_KEY, value: name }))
  ]
}

const PAIRS: MultiRow<PairRow> = {
  head: "INSERT INTO name_keys (key, value, name_id)",
  tail: "",
  columns: 3,
  cells: ({ id, key, value }, into) => into.push(key, value, id)
}

const textsIn = (table: string): MultiRow<IndexedRow> => ({
  head: `INSERT OR REPLACE INTO ${table} (rowid, text)`,
  tail: "",
  columns: 2,
  cells: ({ id, name, value }, into) => into.push(id, searchTexts(plain(name), plain(value)).join("\n"))
})

const CURRENT = `
  SELECT n.id, n.name, o.value FROM json_each(?) wanted
  JOIN names n ON n.id = wanted.value JOIN operations o ON o.id = n.operation ORDER BY n.id`

const tablesIn = (connection: Connection): Effect.Effect<ReadonlySet<string>, SqlError> =>
  Effect.map(
    query<{ readonly name: string }>(
      connection,
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'name_text_[0-9]*' AND sql LIKE 'CREATE VIRTUAL%'",
      []
    ),
    (found) => new Set(found.map(({ name }) => name))
  )

const byRange = <A>(items: ReadonlyArray<A>, idOf: (item: A) => number): ReadonlyMap<number, ReadonlyArray<A>> => {
  const groups = new Map<number, Array<A>>()
  for (const item of items) {
    const range = rangeOf(idOf(item))
    const group = groups.get(range)
    if (group === undefined) groups.set(range, [item])
    else group.push(item)
  }
  return groups
}

/** Indexes the current state of names and removes missing ones. */
const indexPiece = (connection: Connection, ids: ReadonlyArray<number>): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    const wanted = JSON.stringify(ids)
    const found = yield* query<IndexedRow>(connection, CURRENT, [wanted])
    const tables = yield* tablesIn(connection)
    const known = new Set(found.map(({ id }) => id))
    for (const [range, gone] of byRange(ids.filter((id) => !known.has(id)), (id) => id)) {
      const table = textTable(range)
      if (!tables.has(table)) continue
      yield* run(connection, `DELETE FROM ${table} WHERE rowid IN (SELECT value FROM json_each(?))`, [
        JSON.stringify(gone)
      ])
    }
    for (const [range, group] of byRange(found, ({ id }) => id)) {
      const table = textTable(range)
      if (!tables.has(table)) yield* run(connection, CREATE(table))
      yield* runRows(connection, { statement: textsIn(table), rows: group })
    }
    yield* run(connection, "DELETE FROM name_keys WHERE name_id IN (SELECT value FROM json_each(?))", [wanted])
    yield* runRows(connection, { statement: PAIRS, rows: found.flatMap(pairsOf) })
  })

/** Indexes the current state of names again, after their operations changed. */
export const reindexNames = (connection: Connection, ids: ReadonlyArray<number>): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    for (let from = 0; from < ids.length; from += PIECE) {
      yield* indexPiece(connection, ids.slice(from, from + PIECE))
      yield* turnOfEventLoop
    }
  })

const BEHIND = `
  SELECT id, operation FROM names WHERE operation > (SELECT operation FROM search) ORDER BY operation LIMIT ?`

/** Indexes up to `most` further names in operation order. Returns whether none is left. */
const proceed = (
  connection: Connection,
  most: number,
  whenMore: "index" | "leave"
): Effect.Effect<boolean, SqlError> =>
  Effect.gen(function*() {
    const behind = yield* query<{ readonly id: number; readonly operation: number }>(connection, BEHIND, [most + 1])
    const isRest = behind.length <= most
    const taken = behind.slice(0, most)
    const last = taken[taken.length - 1]
    if (last === undefined) return true
    if (!isRest && whenMore === "leave") return false
    yield* reindexNames(connection, taken.map(({ id }) => id))
    yield* run(connection, "UPDATE search SET operation = ?", [last.operation])
    return isRest
  })

/**
 * After new blocks: brings the indexes to the same block, unless there were many blocks or too many names are missing,
 * which is left to the background. Returns whether the indexes have all names.
 */
export const keepUp = (connection: Connection, blocks: number): Effect.Effect<boolean, SqlError> =>
  blocks > FEW_BLOCKS ? Effect.succeed(false) : proceed(connection, AT_ONCE, "leave")

export const buildFurther = (connection: Connection): Effect.Effect<boolean, SqlError> =>
  proceed(connection, STEP, "index")

/** The names with operations from a number on. Read before these operations are removed. */
export const namesFrom = (connection: Connection, operation: number): Effect.Effect<ReadonlyArray<number>, SqlError> =>
  Effect.map(
    query<{ readonly id: number }>(
      connection,
      "SELECT DISTINCT name_id AS id FROM operations WHERE id >= ?",
      [operation]
    ),
    (found) => found.map(({ id }) => id)
  )

/** After a rewind: nothing above its end is indexed any more. */
export const endAt = (connection: Connection, end: number): Effect.Effect<void, SqlError> =>
  run(connection, "UPDATE search SET operation = min(operation, ?)", [end - 1])

/** Empties the indexes; the background rebuilds them. */
export const emptySearch = (connection: Connection): Effect.Effect<void, SqlError> =>
  Effect.gen(function*() {
    for (const table of yield* tablesIn(connection)) yield* run(connection, `DROP TABLE ${table}`)
    yield* run(connection, "DELETE FROM name_keys")
    yield* run(connection, "UPDATE search SET operation = -1")
  })
