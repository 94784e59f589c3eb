import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { keepPrivate } from "../../src/base/privateFile.ts"
import {
  type Database,
  guarded,
  openDatabase as openWithGuard,
  type OpenOptions,
  storageFailure
} from "../../src/storage/Database.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "../../src/storage/errors.ts"
import { withDirectory } from "../support/temporary.ts"

const FIRST = "CREATE TABLE one (a INTEGER PRIMARY KEY, b BLOB) STRICT"
const SECOND = "CREATE TABLE two (a); INSERT INTO two SELECT a FROM one"
const REMEDY = "Do this and that"

const optionsOf = (filename: string, options: Partial<OpenOptions> = {}): OpenOptions => ({
  filename,
  pageSize: 4096,
  migrations: [FIRST],
  remedy: REMEDY,
  ...options
})

/** Opens a database whose `close` also closes the guard. */
const openDatabase = (options: OpenOptions): Database => {
  const { database, guard } = openWithGuard(options)
  const close = database.close.bind(database)
  database.close = () => {
    database.close = close
    guard.close()
    return database
  }
  return database
}

/** Runs `work` with the path of a missing database. */
const withFile = (work: (file: string, directory: string) => void): void =>
  withDirectory((directory) => work(join(directory, "test.db"), directory))

const failure = (work: () => unknown): StorageFailure => {
  try {
    work()
  } catch (cause) {
    if (cause instanceof StorageCorrupted || cause instanceof StorageUnavailable) return cause
    throw cause
  }
  return assert.fail("nothing was thrown")
}

describe("openDatabase", () => {
  it.each([512, 4096, 65536])("openDatabase creates a file with pages of %d bytes and a log", (pageSize) => {
    withFile((file) => {
      const database = openDatabase(optionsOf(file, { pageSize }))
      assert.strictEqual(database.pragma("page_size", { simple: true }), pageSize)
      assert.strictEqual(database.pragma("journal_mode", { simple: true }), "wal")
      assert.strictEqual(database.pragma("user_version", { simple: true }), 1)
      database.close()
      // An existing file keeps its page size.
      const again = openDatabase(optionsOf(file, { pageSize: 8192 }))
      assert.strictEqual(again.pragma("page_size", { simple: true }), pageSize)
      again.close()
    })
  })

  it("openDatabase migrates an older file once, and keeps its content", () => {
    withFile((file) => {
      const first = openDatabase(optionsOf(file))
      first.exec("INSERT INTO one (a) VALUES (7)")
      first.close()
      for (let time = 0; time < 2; time++) {
        const second = openDatabase(optionsOf(file, { migrations: [FIRST, SECOND] }))
        assert.strictEqual(second.pragma("user_version", { simple: true }), 2)
        assert.deepStrictEqual(second.prepare("SELECT a FROM two").pluck().all(), [7])
        second.close()
      }
    })
  })

  it("a failing migration leaves the file unchanged", () => {
    withFile((file) => {
      openDatabase(optionsOf(file)).close()
      const broken = "CREATE TABLE two (a); CREATE TABLE one (a)"
      assert.throws(() => openDatabase(optionsOf(file, { migrations: [FIRST, broken] })))
      const again = openDatabase(optionsOf(file))
      assert.strictEqual(again.pragma("user_version", { simple: true }), 1)
      assert.deepStrictEqual(again.prepare("SELECT name FROM sqlite_schema").pluck().all(), ["one"])
      again.close()
    })
  })

  it("refuses a file of a newer version, and leaves it alone", () => {
    withFile((file) => {
      openDatabase(optionsOf(file, { migrations: [FIRST, SECOND] })).close()
      const before = readFileSync(file)
      const error = failure(() => openDatabase(optionsOf(file)))
      assert.instanceOf(error, StorageCorrupted)
      assert.strictEqual(error.file, file)
      assert.include(error.message, "its format is 2, this version of svcd knows formats up to 1")
      assert.include(error.message, REMEDY)
      assert.isTrue(readFileSync(file).equals(before))
    })
  })

  it.each([
    ["text", "this is not a database, but it is long enough to be looked at. ".repeat(200)],
    ["a damaged header", `SQLite format 2\0${"\0".repeat(8000)}`],
    ["a short text", "no database"]
  ])("a file with %s is corrupted", (_, content) => {
    withFile((file) => {
      writeFileSync(file, content)
      const error = failure(() => openDatabase(optionsOf(file)))
      assert.instanceOf(error, StorageCorrupted)
      assert.strictEqual(error.file, file)
      assert.include(error.message, REMEDY)
      // The file is of unknown origin: it is not removed.
      assert.strictEqual(readFileSync(file, "latin1"), content)
    })
  })

  it("a folder at the path of the database is unavailable", () => {
    withFile((file) => {
      mkdirSync(file)
      const error = failure(() => openDatabase(optionsOf(file)))
      assert.instanceOf(error, StorageUnavailable)
      assert.strictEqual(error.file, file)
      assert.match(error.message, /^opening .* failed: .*SQLITE_CANTOPEN/)
    })
  })

  it("a database in a missing folder is unavailable", () => {
    withDirectory((directory) => {
      const file = join(directory, "missing", "test.db")
      const error = failure(() => openDatabase(optionsOf(file)))
      assert.instanceOf(error, StorageUnavailable)
      assert.strictEqual(error.file, file)
    })
  })

  // The root user can write despite the mode.
  it.skipIf(process.getuid?.() === 0)("a file or folder that must not be written is unavailable", () => {
    withFile((file, directory) => {
      openDatabase(optionsOf(file)).close()
      chmodSync(file, 0o400)
      assert.instanceOf(
        failure(() => openDatabase(optionsOf(file, { migrations: [FIRST, SECOND] }))),
        StorageUnavailable
      )
      chmodSync(directory, 0o500)
      assert.instanceOf(failure(() => openDatabase(optionsOf(join(directory, "new.db")))), StorageUnavailable)
      chmodSync(directory, 0o700)
    })
  })
})

describe("guarded", () => {
  it("guarded returns the result of the work", () => {
    assert.strictEqual(guarded({ file: "f", doing: "reading", remedy: REMEDY }, () => 5), 5)
  })

  it("guarded reports a full disk", () => {
    withFile((file) => {
      const database = openDatabase(optionsOf(file))
      database.pragma("max_page_count = 5")
      const insert = database.prepare("INSERT INTO one (b) VALUES (zeroblob(100000))")
      const error = failure(() => guarded({ file, doing: "writing", remedy: REMEDY }, () => insert.run()))
      assert.instanceOf(error, StorageUnavailable)
      assert.match(error.message, /^writing .* failed: the disk is full \(SQLITE_FULL\); make room and start again$/)
      assert.deepStrictEqual(database.prepare("SELECT count(*) FROM one").pluck().get(), 0)
      database.close()
    })
  })

  it("guarded reports damage that a later read finds", () => {
    withFile((file) => {
      const database = openDatabase(optionsOf(file))
      const insert = database.prepare("INSERT INTO one (b) VALUES (zeroblob(1000))")
      for (let i = 0; i < 200; i++) insert.run()
      database.close()
      const bytes = readFileSync(file)
      bytes.fill(0xaa, 3 * 4096)
      writeFileSync(file, bytes)
      const damaged = openDatabase(optionsOf(file))
      const error = failure(() =>
        guarded({ file, doing: "reading", remedy: REMEDY }, () => damaged.prepare("SELECT * FROM one").all())
      )
      assert.instanceOf(error, StorageCorrupted)
      damaged.close()
    })
  })

  it("guarded converts errors of the file system, and keeps storage failures", () => {
    const error = failure(() =>
      guarded({ file: "f", doing: "reading", remedy: REMEDY }, () => readFileSync("/does/not/exist"))
    )
    assert.instanceOf(error, StorageUnavailable)
    assert.include(error.message, "ENOENT")
    assert.include(error, { code: "ENOENT" })
    const folder = failure(() =>
      guarded(
        { file: "/does/not/exist.db", doing: "opening", remedy: REMEDY },
        () => new SQLite("/does/not/exist.db").name
      )
    )
    assert.deepInclude(folder, { _tag: "StorageUnavailable", code: "ENOENT" })
    const noSpace = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
    assert.include(storageFailure({ file: "f", doing: "writing", remedy: REMEDY })(noSpace), {
      reason: "the disk is full (ENOSPC)",
      code: "ENOSPC"
    })
    const own = new StorageCorrupted({ file: "g", found: "x", remedy: "y" })
    assert.strictEqual(
      failure(() =>
        guarded({ file: "f", doing: "reading", remedy: REMEDY }, () => {
          throw own
        })
      ),
      own
    )
  })

  it("guarded rethrows programming errors", () => {
    for (const cause of [new TypeError("mistake"), "text", undefined]) {
      let thrown: unknown = "nothing"
      try {
        guarded({ file: "f", doing: "reading", remedy: REMEDY }, () => {
          throw cause
        })
      } catch (error) {
        thrown = error
      }
      assert.strictEqual(thrown, cause)
    }
  })

  it("a database that another connection locks for too long is unavailable", () => {
    withFile((file) => {
      const database = openDatabase(optionsOf(file))
      database.pragma("busy_timeout = 1")
      const other = new SQLite(file)
      other.exec("BEGIN IMMEDIATE")
      const error = failure(() =>
        guarded({ file, doing: "writing", remedy: REMEDY }, () => database.exec("INSERT INTO one (a) VALUES (1)"))
      )
      assert.instanceOf(error, StorageUnavailable)
      assert.include(error.message, "SQLITE_BUSY")
      other.close()
      database.close()
    })
  })
})

describe.skipIf(process.platform === "win32")("the mode of a database's files", () => {
  const modesOf = (directory: string): ReadonlyArray<readonly [string, string]> =>
    readdirSync(directory).map((name) => [name, (statSync(join(directory, name)).mode & 0o777).toString(8)])

  const withOpenUmask = (work: () => void): void => {
    const before = process.umask(0)
    try {
      work()
    } finally {
      process.umask(before)
    }
  }

  it("the mode is 600 with any umask", () =>
    withOpenUmask(() =>
      withFile((file, directory) => {
        const database = openDatabase(optionsOf(file))
        database.exec("INSERT INTO one (a) VALUES (1)")
        const names = ["test.db", "test.db-shm", "test.db-wal", "test.db.sums"]
        assert.deepStrictEqual(modesOf(directory), names.map((name) => [name, "600"]))
        database.close()
      })
    ))

  it("the mode of world-readable files becomes 600, and a read-only mode of the owner stays", () =>
    withOpenUmask(() =>
      withFile((file, directory) => {
        const old = new SQLite(file)
        old.pragma("journal_mode = WAL")
        old.exec("CREATE TABLE x (y)")
        assert.deepInclude(modesOf(directory), ["test.db-wal", "644"])
        keepPrivate(file)
        assert.deepStrictEqual(modesOf(directory), [["test.db", "600"], ["test.db-shm", "600"], ["test.db-wal", "600"]])
        old.close()
        chmodSync(file, 0o440)
        keepPrivate(file)
        assert.deepStrictEqual(modesOf(directory), [["test.db", "400"]])
      })
    ))
})
