import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { namesSchema } from "./0001_names.ts"
import { blocksSchema } from "./0002_blocks.ts"

/** The steps from an empty file to the present form, by number and name. A step that was released never changes. */
export const migrations: Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient.SqlClient>>> = {
  "0001_names": namesSchema,
  "0002_blocks": blocksSchema,
  // Nothing changes but the number: a version that knows no sums of pages refuses the file, and leaves it alone.
  "0003_page_sums": Effect.void
}

/** The number of the last step that this version knows. */
export const LATEST_MIGRATION = Object.keys(migrations).length
