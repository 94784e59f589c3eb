import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { streamOf } from "../seed.ts"
import { ArmedFault, type DatabaseFault, watchWrites } from "./databaseFaults.ts"
import { DYING, SimDisk } from "./SimDisk.ts"

/** A database with one row, whose statements meet a fault once. */
const withFault = (fault: DatabaseFault, seed: number, use: (database: SQLite.Database) => void): void => {
  const directory = mkdtempSync(join(tmpdir(), "svcd-faults-"))
  const database = new SQLite(join(directory, "names.db"))
  database.exec("CREATE TABLE numbers (number INTEGER)")
  database.prepare("INSERT INTO numbers VALUES (0)").run()
  let armed: ArmedFault | undefined = new ArmedFault(fault, streamOf(seed, "disk"))
  const restore = watchWrites((written, { isEnd }) => {
    if (armed?.isDue(written.name, isEnd) !== true) return
    const error = armed.error(written)
    armed = undefined
    throw error
  })
  try {
    use(database)
  } finally {
    restore()
    database.close()
    rmSync(directory, { recursive: true })
  }
}

const rowsIn = (database: SQLite.Database): unknown => database.prepare("SELECT number FROM numbers").pluck().all()

const ending = (rows: number, file = "names.db"): DatabaseFault => ({ file, code: "SQLITE_FULL", rows })

const SEEDS = [0, 1, 2, 3, 4, 5, 6, 7]

describe("a fault below a database", () => {
  it.each([0, 1, 2, 100])("with %i rows before it leaves nothing of its transaction", (rows) => {
    for (const seed of SEEDS) {
      withFault(ending(rows), seed, (database) => {
        const put = database.prepare("INSERT INTO numbers VALUES (?)")
        const write = database.transaction(() => {
          for (const number of [1, 2, 3]) put.run(number)
        })
        assert.throws(write, /database or disk is full/)
        assert.isFalse(database.inTransaction)
        assert.deepStrictEqual(rowsIn(database), [0])
        write()
        assert.deepStrictEqual(rowsIn(database), [0, 1, 2, 3])
      })
    }
  })

  it("may end the transaction or leave it open", () => {
    const states = new Set(SEEDS.map((seed) => {
      let isOpen = false
      withFault(ending(100), seed, (database) => {
        database.prepare("BEGIN").run()
        database.prepare("INSERT INTO numbers VALUES (1)").run()
        assert.throws(() => database.prepare("COMMIT").run(), /full/)
        isOpen = database.inTransaction
      })
      return isOpen
    }))
    assert.deepStrictEqual(states, new Set([true, false]))
  })

  it("passes by readers, other databases, and the end of a transaction without a write", () => {
    withFault(ending(0, "wallet.db"), 1, (database) => {
      database.prepare("INSERT INTO numbers VALUES (1)").run()
    })
    withFault(ending(0), 1, (database) => {
      database.transaction(() => assert.deepStrictEqual(rowsIn(database), [0]))()
      assert.throws(() => database.prepare("INSERT INTO numbers VALUES (1)").run(), /full/)
    })
  })

  it("keeps a copy of the log from being made", () => {
    withFault({ file: "names.db", code: "SQLITE_IOERR_WRITE", rows: 0 }, 1, (database) => {
      const copy = database.prepare("PRAGMA wal_checkpoint(PASSIVE)")
      assert.throws(() => copy.get(), /disk I\/O error/)
      copy.get()
    })
  })
})

describe("a disk with a fault", () => {
  it("excuses the end of its node for a while, and one open database until the next start", () => {
    const root = mkdtempSync(join(tmpdir(), "svcd-world-"))
    const directory = join(root, "anna-0")
    mkdirSync(directory)
    const [names, wallet] = [new SQLite(join(directory, "names.db")), new SQLite(join(directory, "wallet.db"))]
    let now = 0
    const disk = new SimDisk({
      random: streamOf(0, "disk"),
      after: (_node, _milliseconds, run) => run(),
      running: () => "anna",
      now: () => now
    })
    disk.arm("anna", ending(0))
    disk.writing(wallet, { isEnd: true })
    assert.isFalse(disk.isStruck("anna"))
    assert.throws(() => disk.writing(names, { isEnd: true }), /full/)
    assert.isTrue(disk.isStruck("anna"))
    assert.deepStrictEqual([names, wallet].map(({ name }) => disk.isHit("anna", name)), [true, false])
    now = DYING
    assert.isFalse(disk.isStruck("anna"))
    assert.isTrue(disk.isHit("anna", names.name))
    disk.begun("anna")
    assert.isFalse(disk.isHit("anna", names.name))
    for (const database of [names, wallet]) database.close()
    rmSync(root, { recursive: true })
  })
})
