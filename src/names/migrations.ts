import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { TXID_PART } from "./NameEntry.ts"

/**
 * The first format of names.db.
 *
 * - `operations`: every operation on a name. `id` is height · 2^20 + the number within the block: ids are in chain
 *   order, rows are appended, and a height is a range of ids. `rand` is the salt of a registration, otherwise NULL.
 * - `names`: each name once, with its newest operation, and that operation's owner script for the index. `hash` is the
 *   first 8 bytes of the double SHA-256 of the name. The order by `operation` is the order by update height: expiry.
 * - `cursor`: the last block in the other tables.
 *
 * Computed values are virtual columns: they take no space and can be read with the `sqlite3` program.
 *
 * An index with random keys is slow if it is larger than the page cache. So keys of hashes have 8 bytes, and the reader
 * compares the rest. In a script, bytes 4 to 11 lie within the hash or key of every usual form.
 */
const STATEMENTS = [
  `CREATE TABLE operations (
    id INTEGER PRIMARY KEY,
    height INTEGER GENERATED ALWAYS AS (id >> 20) VIRTUAL,
    name_id INTEGER NOT NULL,
    op TEXT GENERATED ALWAYS AS (iif(rand IS NULL, 'name_update', 'name_firstupdate')) VIRTUAL,
    txid BLOB NOT NULL,
    vout INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    value BLOB NOT NULL,
    address BLOB NOT NULL,
    rand BLOB
  ) STRICT`,
  "CREATE INDEX operations_by_name ON operations (name_id)",
  "CREATE INDEX operations_by_txid ON operations (substr(txid, 1, 8))",
  `CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    operation INTEGER NOT NULL,
    name BLOB NOT NULL,
    length INTEGER GENERATED ALWAYS AS (length(name)) VIRTUAL,
    hash BLOB NOT NULL,
    address BLOB NOT NULL
  ) STRICT`,
  "CREATE UNIQUE INDEX names_by_name ON names (name)",
  "CREATE UNIQUE INDEX names_by_operation ON names (operation)",
  "CREATE INDEX names_by_length ON names (length, name)",
  "CREATE INDEX names_by_hash ON names (hash)",
  "CREATE INDEX names_by_address ON names (substr(address, 4, 8), name)",
  `CREATE TABLE cursor (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    height INTEGER NOT NULL,
    hash BLOB NOT NULL
  ) STRICT`
]

const namesSchema: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.forEach(STATEMENTS, (statement) => sql.unsafe(statement), { discard: true })
)

/**
 * - `blocks`: the last blocks in the other tables, the cursor's block included. If the chain does not know the cursor's
 *   block, the file rewinds to the newest of these blocks that the chain knows. A file from before this migration gets
 *   them with the next blocks.
 */
const blocksSchema: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE blocks (height INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT`
)

/**
 * - `beginning`: the block of the snapshot that the file began with, if it did. Operations up to that height are the last
 *   ones of names that were not expired there; their earlier operations are unknown.
 */
const beginningSchema: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE beginning (one INTEGER PRIMARY KEY CHECK (one = 1), height INTEGER NOT NULL) STRICT`
)

const SEARCH_STATEMENTS = [
  `CREATE TABLE name_keys (
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    name_id INTEGER NOT NULL,
    PRIMARY KEY (key, value, name_id)
  ) STRICT, WITHOUT ROWID`,
  "CREATE INDEX name_keys_by_name ON name_keys (name_id)",
  `CREATE TABLE search (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    operation INTEGER NOT NULL
  ) STRICT`,
  "INSERT INTO search (one, operation) VALUES (1, -1)"
]

/**
 * - `name_keys`: items of the current values by which names are found (`values/searchable.ts`); since migration 7 the
 *   names that they import, too.
 * - `name_text_0`, `name_text_1`, …: FTS5, the text of the names with ids of one range of 2^16; made when needed.
 * - `search`: the last operation in these indexes. A file from before this migration gets them in the background.
 */
const searchSchema: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.forEach(SEARCH_STATEMENTS, (statement) => sql.unsafe(statement), { discard: true })
)

/**
 * `operations_by_txid` in parts of 2^14 blocks, its first column. Hash keys are in random order, so adding to an index
 * over all operations changes pages all over it, more than fit in memory, while a part has few. A file with operations
 * keeps its old index, which the same query uses, as sorting all would delay its start.
 */
const txidParts: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const any = yield* sql`SELECT 1 FROM operations LIMIT 1`
  if (any.length > 0) return
  yield* sql`DROP INDEX operations_by_txid`
  yield* sql.unsafe(`CREATE INDEX operations_by_txid ON operations (${TXID_PART}, substr(txid, 1, 8))`)
})

/** The indexes are built again in the background, for the imports in `name_keys`. Until then they serve as they are. */
const importKeys: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`UPDATE search SET operation = -1`
)

const SCRIPT_STATEMENTS = [
  "ALTER TABLE names ADD COLUMN script BLOB",
  "CREATE INDEX names_by_script ON names (script) WHERE script IS NOT NULL",
  "CREATE INDEX names_without_script ON names (id) WHERE script IS NULL"
]

/**
 * - `script`: the first 8 bytes of the script hash by which Electrum clients find a name (`nameIndexHash`), in digest
 *   order. Names from before this migration get it in the background, and are NULL until then.
 */
const nameScripts: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => Effect.forEach(SCRIPT_STATEMENTS, (statement) => sql.unsafe(statement), { discard: true })
)

/** The migrations from an empty file to the current format, by number and name. A released migration never changes. */
export const migrations: Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient.SqlClient>>> = {
  "0001_names": namesSchema,
  "0002_blocks": blocksSchema,
  // Changes only the number, so that a version without page checksums refuses the file instead of changing it.
  "0003_page_sums": Effect.void,
  "0004_beginning": beginningSchema,
  "0005_search": searchSchema,
  "0006_txid_parts": txidParts,
  "0007_import_keys": importKeys,
  "0008_name_scripts": nameScripts
}

export const LATEST_MIGRATION = Object.keys(migrations).length
