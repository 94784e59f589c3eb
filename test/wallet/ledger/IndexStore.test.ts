import { assert, describe, it } from "@effect/vitest"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { IndexStore } from "../../../src/wallet/ledger/IndexStore.ts"
import { withDirectory } from "../../support/temporary.ts"

const HASH = new Uint8Array(32).fill(7)

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
