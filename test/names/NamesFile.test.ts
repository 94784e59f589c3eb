import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Cause, Effect, Exit, Stream } from "effect"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { regtestParams } from "../../src/consensus/params.ts"
import { LATEST_MIGRATION } from "../../src/names/migrations.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { applyAll, batches, blockAt, crashBlock, dump, text, withDb } from "./blocks.ts"

const name = text("d/example")

const files = Effect.map(temporaryDirectory, (directory) => (file: string) => join(directory, file))

/** Opens the file and returns the failure. */
const opening = (filename: string) => Effect.flip(withDb(filename, () => Effect.succeed("it was opened")))

const withRaw = (filename: string, work: (database: SQLite.Database) => void) =>
  Effect.sync(() => {
    const database = new SQLite(filename)
    try {
      work(database)
    } finally {
      database.close()
    }
  })

describe("names.db", () => {
  it.scoped("names.db is created with the configured page size, and keeps it", () =>
    Effect.gen(function*() {
      const path = yield* files
      for (const pageSize of [1024, 16_384, 65_536]) {
        const filename = path(`${pageSize}.db`)
        yield* withDb(filename, (db) => applyAll(db, [[blockAt(0, [{ name }])]]), { pageSize })
        yield* withDb(filename, (db) => db.resolve(name), { pageSize: 4096 })
        yield* withRaw(filename, (database) => {
          assert.strictEqual(database.pragma("page_size", { simple: true }), pageSize)
          assert.strictEqual(database.pragma("journal_mode", { simple: true }), "wal")
        })
      }
    }))

  it.scoped("names.db is closed with its log copied into it", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      yield* withDb(filename, (db) => applyAll(db, [[blockAt(0, [{ name }])]]))
      assert.isFalse(existsSync(`${filename}-wal`))
      const record = yield* withDb(filename, (db) => db.resolve(name))
      assert.strictEqual(record.height, 0)
    }))

  it.scoped("names.db is readable with plain SQL", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      const rand = new Uint8Array(20)
      yield* withDb(filename, (db) => applyAll(db, [[blockAt(0), blockAt(1, [{ name, rand }, { name }])]]))
      yield* withRaw(filename, (database) => {
        const rows = database.prepare(
          "SELECT height, op, CAST(name AS TEXT) AS name FROM operations o JOIN names n ON n.id = name_id ORDER BY o.id"
        ).all()
        assert.deepStrictEqual(rows, [
          { height: 1, op: "name_firstupdate", name: "d/example" },
          { height: 1, op: "name_update", name: "d/example" }
        ])
      })
    }))
})

describe("a file that is not a names.db", () => {
  it.scoped.each([
    { what: "text", content: "This is not a database. ".repeat(400) },
    { what: "zeros", content: "\0".repeat(8192) }
  ])("a file of $what is damaged and rebuilt", ({ content }) =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      writeFileSync(filename, content)
      assert.isUndefined(yield* withDb(filename, (db) => db.cursor))
      yield* withDb(filename, (db) => applyAll(db, [[blockAt(0, [{ name }])]]))
      assert.strictEqual((yield* withDb(filename, (db) => db.resolve(name))).height, 0)
    }))

  it.scoped("another database is refused and not changed", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      yield* withRaw(filename, (database) => database.exec("CREATE TABLE names (id INTEGER)"))
      const error = yield* opening(filename)
      assert.include(String(error), "it is a database of another program")
      yield* withRaw(filename, (database) => {
        const tables = database.prepare("SELECT name FROM sqlite_master").pluck().all()
        assert.deepStrictEqual(tables, ["names"])
      })
    }))

  it.scoped.each([
    { what: "with sums of a file that it was", after: () => {} },
    { what: "without sums", after: (filename: string) => rmSync(`${filename}.sums`) }
  ])("names.db of a newer version is refused and not changed: $what", ({ after }) =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      yield* withDb(filename, (db) => applyAll(db, [[blockAt(0, [{ name }])]]))
      const next = LATEST_MIGRATION + 1
      yield* withRaw(filename, (database) => {
        database.exec(`INSERT INTO effect_sql_migrations (migration_id, name) VALUES (${next}, 'later')`)
      })
      after(filename)
      const before = readFileSync(filename)
      const error = yield* opening(filename)
      const known = `its format is ${next}, this version of svcd knows formats up to ${LATEST_MIGRATION}`
      assert.include(String(error), `${known}. Use the version of svcd that made it`)
      assert.isTrue(before.equals(readFileSync(filename)))
    }))

  it.scoped("a changed number of a migration is damage", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      yield* withDb(filename, (db) => applyAll(db, [[blockAt(0, [{ name }])]]))
      yield* withRaw(filename, (database) => {
        const changed = LATEST_MIGRATION + 8
        database.exec(
          `UPDATE effect_sql_migrations SET migration_id = ${changed} WHERE migration_id = ${LATEST_MIGRATION}`
        )
      })
      assert.isUndefined(yield* withDb(filename, (db) => db.cursor))
    }))
})

describe("a file that cannot be used now", () => {
  it.scoped("names.db in a missing folder is unavailable", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("missing/names.db")
      const error = yield* opening(filename)
      assert.strictEqual(typeof error === "string" ? error : error._tag, "StorageUnavailable")
      assert.include(String(error), filename)
    }))

  it.scoped("names.db that is a folder is unavailable", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      mkdirSync(filename)
      const error = yield* opening(filename)
      assert.strictEqual(typeof error === "string" ? error : error._tag, "StorageUnavailable")
      assert.include(String(error), `opening ${filename} failed`)
    }))

  it.scopedLive("names.db on a full disk is unavailable for writes, answers reads, and keeps its content", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      const output = yield* Effect.promise(() => withFileLimit([filename]))
      // A file that cannot grow simulates a full disk.
      assert.match(output, /failed at \d+ with a record of \d+\n/)
      assert.match(output, /StorageUnavailable: writing .*names\.db failed: .*(IOERR|FULL)/)
      const height = Number(/failed at (\d+)/.exec(output)?.[1])
      assert.isAbove(height, 0)
      const straight = `${filename}.straight`
      const all = Array.from({ length: height + 1 }, (_, at) => crashBlock(at))
      yield* withDb(straight, (db) => applyAll(db, batches(all, 10)))
      yield* withDb(filename, (db) => Effect.map(db.cursor, (cursor) => assert.strictEqual(cursor?.height, height)))
      assert.deepStrictEqual(dump(filename), dump(straight))
      yield* withDb(filename, (db) => applyAll(db, [[crashBlock(height + 1)]]))
    }))
})

describe("a file that is damaged", () => {
  /** Fills a file of some hundred pages. */
  const filled = (filename: string) =>
    withDb(filename, (db) => applyAll(db, batches(Array.from({ length: 60 }, (_, height) => crashBlock(height)), 20)))

  /** Overwrites pages from `first` on. */
  const damage = (filename: string, first: number) => {
    const bytes = readFileSync(filename)
    assert.isAbove(bytes.length, 100 * 4096)
    writeFileSync(filename, bytes.fill(0xa5, first * 4096))
  }

  const corruptedBy = <A, E>(filename: string, exit: Exit.Exit<A, E>) => {
    assert.isTrue(Exit.isFailure(exit), "it was noticed")
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    assert.match(String(error), /StorageCorrupted|is corrupted/)
    assert.include(String(error), filename)
    assert.include(String(error), "rebuilt from the stored blocks")
  }

  it.scoped("each query that reads damage in an open database fails with a remedy", () =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      yield* filled(filename)
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          damage(filename, 20)
          const [effect] = crashBlock(0).effects
          corruptedBy(filename, yield* Effect.exit(db.resolve(effect?.name ?? name)))
          corruptedBy(filename, yield* Effect.exit(db.history(effect?.name ?? name)))
          corruptedBy(filename, yield* Effect.exit(Stream.runDrain(db.scan({}))))
          corruptedBy(filename, yield* Effect.exit(db.stats({ tipHeight: 0, params: regtestParams })))
          corruptedBy(filename, yield* Effect.exit(db.follower.apply([crashBlock(60)])))
          corruptedBy(filename, yield* Effect.exit(db.follower.rewind({ height: 0, hash: new Uint8Array(32) })))
          const check = yield* db.check(0)
          check.add([[nameKey(text("d/1")), { height: 1, outpoint: "" }]])
          corruptedBy(filename, yield* Effect.exit(check.result))
        }))
    }))

  it.scoped.each([
    { what: "bytes", spoil: "UPDATE operations SET value = NULL" },
    { what: "numbers", spoil: "UPDATE operations SET vout = 'x'" }
  ])("a query fails if a row has a wrong value instead of $what", ({ spoil }) =>
    Effect.gen(function*() {
      const filename = (yield* files)("names.db")
      yield* withDb(filename, (db) => applyAll(db, [[blockAt(0, [{ name }])]]))
      // The tables forbid these values, but a flipped bit can produce them.
      yield* withRaw(filename, (database) => {
        database.unsafeMode().exec(
          `PRAGMA writable_schema = ON;
           UPDATE sqlite_master SET sql = replace(replace(sql, ' STRICT', ''), ' NOT NULL', '') WHERE type = 'table'`
        )
      })
      yield* withRaw(filename, (database) => database.exec(spoil))
      // Without sums, the changed pages count as intact.
      rmSync(`${filename}.sums`)
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          corruptedBy(filename, yield* Effect.exit(db.resolve(name)))
          corruptedBy(filename, yield* Effect.exit(db.history(name)))
          corruptedBy(filename, yield* Effect.exit(Stream.runDrain(db.scan({}))))
          corruptedBy(filename, yield* Effect.exit(Stream.runDrain(db.scanByPrefix({ prefix: text("d/") }))))
          const range = { from: 0, to: 1_000 }
          corruptedBy(filename, yield* Effect.exit(Stream.runDrain(db.expiringBetween(range, regtestParams))))
        }))
    }))

  it.scoped.each([{ first: 0 }, { first: 20 }])(
    "a file that is damaged from page $first on is rebuilt at the start",
    ({ first }) =>
      Effect.gen(function*() {
        const filename = (yield* files)("names.db")
        yield* filled(filename)
        damage(filename, first)
        assert.isUndefined(yield* withDb(filename, (db) => db.cursor))
      })
  )

  it.scoped("a file that was moved away is rebuilt, even with its old log in place", () =>
    Effect.gen(function*() {
      const path = yield* files
      const filename = path("names.db")
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          yield* applyAll(db, [[blockAt(0, [{ name }])]])
          writeFileSync(path("old-wal"), readFileSync(`${filename}-wal`))
        }))
      renameSync(filename, path("away.db"))
      renameSync(path("old-wal"), `${filename}-wal`)
      yield* withDb(filename, (db) =>
        Effect.gen(function*() {
          assert.isUndefined(yield* db.cursor)
          assert.strictEqual((yield* Effect.flip(db.resolve(name)))._tag, "NameNotFound")
        }))
    }))
})

/** Runs the endless writer with a file size limit of 2 MiB, until it ends. Returns its output. */
const withFileLimit = (args: ReadonlyArray<string>): Promise<string> => {
  const runner = fileURLToPath(new URL("../../node_modules/vite-node/vite-node.mjs", import.meta.url))
  const script = fileURLToPath(new URL("applyForever.ts", import.meta.url))
  // Blocks of 512 bytes, as in POSIX. Some shells count in kilobytes, which also works.
  const command = "ulimit -f 4096; exec \"$@\""
  const child = spawn("sh", ["-c", command, "sh", process.execPath, runner, "--script", script, ...args])
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => void (output += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (output += text))
  return new Promise((resolve) => child.once("close", () => resolve(output)))
}
