import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import SQLite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { keepPrivate } from "../base/privateFile.ts"
import type { Histogram } from "../metrics/families.ts"
import { nameDbReadLatency, nameDbWriteLatency } from "../metrics/metrics.ts"
import { type Database, requireWritable, storageFailure } from "../storage/Database.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { LATEST_MIGRATION, migrations } from "./migrations/all.ts"
import { WrongRow } from "./NameRecord.ts"

/** What an operator can do about a damaged names.db: nothing in it is lost with it. */
const REMEDY = "Stop the node, move the file away and start again: it is rebuilt from the stored blocks"

export interface NamesFileOptions {
  readonly filename: string
  /** Bytes; a power of two from 512 to 65536. Takes effect where the file is new. */
  readonly pageSize: number
}

/** Who uses SQLite says what it is doing, for the message. */
type Doing = "opening" | "reading" | "writing"

/**
 * names.db, open. Readers do not wait for the writer's transaction: they see what was there before it, until it is
 * committed.
 */
export interface NamesFile {
  /** For what is asked of many rows at once. */
  readonly reader: SqlClient.SqlClient
  /** For single rows, straight on the driver: a point read takes 5 µs here and 60 µs through the client. */
  readonly points: Database
  /** Runs statements of the writer as one transaction: all of them, or none. */
  readonly write: <A>(work: (connection: Connection) => Effect.Effect<A, SqlError>) => Effect.Effect<A, StorageFailure>
  /** Runs queries of the reader on one state. */
  readonly snapshot: <A>(
    work: (connection: Connection) => Effect.Effect<A, SqlError>
  ) => Effect.Effect<A, StorageFailure>
  /** Makes a failing query say what happened to which file. */
  readonly reading: <A>(query: Effect.Effect<A, SqlError>) => Effect.Effect<A, StorageFailure>
  /** Runs synchronous work on `points`. */
  readonly point: <A>(work: () => A) => Effect.Effect<A, StorageFailure>
  /** Fails with what happened to the file when a read of `points` threw this; dies of what is no fault of the file. */
  readonly failed: (cause: unknown) => Effect.Effect<never, StorageFailure>
}

/** Runs a statement inside of a transaction. The caller states the shape of the rows, which is that of the tables. */
export const query = <Row>(
  connection: Connection,
  text: string,
  params: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<Row>, SqlError> => connection.execute(text, params, undefined)

/** What SQLite itself said, under whatever it was wrapped in. */
const rootOf = (error: unknown): unknown => {
  let root = error
  while (root instanceof Error && !("code" in root) && root.cause !== undefined) root = root.cause
  return root
}

/** Turns whatever a client failed or died of into what happened to the file; dies of anything else. */
const failing = (filename: string, doing: Doing) => (error: unknown): Effect.Effect<never, StorageFailure> =>
  Effect.suspend(() => {
    const root = rootOf(error)
    return root instanceof WrongRow
      ? new StorageCorrupted({ file: filename, found: root.message, remedy: REMEDY })
      : Effect.fail(storageFailure(filename, doing, REMEDY)(root))
  })

/** Measures how long a use of the file takes, whatever comes of it. */
const timed = <A, E>(latency: Histogram, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const started = performance.now()
    return Effect.ensuring(work, Effect.sync(() => latency.observe((performance.now() - started) / 1000)))
  })

/** Makes a use of the file fail with what happened to it. */
const explained = <A>(
  filename: string,
  doing: Doing,
  work: Effect.Effect<A, SqlError>
): Effect.Effect<A, StorageFailure> => {
  const failed = failing(filename, doing)
  return work.pipe(Effect.catchAll(failed), Effect.catchAllDefect(failed))
}

/**
 * A transaction over several statements. The client's own `withTransaction` (@effect/sql 0.52) dies of a COMMIT that
 * fails, and of the ROLLBACK that fails because SQLite has rolled back already; both is what a full disk leads to, and
 * the reason would be lost.
 */
const transaction = <A>(
  client: SqlClient.SqlClient,
  begin: "BEGIN" | "BEGIN IMMEDIATE",
  work: (connection: Connection) => Effect.Effect<A, SqlError>
): Effect.Effect<A, SqlError> =>
  Effect.scoped(Effect.flatMap(client.reserve, (connection) => {
    const run = (statement: string) => query(connection, statement, [])
    return Effect.uninterruptibleMask((restore) =>
      run(begin).pipe(
        Effect.zipRight(restore(work(connection))),
        Effect.zipLeft(run("COMMIT")),
        Effect.onExit((exit) => Exit.isSuccess(exit) ? Effect.void : Effect.ignore(run("ROLLBACK")))
      )
    )
  }))

/** A client, and the failures of its opening as values: the driver throws them. */
const connect = (
  { filename }: NamesFileOptions,
  readonly: boolean
): Effect.Effect<SqlClient.SqlClient, StorageFailure, Scope.Scope> =>
  SqliteClient.make({ filename, readonly, disableWAL: true }).pipe(
    Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make),
    Effect.catchAllDefect((cause) =>
      // Where the folder is missing, the driver throws an error of its own, without a code.
      cause instanceof TypeError
        ? Effect.fail(new StorageUnavailable({ file: filename, doing: "opening", reason: cause.message }))
        : failing(filename, "opening")(cause)
    )
  )

/** Runs the steps that the file has not seen yet, and refuses a file that this version does not know. */
const migrate = (filename: string, client: SqlClient.SqlClient): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const unknown = (found: string, remedy: string) => new StorageCorrupted({ file: filename, found, remedy })
    const tables = yield* client<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
    if (tables.length > 0 && !tables.some(({ name }) => name === MIGRATIONS_TABLE)) {
      return yield* unknown("it is a database of something else", REMEDY)
    }
    yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: MIGRATIONS_TABLE })
    const [done] = yield* client<{ readonly latest: number }>`
      SELECT max(migration_id) AS latest FROM ${client(MIGRATIONS_TABLE)}`
    const latest = done?.latest ?? 0
    if (latest <= LATEST_MIGRATION) return
    return yield* unknown(
      `its format is ${latest}, this version of svcd knows formats up to ${LATEST_MIGRATION}`,
      `Use the version of svcd that made it, or: ${REMEDY}`
    )
  }).pipe(
    Effect.provideService(SqlClient.SqlClient, client),
    Effect.catchTags({
      SqlError: failing(filename, "opening"),
      MigrationError: failing(filename, "opening")
    }),
    // A step that fails is a defect to the migrator.
    Effect.catchAllDefect(failing(filename, "opening"))
  )

const MIGRATIONS_TABLE = "effect_sql_migrations"

/** Largest write-ahead log that is kept, in bytes. It is copied into the file at a quarter of this. */
const LOG_BYTES = 64 * 1024 * 1024

const prepare = ({ filename, pageSize }: NamesFileOptions, client: SqlClient.SqlClient) =>
  Effect.forEach([
    // The page size is fixed by the first write, and switching to WAL is a write.
    `PRAGMA page_size = ${pageSize}`,
    "PRAGMA journal_mode = WAL",
    // What a power cut takes away is rebuilt from the blocks; a killed process loses nothing.
    "PRAGMA synchronous = NORMAL",
    "PRAGMA temp_store = MEMORY",
    `PRAGMA journal_size_limit = ${LOG_BYTES}`,
    `PRAGMA wal_autocheckpoint = ${Math.ceil(LOG_BYTES / 4 / pageSize)}`
  ], (pragma) =>
    client.unsafe(pragma), { discard: true }).pipe(Effect.catchAll(failing(filename, "opening")))

/** Opens names.db for as long as the scope lives, and brings it to its present form. */
export const open = (options: NamesFileOptions): Effect.Effect<NamesFile, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const { filename } = options
    yield* Effect.try({
      try: () => {
        requireWritable(filename)
        keepPrivate(filename)
      },
      catch: storageFailure(filename, "opening", REMEDY)
    })
    // The writer is closed last: it then folds the log into the file.
    const writer = yield* connect(options, false)
    yield* prepare(options, writer)
    yield* migrate(filename, writer)
    const reader = yield* connect(options, true)
    const points = yield* Effect.acquireRelease(
      Effect.try({
        try: () => new SQLite(filename, { readonly: true }),
        catch: storageFailure(filename, "opening", REMEDY)
      }),
      (database) => Effect.sync(() => database.close())
    )
    const failed = failing(filename, "reading")
    yield* Effect.annotateLogs(Effect.logDebug("database opened", { file: filename }), "subsystem", "storage")
    return {
      reader,
      points,
      write: (work) =>
        timed(nameDbWriteLatency, explained(filename, "writing", transaction(writer, "BEGIN IMMEDIATE", work))),
      snapshot: (work) => timed(nameDbReadLatency, explained(filename, "reading", transaction(reader, "BEGIN", work))),
      reading: (query) => timed(nameDbReadLatency, explained(filename, "reading", query)),
      point: (work) =>
        Effect.suspend(() => {
          const started = performance.now()
          try {
            return Effect.succeed(work())
          } catch (cause) {
            return failed(cause)
          } finally {
            nameDbReadLatency.observe((performance.now() - started) / 1000)
          }
        }),
      failed
    }
  })
