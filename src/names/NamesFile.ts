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
import { monotonic } from "../base/clock.ts"
import { keepPrivate } from "../base/privateFile.ts"
import { attempt } from "../chain/attempt.ts"
import type { Histogram } from "../metrics/families.ts"
import { nameDbReadLatency, nameDbWriteLatency } from "../metrics/metrics.ts"
import { orNothing } from "../protocol/orNothing.ts"
import { copyWhenDue } from "../storage/copyWhenDue.ts"
import {
  type Database,
  guarded,
  newerFormat,
  newerRemedy,
  PAGE_CACHE_KIB,
  pragmas,
  requireWritable,
  storageFailure
} from "../storage/Database.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { removeDamaged, removeDatabase } from "../storage/inspect.ts"
import { PageGuard } from "../storage/PageGuard.ts"
import { makeRepair, pagesOf, type Repair } from "../storage/repair.ts"
import { EventReads } from "./events/EventReads.ts"
import { LATEST_MIGRATION, migrations } from "./migrations.ts"
import { WrongRow } from "./NameEntry.ts"
import { PastReads } from "./PastReads.ts"
import { PointReads } from "./PointReads.ts"
import { ScriptReads } from "./ScriptReads.ts"
import { SearchReads } from "./search/SearchReads.ts"

/** The remedy for a damaged names.db, which can be rebuilt completely from the blocks. */
const REMEDY = "Stop the node, move the file away and start again: it is rebuilt from the stored blocks"

export interface NamesFileOptions {
  readonly filename: string
  /** A power of two from 512 to 65536 bytes. Only applies to a new file. */
  readonly pageSize: number
}

type Doing = "opening" | "reading" | "writing"

/** What a query needs of a connection. */
export type Statements = Pick<Connection, "execute">

/** Reads of names.db without a connection of the node, as another thread has its own (`openNamesSnapshot`). */
export type NamesReads = Pick<NamesFile, "points" | "search" | "snapshot" | "point">

/** The open names.db. Readers see the old state until the writer commits, and do not wait for it. */
export interface NamesFile {
  readonly reader: SqlClient.SqlClient
  /** Single rows, directly on the driver: a point read takes 5 µs instead of 60 µs through the client. */
  readonly points: PointReads
  /** The operations in chain order, directly on the driver. */
  readonly events: EventReads
  readonly search: SearchReads
  readonly scripts: ScriptReads
  /** The names at the last blocks, directly on the driver. */
  readonly past: PastReads
  /** Runs the writer's statements in one transaction. `rows`: about how many it writes. */
  readonly write: <A>(
    work: (connection: Connection) => Effect.Effect<A, SqlError>,
    rows?: number
  ) => Effect.Effect<A, StorageFailure>
  /** Runs queries of the reader on one state. */
  readonly snapshot: <A>(
    work: (connection: Statements) => Effect.Effect<A, SqlError>
  ) => Effect.Effect<A, StorageFailure>
  readonly reading: <A>(query: Effect.Effect<A, SqlError>) => Effect.Effect<A, StorageFailure>
  readonly point: <A>(work: () => A) => Effect.Effect<A, StorageFailure>
  /** The same without a fiber. `undefined` if the file cannot be read now: `point` reports why. */
  readonly pointNow: <A>(work: () => A) => A | undefined
  /** Converts an error of `points` to a failure. Dies if the file is not the cause. */
  readonly failed: (cause: unknown) => Effect.Effect<never, StorageFailure>
  /** Rebuilds the file. Afterwards `reader`, `points`, `events`, `search`, `scripts` and `past` are new objects. */
  readonly repair: Repair
}

/** Runs a statement inside a transaction. The caller declares the type of the rows, according to the tables. */
export const query = <Row>(
  connection: Statements,
  text: string,
  params: ReadonlyArray<unknown>
): Effect.Effect<ReadonlyArray<Row>, SqlError> => connection.execute(text, params, undefined)

const rootOf = (error: unknown): unknown => {
  let root = error
  while (root instanceof Error && !("code" in root) && root.cause !== undefined) root = root.cause
  return root
}

/** Whether this is the driver's error for a read on a closed connection. */
const isClosed = (root: unknown): boolean =>
  root instanceof TypeError && root.message === "The database connection is not open"

/** Converts an error or defect of a client to a `StorageFailure`. Dies of any other error. */
export const failing = (filename: string, doing: Doing) => (error: unknown): Effect.Effect<never, StorageFailure> =>
  Effect.suspend(() => {
    const root = rootOf(error)
    if (isClosed(root)) {
      return new StorageUnavailable({ file: filename, doing, reason: "the file is damaged and is being rebuilt" })
    }
    return root instanceof WrongRow
      ? new StorageCorrupted({ file: filename, found: root.message, remedy: REMEDY })
      : Effect.fail(storageFailure({ file: filename, doing, remedy: REMEDY })(root))
  })

const timed = <A, E>(latency: Histogram, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const started = monotonic()
    return Effect.ensuring(work, Effect.sync(() => latency.observe((monotonic() - started) / 1000)))
  })

const explained = <A>(
  filename: string,
  doing: Doing,
  work: Effect.Effect<A, SqlError>
): Effect.Effect<A, StorageFailure> => {
  const failed = failing(filename, doing)
  return work.pipe(Effect.catchAll(failed), Effect.catchAllDefect(failed))
}

/**
 * A transaction over several statements. The client's `withTransaction` (@effect/sql 0.52) dies if COMMIT fails, or
 * ROLLBACK because SQLite has already rolled back. Both happen on a full disk, and the reason would be lost.
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

/** Rows of a transaction that changes more pages than the connection caches. */
const MANY_ROWS = 2_000

/** KiB of pages cached for such a transaction, so that each page is written once. */
const BULK_CACHE_KIB = 16_384

/** A transaction of the writer. A large one gets a larger page cache meanwhile. */
const withRoom = <A>(
  writer: SqlClient.SqlClient,
  { rows, work }: {
    readonly rows: number
    readonly work: (connection: Connection) => Effect.Effect<A, SqlError>
  }
): Effect.Effect<A, SqlError> => {
  const written = transaction(writer, "BEGIN IMMEDIATE", work)
  const keep = (kib: number) => writer.unsafe(`PRAGMA cache_size = -${kib}`)
  return rows < MANY_ROWS
    ? written
    : Effect.acquireUseRelease(keep(BULK_CACHE_KIB), () => written, () => Effect.ignore(keep(PAGE_CACHE_KIB)))
}

/** Opens a client. The driver's exceptions become failures. */
const connect = (
  { filename }: NamesFileOptions,
  readonly: boolean
): Effect.Effect<SqlClient.SqlClient, StorageFailure, Scope.Scope> =>
  SqliteClient.make({ filename, readonly, disableWAL: true }).pipe(
    Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make),
    Effect.catchAllDefect(failing(filename, "opening"))
  )

/** Runs pending migrations. Refuses a file with unknown ones. */
const migrate = (filename: string, client: SqlClient.SqlClient): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const unknown = (fault: { readonly found: string; readonly remedy: string }) =>
      new StorageCorrupted({ file: filename, ...fault })
    const tables = yield* client<{ readonly name: string }>`SELECT name FROM sqlite_master WHERE type = 'table'`
    if (tables.length > 0 && !tables.some(({ name }) => name === MIGRATIONS_TABLE)) {
      return yield* unknown({ found: "it is a database of another program", remedy: REMEDY })
    }
    yield* Migrator.make({})({ loader: Migrator.fromRecord(migrations), table: MIGRATIONS_TABLE })
    const [done] = yield* client<{ readonly latest: number }>`
      SELECT max(migration_id) AS latest FROM ${client(MIGRATIONS_TABLE)}`
    const latest = done?.latest ?? 0
    if (latest > LATEST_MIGRATION) {
      return yield* unknown({
        found: newerFormat({ version: latest, known: LATEST_MIGRATION }),
        remedy: newerRemedy(REMEDY)
      })
    }
  }).pipe(
    Effect.provideService(SqlClient.SqlClient, client),
    Effect.catchTags({
      SqlError: failing(filename, "opening"),
      MigrationError: failing(filename, "opening")
    }),
    // The migrator reports a failed step as a defect.
    Effect.catchAllDefect(failing(filename, "opening"))
  )

const MIGRATIONS_TABLE = "effect_sql_migrations"

/** Recognizes a file of a newer version, even if damaged, by its steps 1, 2, 3. A corrupted number breaks them. */
const newerMigrations = (database: SQLite.Database): string | undefined => {
  const done = database.prepare<[], { readonly latest: number; readonly steps: number }>(
    `SELECT max(migration_id) AS latest, count(*) AS steps FROM ${MIGRATIONS_TABLE}`
  ).get()
  return done !== undefined && done.latest > LATEST_MIGRATION && done.steps === done.latest
    ? newerFormat({ version: done.latest, known: LATEST_MIGRATION })
    : undefined
}

const prepare = ({ filename, pageSize }: NamesFileOptions, client: SqlClient.SqlClient) =>
  Effect.forEach(
    pragmas(pageSize),
    (pragma) => client.unsafe(`PRAGMA ${pragma}`),
    { discard: true }
  ).pipe(Effect.catchAll(failing(filename, "opening")))

interface Connections {
  readonly writer: SqlClient.SqlClient
  readonly reader: SqlClient.SqlClient
  readonly points: PointReads
  readonly events: EventReads
  readonly search: SearchReads
  readonly scripts: ScriptReads
  readonly past: () => PastReads
  readonly guard: PageGuard
}

/** A connection directly on the driver. The one that copies the log must not wait for readers, which wait for it. */
export const driver = (
  filename: string,
  options: SQLite.Options
): Effect.Effect<Database, StorageFailure> =>
  Effect.try({
    try: () => new SQLite(filename, options),
    catch: storageFailure({ file: filename, doing: "opening", remedy: REMEDY })
  })

const openConnections = (options: NamesFileOptions): Effect.Effect<Connections, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const { filename, pageSize } = options
    yield* Effect.try({
      try: () => {
        requireWritable(filename)
        keepPrivate(filename)
      },
      catch: storageFailure({ file: filename, doing: "opening", remedy: REMEDY })
    })
    // The guard's connection closes last. It has copied the log, so SQLite has nothing left to copy.
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
        catch: storageFailure({ file: filename, doing: "opening", remedy: REMEDY })
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
      try: () => ({
        points: new PointReads(points),
        events: new EventReads(points),
        search: new SearchReads(points),
        scripts: new ScriptReads(points)
      }),
      catch: storageFailure({ file: filename, doing: "opening", remedy: REMEDY })
    })
    // Few nodes need these statements.
    let past: PastReads | undefined
    return { writer, reader, ...reads, past: () => past ??= new PastReads(points), guard }
  })

/** Opens names.db until the scope closes. Removes a damaged file, as the chain has all its content. */
export const open = (options: NamesFileOptions): Effect.Effect<NamesFile, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { filename } = options
    const inspected = { filename, what: basename(filename), remedy: REMEDY, newer: newerMigrations }
    yield* removeDamaged({ ...inspected, instead: "it is rebuilt from the stored blocks" })

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
        Effect.zipRight(
          attempt(() => guarded({ file: filename, doing: "removing", remedy: REMEDY }, () => removeDatabase(filename)))
        ),
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
    const committed = Effect.suspend(() =>
      copyWhenDue(current.guard, { file: filename, doing: "writing", remedy: REMEDY })
    )
    const timedPoint = <A>(work: () => A): A => {
      const started = monotonic()
      try {
        return work()
      } finally {
        nameDbReadLatency.observe((monotonic() - started) / 1000)
      }
    }
    return {
      get reader() {
        return current.reader
      },
      get points() {
        return current.points
      },
      get events() {
        return current.events
      },
      get search() {
        return current.search
      },
      get scripts() {
        return current.scripts
      },
      get past() {
        return current.past()
      },
      write: (work, rows = 0) =>
        timed(
          nameDbWriteLatency,
          Effect.suspend(() =>
            explained(filename, "writing", withRoom(current.writer, { work, rows })).pipe(
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
          try {
            return Effect.succeed(timedPoint(work))
          } catch (cause) {
            return failed(cause)
          }
        }),
      pointNow: (work) => orNothing(() => timedPoint(work)),
      failed,
      repair
    }
  })
