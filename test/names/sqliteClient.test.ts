import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Either, Exit, Scope } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { temporaryDirectory } from "../support/chain.ts"

/**
 * What names.db uses of the client of @effect/sql-sqlite-node 0.53. That package asks for better-sqlite3 12, and gets 13
 * (`overrides` in package.json, external in scripts/bundle.ts).
 */

const file = Effect.map(temporaryDirectory, (directory) => join(directory, "x.db"))

const client = (filename: string, readonly = false) =>
  SqliteClient.make({ filename, readonly, disableWAL: true }).pipe(Effect.provide(Reactivity.layer))

const driverOf = (from: string): { readonly version: string } => {
  const path = createRequire(from).resolve("better-sqlite3/package.json")
  return JSON.parse(readFileSync(path, "utf8"))
}

describe("the client of names.db", () => {
  it("has the driver that svcd has, and no copy of its own", () => {
    const ofClient = createRequire(import.meta.url).resolve("@effect/sql-sqlite-node")
    assert.strictEqual(driverOf(ofClient).version, driverOf(import.meta.url).version)
    assert.match(driverOf(ofClient).version, /^13\./)
  })

  it.scoped("runs transactions by statements on a reserved connection, with every type of value", () =>
    Effect.gen(function*() {
      const sql = yield* client(yield* file)
      yield* sql`CREATE TABLE entries (id INTEGER PRIMARY KEY, name BLOB, height REAL, text TEXT)`
      const name = Uint8Array.of(0, 255)
      yield* Effect.scoped(Effect.gen(function*() {
        const connection = yield* sql.reserve
        const insert = "INSERT INTO entries VALUES (?, ?, ?, ?)"
        yield* connection.execute("BEGIN IMMEDIATE", [], undefined)
        yield* connection.execute(insert, [2 ** 40, name, 1.5, "ä"], undefined)
        yield* connection.execute("COMMIT", [], undefined)
        yield* connection.execute("BEGIN IMMEDIATE", [], undefined)
        yield* connection.execute(insert, [7n, null, null, null], undefined)
        yield* connection.execute("ROLLBACK", [], undefined)
      }))
      assert.deepStrictEqual(yield* sql`SELECT * FROM entries`, [
        { id: 2 ** 40, name: Buffer.from(name), height: 1.5, text: "ä" }
      ])
    }))

  it.scoped("reads beside a writer, and refuses to write", () =>
    Effect.gen(function*() {
      const filename = yield* file
      const writer = yield* client(filename)
      yield* writer`PRAGMA journal_mode = WAL`
      yield* writer`CREATE TABLE entries (id INTEGER PRIMARY KEY)`
      const reader = yield* client(filename, true)
      yield* writer`INSERT INTO entries VALUES (1)`
      assert.deepStrictEqual(yield* reader`SELECT id FROM entries`, [{ id: 1 }])
      const refused = yield* Effect.either(reader`INSERT INTO entries VALUES (2)`)
      const cause = Either.isLeft(refused) ? refused.left.cause : undefined
      assert.instanceOf(cause, SQLite.SqliteError)
      assert.propertyVal(cause, "code", "SQLITE_READONLY")
    }))

  it.scoped("closes its file with its scope", () =>
    Effect.gen(function*() {
      const filename = yield* file
      const scope = yield* Scope.make()
      const sql = yield* Scope.extend(client(filename), scope)
      yield* sql`CREATE TABLE entries (id INTEGER PRIMARY KEY)`
      const exclusive = new SQLite(filename, { timeout: 0 })
      yield* Scope.close(scope, Exit.void)
      const read = yield* Effect.exit(sql`SELECT 1`)
      assert.isTrue(Exit.isFailure(read), "the connection is closed")
      exclusive.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
      exclusive.close()
    }))
})
