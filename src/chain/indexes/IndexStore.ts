import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { join } from "node:path"
import type { Bytes } from "../../protocol/bytes.ts"
import { copyWhenDue } from "../../storage/copyWhenDue.ts"
import { type Database, guarded, openDatabase, PAGES_HAVE_SUMS, type Statement } from "../../storage/Database.ts"
import { DataHealth } from "../../storage/DataHealth.ts"
import { StorageCorrupted, type StorageFailure } from "../../storage/errors.ts"
import { newerThan, removeDamaged, removeDatabase } from "../../storage/inspect.ts"
import type { PageGuard } from "../../storage/PageGuard.ts"
import { makeRepair, pagesOf, type Repair } from "../../storage/repair.ts"
import { attempt } from "../attempt.ts"
import { applied, type ConnectedBlock, type Cursor, type Follower } from "../write/Follower.ts"

/** An optional index of the best chain that can be rebuilt: a SQLite file with its own cursor. */
export interface IndexDefinition<S> {
  /** The name of the follower in logs and `getindexinfo`. */
  readonly name: string
  /** The file in the directory of the chain state. */
  readonly file: string
  /** What the file is, in errors: "a filter index". */
  readonly what: string
  /** SQL that makes the tables, except the cursor's. */
  readonly tables: string
  /** Whether earlier versions made files without page checksums. */
  readonly sumsCameLater?: boolean
  /** Prepares the statements. Throws the driver's error if the file has other tables. */
  readonly prepare: (database: Database) => S
  readonly apply: (store: S, blocks: ReadonlyArray<ConnectedBlock>) => void
  /** Removes everything above a height, within a transaction. */
  readonly rewind: (store: S, height: number) => void
  /** These three are as in `Follower`. */
  readonly needsCoins?: boolean
  readonly batchBytes?: number
  readonly background?: boolean
}

export interface IndexPlace {
  readonly directory: string
  readonly pageSize: number
}

export interface OpenIndex<S> {
  readonly follower: Follower & { readonly repair: Repair }
  readonly read: <A>(work: (store: S) => A) => Effect.Effect<A, StorageFailure>
  /** Writes in one transaction, and moves the cursor in it if that is given. */
  readonly write: (to: Cursor | undefined, work: (store: S) => void) => Effect.Effect<void, StorageFailure>
}

const REMEDY = "Stop the node, delete the file and start again: the index is rebuilt from the stored blocks"

const CURSOR = `CREATE TABLE cursor (
  one INTEGER PRIMARY KEY CHECK (one = 1), height INTEGER NOT NULL, hash BLOB NOT NULL
) STRICT;`

const cursorStatements = (database: Database) => {
  const statement = <Bind extends Array<unknown>, Row>(sql: string): Statement<Bind, Row> => database.prepare(sql)
  return {
    get: statement<[], { readonly height: number; readonly hash: Buffer }>("SELECT height, hash FROM cursor"),
    put: statement<[number, Bytes], never>("INSERT OR REPLACE INTO cursor (one, height, hash) VALUES (1, ?, ?)")
  }
}

interface Opened<S> {
  readonly database: Database
  readonly guard: PageGuard
  readonly cursor: ReturnType<typeof cursorStatements>
  readonly statements: S
}

/** Opens the index in a directory, rebuilding an unreadable file. */
export const openIndex = <S>(
  definition: IndexDefinition<S>,
  { directory, pageSize }: IndexPlace
): Effect.Effect<OpenIndex<S>, StorageFailure, DataHealth | Scope.Scope> =>
  Effect.gen(function*() {
    const { apply, background = true, batchBytes, file, name, needsCoins = false, prepare, rewind, what } = definition
    const filename = join(directory, file)
    const tables = `${definition.tables}\n${CURSOR}`
    const migrations = definition.sumsCameLater === true
      ? [tables, PAGES_HAVE_SUMS]
      : [`${tables}\n${PAGES_HAVE_SUMS}`]
    const open = (): Opened<S> => {
      const { database, guard } = openDatabase({ filename, pageSize, migrations, remedy: REMEDY })
      try {
        return { database, guard, cursor: cursorStatements(database), statements: prepare(database) }
      } catch (cause) {
        guard.close()
        const found = `it is not ${what} of svcd (${cause instanceof Error ? cause.message : String(cause)})`
        throw new StorageCorrupted({ file: filename, found, remedy: REMEDY })
      }
    }
    const inspected = { filename, what: file, remedy: REMEDY, newer: newerThan(migrations.length, filename) }
    yield* removeDamaged({ ...inspected, instead: "the index is rebuilt from the stored blocks" })
    let store = yield* attempt(open)
    yield* Effect.addFinalizer(() => Effect.sync(() => store.guard.close()))
    const repair = yield* makeRepair(
      inspected,
      attempt(() => {
        store.guard.abandon()
        removeDatabase(filename)
        store = open()
      })
    )
    const health = yield* DataHealth
    yield* health.register(pagesOf(inspected, () => store.guard, repair.noticed))
    const run = <A>(doing: string, work: (store: Opened<S>) => A): Effect.Effect<A, StorageFailure> =>
      Effect.tapError(
        attempt(() => guarded({ file: filename, doing, remedy: REMEDY }, () => work(store))),
        repair.noticed
      )
    const change = (to: Cursor | undefined, work: (statements: S) => void): Effect.Effect<void, StorageFailure> =>
      Effect.zipRight(
        run("writing", ({ cursor, database, statements }) => {
          database.transaction(() => {
            work(statements)
            if (to !== undefined) cursor.put.run(to.height, to.hash)
          })()
        }),
        Effect.suspend(() => copyWhenDue(store.guard, { file: filename, doing: "writing", remedy: REMEDY }))
      ).pipe(Effect.tapError(repair.noticed))
    const follower: OpenIndex<S>["follower"] = {
      name,
      needsCoins,
      ...(batchBytes === undefined ? {} : { batchBytes }),
      background,
      cursor: run("reading", ({ cursor }) => cursor.get.get()),
      apply: (blocks) =>
        change(blocks.at(-1), (statements) => apply(statements, blocks)).pipe(
          Effect.withSpan("svcd.index.apply", { attributes: { index: name, ...applied(blocks) } })
        ),
      rewind: (to) =>
        change(to, (statements) => rewind(statements, to.height)).pipe(
          Effect.withSpan("svcd.index.rewind", { attributes: { index: name, height: to.height } })
        ),
      repair
    }
    return { follower, read: (work) => run("reading", ({ statements }) => work(statements)), write: change }
  })
