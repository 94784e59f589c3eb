import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { nameIndexHash } from "../protocol/nameOperation.ts"
import { type MultiRow, runRows } from "./multiRow.ts"
import { hashKey } from "./NameEntry.ts"
import { query } from "./NamesFile.ts"

/** Names per background step, for whose end blocks wait. */
const STEP = 2_000

interface BareName {
  readonly id: number
  readonly name: Buffer
}

const SET_SCRIPTS: MultiRow<BareName> = {
  head: "WITH given (id, script) AS (",
  tail: ") UPDATE names SET script = given.script FROM given WHERE names.id = given.id",
  columns: 2,
  cells: ({ id, name }, into) => into.push(id, hashKey(nameIndexHash(name)))
}

/** Gives script hashes to names of an older file. Returns whether all have one. */
export const fillScripts = (connection: Connection): Effect.Effect<boolean, SqlError> =>
  Effect.gen(function*() {
    const bare = yield* query<BareName>(
      connection,
      "SELECT id, name FROM names WHERE script IS NULL ORDER BY id LIMIT ?",
      [STEP]
    )
    yield* runRows(connection, { statement: SET_SCRIPTS, rows: bare })
    return bare.length < STEP
  })
