import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Client } from "pg"
import type { CopyRows } from "./CopyRows.ts"
import { ExportRefused, type PostgresFailed, postgresFailed } from "./failures.ts"

/** One connection to PostgreSQL, which holds the lock of an export and does all its writes. */

export interface PgTarget {
  /** `postgres://…`; it may have a password. */
  readonly url: Redacted.Redacted<string>
  /** The server for logs and messages: `host:port/database`, without user and password. */
  readonly shown: string
}

export interface PgConnection {
  /** The rows of one statement. */
  readonly rows: <A, I>(
    schema: Schema.Schema<A, I>,
    statement: string,
    params?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<A>, PostgresFailed>
  /** Runs statements without parameters, one after the other. */
  readonly run: (...statements: ReadonlyArray<string>) => Effect.Effect<void, PostgresFailed>
  /** Runs a statement with parameters. */
  // positional: a statement, then its parameters, as the driver has it
  readonly set: (statement: string, params: ReadonlyArray<unknown>) => Effect.Effect<void, PostgresFailed>
  /** Writes rows into a table. Nothing to write costs nothing. */
  readonly copy: (rows: CopiedRows) => Effect.Effect<void, PostgresFailed>
  /** Runs statements as one transaction. */
  readonly transaction: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E | PostgresFailed>
}

export interface CopiedRows {
  /** `schema.table`, without quotes. */
  readonly table: string
  readonly rows: CopyRows
}

/** Milliseconds that connecting may take. */
const CONNECT_MS = 10_000

/** Seconds after which a silent connection is tested: a server that vanished must not hang the export. */
const SILENCE = 30

/**
 * The server tests the connection too. Otherwise it learns only after hours that a machine is gone without a word, and keeps
 * the lock of the export for as long. A socket within one machine ignores this.
 */
const KEEPALIVE = [
  `SET tcp_keepalives_idle = ${SILENCE}`,
  "SET tcp_keepalives_interval = 10",
  "SET tcp_keepalives_count = 3",
  "SET tcp_user_timeout = 60000"
].join("; ")

const SHARED_POOL =
  "the address is that of a pool that lends each of its connections to many clients, such as PgBouncer with " +
  "pool_mode = transaction: the lock of the export would be lost. Give the address of PostgreSQL itself, or a pool with " +
  "pool_mode = session"

const Backend = Schema.Struct({ pid: Schema.Int })

/** Opens a connection. The scope closes it. */
const openClient = ({ shown, url }: PgTarget): Effect.Effect<Client, PostgresFailed | ExportRefused, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.gen(function*() {
      // It is in the bundle of the program; what prints its help does not load it.
      const { default: pg } = yield* Effect.promise(() => import("pg"))
      const made = yield* Effect.try({
        try: () =>
          new pg.Client({
            connectionString: Redacted.value(url),
            application_name: "svcd-export",
            connectionTimeoutMillis: CONNECT_MS,
            keepAlive: true,
            keepAliveInitialDelayMillis: 1_000 * SILENCE
          }),
        // The driver reads the URL here, and the files with certificates. Its words do not repeat the URL.
        catch: (cause) =>
          new ExportRefused({
            reason: `the URL of the database cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`
          })
      })
      // Without a listener, a connection that breaks between two statements would end the process.
      made.on("error", () => {})
      yield* Effect.tryPromise({ try: () => made.connect(), catch: (cause) => postgresFailed(shown, cause) })
      return made
    }),
    (open) => Effect.ignore(Effect.timeout(Effect.tryPromise(() => open.end()), "1 second"))
  )

/** The process of the server that answers, and the one that it named when the client connected. */
const processesOf = (client: Client, { shown }: PgTarget) =>
  Effect.gen(function*() {
    const failed = (cause: unknown): PostgresFailed => postgresFailed(shown, cause)
    const { rows } = yield* Effect.tryPromise({
      try: () => client.query("SELECT pg_backend_pid() AS pid"),
      catch: failed
    })
    const { pid } = yield* Effect.mapError(Schema.decodeUnknown(Backend)(rows[0]), failed)
    return { pid, named: "processID" in client ? client.processID : undefined }
  })

/**
 * Refuses a pool in which a client has no session of its own. A pool names a process of its own. Two clients that are connected
 * at the same time then have the same process of the server only if the pool lends it to both.
 */
const refuseSharedPool = (client: Client, target: PgTarget): Effect.Effect<void, PostgresFailed | ExportRefused> =>
  Effect.scoped(Effect.gen(function*() {
    const { named, pid } = yield* processesOf(client, target)
    if (named === pid) return
    const other = yield* processesOf(yield* openClient(target), target)
    if (other.pid === pid) return yield* new ExportRefused({ reason: SHARED_POOL })
  }))

/** Connects. The scope disconnects: the server then ends an open transaction, and frees the lock. */
export const connectTo = (
  target: PgTarget
): Effect.Effect<PgConnection, PostgresFailed | ExportRefused, Scope.Scope> =>
  Effect.gen(function*() {
    const failed = (cause: unknown): PostgresFailed => postgresFailed(target.shown, cause)
    // A package in CommonJS: in a bundle of several files it has nothing but its default.
    const { default: { from: copyFrom } } = yield* Effect.promise(() => import("pg-copy-streams"))
    const client = yield* openClient(target)
    yield* refuseSharedPool(client, target)

    const ask = (statement: string, params: ReadonlyArray<unknown>) =>
      Effect.tryPromise({ try: () => client.query(statement, [...params]), catch: failed })

    const run: PgConnection["run"] = (...statements) =>
      Effect.forEach(
        statements,
        (statement) => Effect.tryPromise({ try: () => client.query(statement), catch: failed }),
        {
          discard: true
        }
      )

    yield* run(KEEPALIVE)
    return {
      run,
      rows: (schema, statement, params = []) =>
        Effect.flatMap(
          ask(statement, params),
          ({ rows }) => Effect.mapError(Schema.decodeUnknown(Schema.Array(schema))(rows), failed)
        ),
      set: (statement, params) => Effect.asVoid(ask(statement, params)),
      copy: ({ rows, table }) =>
        rows.isEmpty ? Effect.void : Effect.async<void, PostgresFailed>((resume) => {
          const stream = client.query(copyFrom(`COPY ${table} FROM STDIN (FORMAT binary)`))
          stream.on("error", (cause) => resume(Effect.fail(failed(cause))))
          stream.on("finish", () => resume(Effect.void))
          for (const piece of rows.pieces) stream.write(piece)
          stream.end()
        }),
      transaction: (work) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function*() {
            yield* run("BEGIN")
            const done = yield* restore(work).pipe(
              // A transaction that cannot be rolled back has ended with its connection.
              Effect.onError(() => Effect.ignore(run("ROLLBACK")))
            )
            yield* run("COMMIT")
            return done
          })
        )
    }
  })
