import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"

/**
 * - `blocks`: the last blocks in the other tables, the cursor's block included. If the chain does not know the cursor's
 *   block, the file rewinds to the newest of these blocks that the chain knows. A file from before this migration gets
 *   them with the next blocks.
 */
export const blocksSchema: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE blocks (height INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT`
)
