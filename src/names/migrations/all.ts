import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { namesSchema } from "./0001_names.ts"
import { blocksSchema } from "./0002_blocks.ts"

/** The migrations from an empty file to the current format, by number and name. A released migration never changes. */
export const migrations: Readonly<Record<string, Effect.Effect<void, SqlError, SqlClient.SqlClient>>> = {
  "0001_names": namesSchema,
  "0002_blocks": blocksSchema,
  // Changes only the number: a version without page sums refuses the file and does not change it.
  "0003_page_sums": Effect.void
}

export const LATEST_MIGRATION = Object.keys(migrations).length
