import { assert, describe, it } from "@effect/vitest"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { openDatabase, PAGES_HAVE_SUMS } from "../../../src/storage/Database.ts"
import { IndexStore } from "../../../src/wallet/ledger/IndexStore.ts"
import { withDirectory } from "../../support/temporary.ts"

const HASH = new Uint8Array(32).fill(7)
const TXID = new Uint8Array(32).fill(8)

/** The tables of the older form that changed. */
const OLDER = [
  `CREATE TABLE transactions (
     txid BLOB PRIMARY KEY, bytes BLOB NOT NULL, height INTEGER NOT NULL, hash BLOB NOT NULL,
     position INTEGER NOT NULL, block_time INTEGER NOT NULL, time INTEGER NOT NULL, ord INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE conflicts (txid BLOB PRIMARY KEY, height INTEGER NOT NULL) WITHOUT ROWID, STRICT;
   CREATE TABLE sources (descriptor TEXT PRIMARY KEY) WITHOUT ROWID, STRICT;
   CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), height INTEGER NOT NULL, hash BLOB NOT NULL) STRICT;`,
  PAGES_HAVE_SUMS
]

describe("IndexStore", () => {
  it("sync writes to the log, because SQLite syncs only a log that it wrote to", () => {
    withDirectory((directory) => {
      const file = join(directory, "wallet.db")
      const store = new IndexStore(file, 4096)
      store.reset(["source"], { height: 5, hash: HASH })
      const before = statSync(`${file}-wal`).size
      store.sync()
      assert.isAbove(statSync(`${file}-wal`).size, before)
      assert.deepStrictEqual(store.cursor(), { height: 5, hash: HASH })
      assert.deepStrictEqual([...store.sources()], ["source"])
      store.close()
    })
  })

  it("keeps the conflicts of a file of the older form, where a transaction has one block, and adds others", () => {
    withDirectory((directory) => {
      const filename = join(directory, "wallet.db")
      const { database, guard } = openDatabase({ filename, pageSize: 4096, migrations: OLDER, remedy: "" })
      database.prepare("INSERT INTO conflicts (txid, height) VALUES (?, 9)").run(TXID)
      database.prepare("INSERT INTO cursor (one, height, hash) VALUES (1, 12, ?)").run(HASH)
      guard.committed()
      guard.close()
      const store = new IndexStore(filename, 4096)
      store.write({ rows: [], conflicts: [{ txid: TXID, height: 11 }, { txid: TXID, height: 9 }] })
      assert.deepStrictEqual(store.conflicts(), [{ txid: TXID, height: 9 }, { txid: TXID, height: 11 }])
      store.rewind({ height: 10, hash: HASH })
      assert.deepStrictEqual(store.conflicts(), [{ txid: TXID, height: 9 }])
      store.remove(TXID)
      assert.deepStrictEqual(store.conflicts(), [])
      store.close()
    })
  })

  it("sync writes nothing before the index has a cursor", () => {
    withDirectory((directory) => {
      const file = join(directory, "wallet.db")
      const store = new IndexStore(file, 4096)
      const before = readFileSync(`${file}-wal`)
      store.sync()
      assert.isTrue(before.equals(readFileSync(`${file}-wal`)))
      store.close()
    })
  })
})
