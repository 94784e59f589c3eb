import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"

/**
 * - `blocks`: the last blocks that the other tables know, the one of the cursor included. Where the chain does not know
 *   the cursor's block, the newest of these that it knows is where the file goes back to. A file from before this step
 *   gets them with the blocks to come.
 */
export const blocksSchema: Effect.Effect<void, SqlError, SqlClient.SqlClient> = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`CREATE TABLE blocks (height INTEGER PRIMARY KEY, hash BLOB NOT NULL) STRICT`
)
