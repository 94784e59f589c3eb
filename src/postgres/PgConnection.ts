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

/** Milliseconds after which a silent connection is tested, and lost: a server that vanished must not hang the export. */
const KEEPALIVE_MS = 30_000

/** Connects. The scope disconnects: the server then ends an open transaction, and frees the lock. */
export const connectTo = (
  { shown, url }: PgTarget
): Effect.Effect<PgConnection, PostgresFailed | ExportRefused, Scope.Scope> =>
  Effect.gen(function*() {
    const failed = (cause: unknown): PostgresFailed => postgresFailed(shown, cause)
    // They are in the bundle of the program; what prints its help does not load them.
    const { copyFrom, pg } = yield* Effect.promise(async () => ({
      pg: (await import("pg")).default,
      copyFrom: (await import("pg-copy-streams")).from
    }))

    const client: Client = yield* Effect.acquireRelease(
      Effect.gen(function*() {
        const made = yield* Effect.try({
          try: () =>
            new pg.Client({
              connectionString: Redacted.value(url),
              application_name: "svcd-export",
              connectionTimeoutMillis: CONNECT_MS,
              keepAlive: true,
              keepAliveInitialDelayMillis: KEEPALIVE_MS
            }),
          // The driver reads the URL here, and the files with certificates. Its words do not repeat the URL.
          catch: (cause) =>
            new ExportRefused({
              reason: `the URL of the database cannot be used: ${
                cause instanceof Error ? cause.message : String(cause)
              }`
            })
        })
        // Without a listener, a connection that breaks between two statements would end the process.
        made.on("error", () => {})
        yield* Effect.tryPromise({ try: () => made.connect(), catch: failed })
        return made
      }),
      (open) => Effect.ignore(Effect.timeout(Effect.tryPromise(() => open.end()), "1 second"))
    )

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
