import { assert, describe, it } from "@effect/vitest"
import BetterSqlite3 from "better-sqlite3"
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { streamOf } from "../seed.ts"
import { SimDisk } from "./SimDisk.ts"
import { logState } from "./writeAheadLog.ts"

/** A node's directory, and the disk that writes there. */
const withNode = (seed: number, use: (disk: SimDisk, directory: string, cut: () => string) => void): void => {
  const root = mkdtempSync(join(tmpdir(), "svcd-world-"))
  const disk = new SimDisk({ random: streamOf(seed, "disk"), after: () => {}, running: () => "anna" })
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
        const after = new BetterSqlite3(join(cut(), "names.db"))
        assert.strictEqual(after.pragma("integrity_check", { simple: true }), "ok")
        const ids = after.prepare<[], number>("SELECT id FROM rows ORDER BY id").pluck().all()
        assert.deepStrictEqual(ids, ids.map((_, id) => id))
        lengths.add(ids.length)
        after.close()
        database.close()
      })
    }
    assert.isAtLeast(Math.min(...lengths), 5)
    assert.isTrue(lengths.has(10) && lengths.size > 3)
  })
})
