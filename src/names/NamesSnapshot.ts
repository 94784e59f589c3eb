import { SqlError } from "@effect/sql/SqlError"
import type SQLite from "better-sqlite3"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { StorageFailure } from "../storage/errors.ts"
import { driver, failing, type NamesReads, type Statements } from "./NamesFile.ts"
import { PastReads } from "./PastReads.ts"
import { PointReads } from "./PointReads.ts"
import { SearchReads } from "./search/SearchReads.ts"

/** Reads of one state, and of what it tells about earlier ones. */
export interface SnapshotReads extends NamesReads {
  readonly past: PastReads
}

/**
 * Opens names.db for reading as of the last commit. All reads see that state until the scope closes, whatever the node
 * commits. The node has the file open, so this is never its last connection (`PageGuard`).
 */
export const openNamesSnapshot = (filename: string): Effect.Effect<SnapshotReads, StorageFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const failed = failing(filename, "reading")
    const point = <A>(work: () => A): Effect.Effect<A, StorageFailure> =>
      Effect.suspend(() => {
        try {
          return Effect.succeed(work())
        } catch (cause) {
          return failed(cause)
        }
      })
    const database = yield* Effect.acquireRelease(
      driver(filename, { readonly: true, fileMustExist: true }),
      (opened) => Effect.sync(() => opened.close())
    )
    const prepared = new Map<string, SQLite.Statement<Array<unknown>, Record<string, unknown>>>()
    const connection: Statements = {
      execute: (text, params) =>
        Effect.try({
          try: () => {
            const statement = prepared.get(text) ?? database.prepare<Array<unknown>, Record<string, unknown>>(text)
            prepared.set(text, statement)
            return statement.all(...params)
          },
          catch: (cause) => new SqlError({ cause, message: "a query failed" })
        })
    }
    return yield* point((): SnapshotReads => {
      database.exec("BEGIN")
      const points = new PointReads(database)
      // The first read determines the state.
      points.cursor()
      return {
        points,
        past: new PastReads(database),
        search: new SearchReads(database),
        point,
        snapshot: (work) => work(connection).pipe(Effect.catchAll(failed), Effect.catchAllDefect(failed))
      }
    })
  })
