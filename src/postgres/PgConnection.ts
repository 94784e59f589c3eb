import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { Client } from "pg"
import type { CopyRows } from "./CopyRows.ts"
import { ExportRefused, type PostgresFailed, postgresFailed } from "./failures.ts"

/** One connection that holds the lock of an export and does all its writes. */

export interface PgTarget {
  /** `postgres://…`, possibly with a password. */
  readonly url: Redacted.Redacted<string>
  /** For logs and messages: `host:port/database`. */
  readonly shown: string
}

export interface PgConnection {
  readonly rows: <A, I>(
    schema: Schema.Schema<A, I>,
    statement: string,
    params?: ReadonlyArray<unknown>
  ) => Effect.Effect<ReadonlyArray<A>, PostgresFailed>
  /** Without parameters, one after the other. */
  readonly run: (...statements: ReadonlyArray<string>) => Effect.Effect<void, PostgresFailed>
  // positional: a statement, then its parameters, as the driver has it
  readonly set: (statement: string, params: ReadonlyArray<unknown>) => Effect.Effect<void, PostgresFailed>
  readonly copy: (rows: CopiedRows) => Effect.Effect<void, PostgresFailed>
  readonly transaction: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E | PostgresFailed>
}

export interface CopiedRows {
  /** `schema.table`, without quotes. */
  readonly table: string
  readonly rows: CopyRows
}

/** Milliseconds. */
const CONNECT_MS = 10_000

/** Seconds after which a silent connection is tested: a vanished server must not hang the export. */
const SILENCE = 30

/** Otherwise the server keeps the export lock of a vanished client for hours. Ignored by local sockets. */
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

const openClient = ({ shown, url }: PgTarget): Effect.Effect<Client, PostgresFailed | ExportRefused, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.gen(function*() {
      // Bundled, but not needed to print help.
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
        // The driver reads the URL and certificate files here. Its messages do not repeat the URL.
        catch: (cause) =>
          new ExportRefused({
            reason: `the URL of the database cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`
          })
      })
      // Otherwise a connection that breaks between two statements would end the process.
      made.on("error", () => {})
      yield* Effect.tryPromise({ try: () => made.connect(), catch: (cause) => postgresFailed(shown, cause) })
      return made
    }),
    (open) => Effect.ignore(Effect.timeout(Effect.tryPromise(() => open.end()), "1 second"))
  )

/** The answering server process, and the one named at connection. */
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
 * Refuses a pool that gives clients no session of their own. A pool names a process of its own; two concurrent clients
 * then share a server process only if the pool lends it to both.
 */
const refuseSharedPool = (client: Client, target: PgTarget): Effect.Effect<void, PostgresFailed | ExportRefused> =>
  Effect.scoped(Effect.gen(function*() {
    const { named, pid } = yield* processesOf(client, target)
    if (named === pid) return
    const other = yield* processesOf(yield* openClient(target), target)
    if (other.pid === pid) return yield* new ExportRefused({ reason: SHARED_POOL })
  }))

/** On disconnection by the scope, the server ends an open transaction and frees the lock. */
export const connectTo = (
  target: PgTarget
): Effect.Effect<PgConnection, PostgresFailed | ExportRefused, Scope.Scope> =>
  Effect.gen(function*() {
    const failed = (cause: unknown): PostgresFailed => postgresFailed(target.shown, cause)
    // A CommonJS package: in a bundle of several files it has only its default.
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
