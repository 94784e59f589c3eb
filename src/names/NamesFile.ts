import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import SQLite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { basename } from "node:path"
import { keepPrivate } from "../base/privateFile.ts"
import { attempt } from "../chain/attempt.ts"
import type { Histogram } from "../metrics/families.ts"
import { nameDbReadLatency, nameDbWriteLatency } from "../metrics/metrics.ts"
import { guarded, newerFormat, newerRemedy, pragmas, requireWritable, storageFailure } from "../storage/Database.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { removeDamaged, removeDatabase } from "../storage/inspect.ts"
import { PageGuard } from "../storage/PageGuard.ts"
import { makeRepair, pagesOf, type Repair } from "../storage/repair.ts"
import { LATEST_MIGRATION, migrations } from "./migrations/all.ts"
import { WrongRow } from "./NameRecord.ts"
import { PointReads } from "./PointReads.ts"

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
  readonly points: PointReads
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
  /** How the file is made anew: `reader` and `points` are others then. */
  readonly repair: Repair
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

/** The error of the driver for a read on a closed connection. */
const isClosed = (root: unknown): boolean =>
  root instanceof TypeError && root.message === "The database connection is not open"

/** Turns whatever a client failed or died of into what happened to the file; dies of anything else. */
const failing = (filename: string, doing: Doing) => (error: unknown): Effect.Effect<never, StorageFailure> =>
  Effect.suspend(() => {
    const root = rootOf(error)
    if (isClosed(root)) {
      return new StorageUnavailable({ file: filename, doing, reason: "the file is damaged, and is made anew just now" })
    }
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
    if (latest > LATEST_MIGRATION) return yield* unknown(newerFormat(latest, LATEST_MIGRATION), newerRemedy(REMEDY))
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

/** Tells a damaged file of a newer version: its steps are numbered from 1 on, which a changed number is not. */
const newerMigrations = (database: SQLite.Database): string | undefined => {
  const done = database.prepare<[], { readonly latest: number; readonly steps: number }>(
    `SELECT max(migration_id) AS latest, count(*) AS steps FROM ${MIGRATIONS_TABLE}`
  ).get()
  return done !== undefined && done.latest > LATEST_MIGRATION && done.steps === done.latest
    ? newerFormat(done.latest, LATEST_MIGRATION)
    : undefined
}

const prepare = ({ filename, pageSize }: NamesFileOptions, client: SqlClient.SqlClient) =>
  Effect.forEach(
    pragmas(pageSize),
    (pragma) => client.unsafe(`PRAGMA ${pragma}`),
    { discard: true }
  ).pipe(Effect.catchAll(failing(filename, "opening")))

/** The connections to the file. */
interface Connections {
  readonly writer: SqlClient.SqlClient
  readonly reader: SqlClient.SqlClient
  readonly points: PointReads
  readonly guard: PageGuard
}

/** A connection straight on the driver. One that copies the log is not to wait for readers: they wait for it. */
const driver = (filename: string, options: SQLite.Options) =>
  Effect.try({
    try: () => new SQLite(filename, options),
    catch: storageFailure(filename, "opening", REMEDY)
  })

/** Opens the file and brings it to its present form. */
const openConnections = (options: NamesFileOptions): Effect.Effect<Connections, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const { filename, pageSize } = options
    yield* Effect.try({
      try: () => {
        requireWritable(filename)
        keepPrivate(filename)
      },
      catch: storageFailure(filename, "opening", REMEDY)
    })
    // The guard's connection is closed last, when it has copied the log and there is nothing left for SQLite to copy.
    const keeper = yield* driver(filename, { timeout: 0 })
    const guard = yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          try {
            for (const pragma of pragmas(pageSize)) keeper.pragma(pragma)
            return new PageGuard(filename, keeper)
          } catch (cause) {
            keeper.close()
            throw cause
          }
        },
        catch: storageFailure(filename, "opening", REMEDY)
      }),
      (guard) => Effect.sync(() => guard.close())
    )
    const writer = yield* connect(options, false)
    yield* prepare(options, writer)
    yield* migrate(filename, writer)
    const reader = yield* connect(options, true)
    const points = yield* Effect.acquireRelease(
      driver(filename, { readonly: true }),
      (database) => Effect.sync(() => database.close())
    )
    yield* Effect.annotateLogs(Effect.logDebug("database opened", { file: filename }), "subsystem", "storage")
    const reads = yield* Effect.try({
      try: () => new PointReads(points),
      catch: storageFailure(filename, "opening", REMEDY)
    })
    return { writer, reader, points: reads, guard }
  })

/** Opens names.db for as long as the scope lives; one that is damaged is removed, since the chain has all of it. */
export const open = (options: NamesFileOptions): Effect.Effect<NamesFile, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { filename } = options
    const inspected = { filename, what: basename(filename), remedy: REMEDY, newer: newerMigrations }
    yield* removeDamaged({ ...inspected, instead: "it is made anew from the stored blocks" })

    const opening = Effect.gen(function*() {
      const scope = yield* Scope.make()
      const connections = yield* openConnections(options).pipe(
        Scope.extend(scope),
        Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
      )
      return { ...connections, close: Scope.close(scope, Exit.void) }
    }).pipe(Effect.uninterruptible)
    let current = yield* opening
    yield* Effect.addFinalizer(() => Effect.suspend(() => current.close))
    const repair = yield* makeRepair(
      inspected,
      Effect.suspend(() => current.close).pipe(
        Effect.zipRight(attempt(() => guarded(filename, "removing", REMEDY, () => removeDatabase(filename)))),
        Effect.zipRight(opening),
        Effect.map((opened) => void (current = opened)),
        Effect.uninterruptible
      )
    )
    const health = yield* DataHealth
    yield* health.register(pagesOf(inspected, () => current.guard, repair.noticed))

    const noticing = <A>(use: Effect.Effect<A, StorageFailure>): Effect.Effect<A, StorageFailure> =>
      Effect.tapError(use, repair.noticed)
    const failed = (cause: unknown) => noticing(failing(filename, "reading")(cause))
    const committed = attempt(() => guarded(filename, "writing", REMEDY, () => current.guard.committed()))
    return {
      get reader() {
        return current.reader
      },
      get points() {
        return current.points
      },
      write: (work) =>
        timed(
          nameDbWriteLatency,
          Effect.suspend(() =>
            explained(filename, "writing", transaction(current.writer, "BEGIN IMMEDIATE", work)).pipe(
              Effect.zipLeft(committed),
              noticing
            )
          )
        ),
      snapshot: (work) =>
        timed(
          nameDbReadLatency,
          Effect.suspend(() => noticing(explained(filename, "reading", transaction(current.reader, "BEGIN", work))))
        ),
      reading: (query) => timed(nameDbReadLatency, noticing(explained(filename, "reading", query))),
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
      failed,
      repair
    }
  })
