import { assert, describe, it } from "@effect/vitest"
import BetterSqlite3 from "better-sqlite3"
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { openDatabase } from "../../../src/storage/Database.ts"
import { streamOf } from "../seed.ts"
import { recordHandles } from "./handles.ts"
import { SimDisk } from "./SimDisk.ts"
import { SimScheduler } from "./SimScheduler.ts"
import { logState } from "./writeAheadLog.ts"

/** A node's directory, and the disk that writes there. */
const withNode = (seed: number, use: (disk: SimDisk, directory: string, cut: () => string) => void): void => {
  const root = mkdtempSync(join(tmpdir(), "svcd-world-"))
  const disk = new SimDisk({ random: streamOf(seed, "disk"), after: () => {}, running: () => "anna", now: () => 0 })
  const directory = join(root, "anna-0")
  mkdirSync(directory)
  const cut = (): string => {
    const copy = join(root, "anna-1")
    cpSync(directory, copy, { recursive: true })
    disk.cutPower("anna", copy)
    return copy
  }
  try {
    use(disk, directory, cut)
  } finally {
    rmSync(root, { recursive: true })
  }
}

const SEEDS = Array.from({ length: 30 }, (_, seed) => seed)

/** What a file has after a cut, over some seeds. */
const outcomes = (use: (disk: SimDisk, directory: string) => void, name: string): ReadonlySet<string> => {
  const found = new Set<string>()
  for (const seed of SEEDS) {
    withNode(seed, (disk, directory, cut) => {
      use(disk, directory)
      found.add(readFileSync(join(cut(), name), "latin1"))
    })
  }
  return found
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const commit = (database: BetterSqlite3.Database, from: number, to: number): void => {
  const insert = database.prepare("INSERT INTO rows VALUES (?)")
  for (let id = from; id < to; id++) insert.run(id)
}

const opened = (filename: string) =>
  openDatabase({
    filename,
    pageSize: 4_096,
    migrations: ["CREATE TABLE rows (id INTEGER PRIMARY KEY)"],
    remedy: "none"
  })

/** How many rows a database has after a cut: the first ones. */
const rowsLeft = (file: string): number => {
  const after = new BetterSqlite3(file)
  try {
    assert.strictEqual(after.pragma("integrity_check", { simple: true }), "ok")
    const ids = after.prepare<[], number>("SELECT id FROM rows ORDER BY id").pluck().all()
    assert.deepStrictEqual(ids, ids.map((_, id) => id))
    return ids.length
  } finally {
    after.close()
  }
}

/** The rows that cuts leave of those that a node's database has. Its connections are recorded, and open until then. */
const rowsAfterCuts = (
  use: (database: BetterSqlite3.Database, disk: SimDisk, file: string) => void,
  before: (file: string) => void = () => {}
): ReadonlyArray<number> =>
  SEEDS.slice(0, 16).map((seed) => {
    let left = 0
    withNode(seed, (disk, directory, cut) => {
      const { current } = new SimScheduler(streamOf(seed, "order"))
      const handles = recordHandles(() => current, disk)
      const file = join(directory, "names.db")
      try {
        before(file)
        const { database, guard } = opened(file)
        use(database, disk, file)
        handles.reportSynced(current)
        left = rowsLeft(join(cut(), "names.db"))
        guard.close()
      } finally {
        handles.remove()
      }
    })
    return left
  })

describe("a power cut", () => {
  it("keeps what was synced and a beginning of what was written later", () => {
    const found = outcomes((disk, directory) => {
      const file = openSync(join(directory, "blocks"), "w+")
      disk.write(file, bytes("synced "), null)
      disk.sync(file)
      disk.write(file, bytes("one "), null)
      disk.write(file, bytes("S"), 0)
      disk.write(file, bytes("two"), null)
      closeSync(file)
    }, "blocks")
    const whole = /^(?:synced (?:o|on|one|one )?|Synced one (?:t|tw|two)?)$/
    for (const each of found) assert.match(each, whole)
    assert.isAbove(found.size, 3)
    assert.isTrue(found.has("Synced one two"))
  })

  it("undoes a rename unless its directory was synced", () => {
    const replace = (durable: boolean) =>
      outcomes((disk, directory) => {
        writeFileSync(join(directory, "wallet.json"), "old")
        writeFileSync(join(directory, "draft"), "new")
        disk.rename(join(directory, "draft"), join(directory, "wallet.json"))
        if (durable) disk.sync(openSync(directory, "r"))
      }, "wallet.json")
    assert.deepStrictEqual([...replace(false)].sort(), ["new", "old"])
    assert.deepStrictEqual([...replace(true)], ["new"])
  })

  it("takes a new file unless its directory was synced", () => {
    const exists = (durable: boolean) =>
      new Set(SEEDS.map((seed) => {
        let is = false
        withNode(seed, (disk, directory, cut) => {
          const { current } = new SimScheduler(streamOf(seed, "order"))
          const handles = recordHandles(() => current, disk)
          try {
            const file = openSync(join(directory, "blk00000.dat"), "w+")
            disk.write(file, bytes("block"), null)
            disk.sync(file)
            closeSync(file)
            const at = openSync(directory, "r")
            if (durable) disk.sync(at)
            closeSync(at)
          } finally {
            handles.remove()
          }
          is = existsSync(join(cut(), "blk00000.dat"))
        })
        return is
      }))
    assert.deepStrictEqual(exists(false), new Set([false, true]))
    assert.deepStrictEqual(exists(true), new Set([true]))
  })

  it("refuses to record a write over bytes that it cannot read", () => {
    withNode(1, (disk, directory) => {
      writeFileSync(join(directory, "blocks"), "old")
      const file = openSync(join(directory, "blocks"), constants.O_WRONLY)
      assert.throws(() => disk.write(file, bytes("new"), 0), /EBADF/)
      closeSync(file)
    })
  })

  it("takes the last commits of a database, and none that a full sync has stored", () => {
    const lengths = new Set<number>()
    for (const seed of SEEDS) {
      withNode(seed, (disk, directory, cut) => {
        const file = join(directory, "names.db")
        const database = new BetterSqlite3(file)
        for (const pragma of ["journal_mode = WAL", "synchronous = NORMAL", "wal_autocheckpoint = 0"]) {
          database.pragma(pragma)
        }
        database.exec("CREATE TABLE rows (id INTEGER PRIMARY KEY)")
        const insert = database.prepare("INSERT INTO rows VALUES (?)")
        for (let id = 0; id < 10; id++) {
          insert.run(id)
          if (id === 2) database.pragma("wal_checkpoint(PASSIVE)")
          if (id === 4) disk.logSynced(file)
        }
        assert.isAbove(logState(file)?.frames ?? 0, 3)
        lengths.add(rowsLeft(join(cut(), "names.db")))
        database.close()
      })
    }
    assert.isAtLeast(Math.min(...lengths), 5)
    assert.isTrue(lengths.has(10) && lengths.size > 3)
  })

  it("takes no commit of a log that svcd has synced", () => {
    const left = rowsAfterCuts((database, disk, file) => {
      commit(database, 0, 5)
      const log = openSync(`${file}-wal`, "r+")
      disk.sync(log)
      closeSync(log)
      commit(database, 5, 10)
    })
    assert.strictEqual(Math.min(...left), 5)
    assert.strictEqual(Math.max(...left), 10)
  })

  it("takes no commit in full mode, nor one before it", () => {
    const left = rowsAfterCuts((database) => {
      commit(database, 0, 5)
      database.pragma("synchronous = FULL")
      commit(database, 5, 10)
    })
    assert.deepStrictEqual(new Set(left), new Set([10]))
    const back = rowsAfterCuts((database) => {
      commit(database, 0, 5)
      database.pragma("synchronous = FULL")
      commit(database, 5, 6)
      database.pragma("synchronous = NORMAL")
      commit(database, 6, 10)
    })
    assert.strictEqual(Math.min(...back), 6)
  })

  it("counts no commit as synced because full mode was set", () => {
    const left = rowsAfterCuts((database) => {
      database.pragma("wal_checkpoint(PASSIVE)")
      commit(database, 0, 10)
      database.pragma("synchronous = FULL")
      database.pragma("synchronous = NORMAL")
    })
    assert.isBelow(Math.min(...left), 5)
  })

  it("takes commits from before a kill, though the database was opened again", () => {
    const left = rowsAfterCuts(() => {}, (file) => {
      const life = join(dirname(dirname(file)), "killed")
      mkdirSync(life)
      const { database, guard } = opened(join(life, "names.db"))
      database.pragma("wal_checkpoint(PASSIVE)")
      commit(database, 0, 10)
      cpSync(life, dirname(file), { recursive: true })
      guard.close()
    })
    assert.isBelow(Math.min(...left), 5)
  })
})
