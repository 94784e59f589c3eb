import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { NetworkName } from "../protocol/networks.ts"
import { ExportRefused, type PostgresFailed } from "./failures.ts"
import type { PgConnection } from "./PgConnection.ts"
import { type Migration, MIGRATIONS, SCHEMA_VERSION, textIndex, versionTable } from "./schema.ts"

/** Checks the database, locks a schema, and migrates its tables to this version. */

export interface ExportPosition {
  /** The last block of the tables; -1 before the first. */
  readonly height: number
  readonly cursor: string
  /** Whether the first copy is complete, with names and indexes. */
  readonly complete: boolean
}

/** First number of the advisory lock: "svcd". */
const LOCK = 0x73766364

/** Seconds: the server may not know yet that an exporter was killed. */
const LOCK_SECONDS = 30

const Found = Schema.Struct({ found: Schema.Boolean })

const Database = Schema.Struct({ encoding: Schema.String, plain: Schema.Boolean })

/** Refuses a database that cannot store every name, and a schema name that SQL reserves. */
export const checkDatabase = (
  connection: PgConnection,
  schema: string
): Effect.Effect<void, PostgresFailed | ExportRefused> =>
  Effect.gen(function*() {
    const [database] = yield* connection.rows(
      Database,
      // The server knows the reserved words of its version: it quotes them.
      "SELECT current_setting('server_encoding') AS encoding, quote_ident($1) = $1 AS plain",
      [schema]
    )
    const encoding = database?.encoding ?? "unknown"
    if (encoding !== "UTF8") {
      return yield* new ExportRefused({
        reason: `the encoding of the database is ${encoding}, which cannot store all names: ` +
          "make another with createdb -E UTF8 -T template0 NAME"
      })
    }
    if (database?.plain !== true) {
      return yield* new ExportRefused({
        reason: `${schema} is a reserved word of PostgreSQL: give -schema another name`
      })
    }
  })

export const takeExportLock = (
  connection: PgConnection,
  schema: string,
  { seconds = LOCK_SECONDS }: { readonly seconds?: number | undefined } = {}
): Effect.Effect<void, PostgresFailed | ExportRefused> => {
  const held = new ExportRefused({
    reason: `another svcd-export writes the schema ${schema} of this database: stop it, or give -schema another name`
  })
  const attempt = Effect.filterOrFail(
    connection.rows(Found, "SELECT pg_try_advisory_lock($1, hashtext($2)) AS found", [LOCK, schema]),
    ([row]) => row?.found === true,
    () => held
  )
  return attempt.pipe(
    Effect.retry({
      while: (failure) => failure._tag === "ExportRefused",
      schedule: Schedule.spaced("500 millis"),
      times: 2 * seconds
    }),
    Effect.asVoid
  )
}

const Version = Schema.Struct({ version: Schema.Int })

const versionOf = (connection: PgConnection, schema: string): Effect.Effect<number, PostgresFailed> =>
  Effect.gen(function*() {
    const [table] = yield* connection.rows(Found, "SELECT to_regclass($1) IS NOT NULL AS found", [`${schema}.version`])
    if (table?.found !== true) return 0
    const [row] = yield* connection.rows(Version, `SELECT version FROM ${schema}.version`)
    return row?.version ?? 0
  })

export const versionFault = (
  schema: string,
  version: number,
  { known = SCHEMA_VERSION }: { readonly known?: number } = {}
): ExportRefused | undefined =>
  version <= known ? undefined : new ExportRefused({
    reason: `the schema ${schema} has version ${version}, and this svcd knows versions up to ${known}: ` +
      "update svcd, or export to another schema"
  })

const Position = Schema.Struct({
  network: Schema.String,
  height: Schema.Int,
  cursor: Schema.String,
  complete: Schema.Boolean
})

export interface OpenSchemaOptions {
  readonly schema: string
  readonly network: NetworkName
  /** For tests. */
  readonly migrations?: ReadonlyArray<Migration>
}

export const openSchema = (
  connection: PgConnection,
  { migrations = MIGRATIONS, network, schema }: OpenSchemaOptions
): Effect.Effect<ExportPosition, PostgresFailed | ExportRefused> =>
  Effect.gen(function*() {
    const version = yield* versionOf(connection, schema)
    const known = migrations.length
    const fault = versionFault(schema, version, { known })
    if (fault !== undefined) return yield* fault
    if (version < known) {
      const [namespace] = yield* connection.rows(Found, "SELECT to_regnamespace($1) IS NOT NULL AS found", [schema])
      yield* connection.transaction(Effect.gen(function*() {
        if (namespace?.found !== true) yield* connection.run(`CREATE SCHEMA ${schema}`)
        if (version === 0) yield* connection.run(versionTable(schema))
        for (const statements of migrations.slice(version)) yield* connection.run(...statements(schema))
        yield* connection.run(
          `INSERT INTO ${schema}.version (version) VALUES (${known})
            ON CONFLICT (one) DO UPDATE SET version = excluded.version`
        )
      }))
    }
    yield* connection.set(
      `INSERT INTO ${schema}.cursor
        (network, height, cursor, beginning, complete, daemon_height, synced, proof, checked_at)
        VALUES ($1, -1, '0', -1, false, -1, false, 'work', now()) ON CONFLICT (one) DO NOTHING`,
      [network]
    )
    const [position] = yield* connection.rows(
      Position,
      `SELECT network, height, cursor, complete FROM ${schema}.cursor`
    )
    if (position === undefined) {
      return yield* new ExportRefused({ reason: `${schema}.cursor is empty: drop the schema` })
    }
    if (position.network !== network) {
      return yield* new ExportRefused({
        reason: `the schema ${schema} has the names of ${position.network}, and the daemon is on ${network}: ` +
          "give -schema another name"
      })
    }
    return position
  })

const Extension = Schema.Struct({ schema: Schema.String })

/** Creates the index for texts if the server can; otherwise logs why searches for a text read all names. */
export const ensureTextIndex = (
  connection: PgConnection,
  schema: string
): Effect.Effect<void, PostgresFailed> =>
  Effect.gen(function*() {
    const find = connection.rows(
      Extension,
      `SELECT quote_ident(n.nspname) AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'pg_trgm'`
    )
    let [extension] = yield* find
    if (extension === undefined) {
      const made = yield* Effect.either(connection.run("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
      if (made._tag === "Left") {
        // A server in trouble is not a server without the extension.
        if (made.left.mayPass) return yield* made.left
        return yield* Effect.logWarning("searches for a text read all names: the extension pg_trgm is missing", {
          reason: made.left.reason,
          remedy: "CREATE EXTENSION pg_trgm as a superuser, then start svcd-export again"
        })
      }
      ;[extension] = yield* find
    }
    if (extension === undefined) return
    // This reads all names, so a limit for clients' statements does not fit. Both statements are one transaction, which
    // restores the limit.
    // that the limit comes back.
    const index = `SET LOCAL statement_timeout = 0; ${textIndex({ schema, extension: extension.schema })}`
    yield* Effect.catchAll(connection.run(index), ({ reason }) =>
      Effect.logWarning("searches for a text read all names: their index cannot be made", {
        reason,
        remedy: "it is tried again when svcd-export connects again"
      }))
  })
