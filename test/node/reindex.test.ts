import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Reindex, reindex } from "../../src/node/layers/chain.ts"
import { temporaryDirectory } from "../support/chain.ts"

const CHAINSTATE = ["blockfilters.db", "chainstate.db", "txindex.db", "txindex.db-wal", "txindex.db.sums"]
const WALLETS = ["wallet-61.db", "wallet.db"]

const filled = Effect.map(temporaryDirectory, (path) => {
  const chainstate = join(path, "chainstate")
  mkdirSync(chainstate)
  for (const name of [...CHAINSTATE, ...WALLETS]) writeFileSync(join(chainstate, name), "")
  for (const name of ["names.db", "names.db.sums", "wallet.json"]) writeFileSync(join(path, name), "")
  return { path, chainstate }
})

describe("reindex", () => {
  const left = (what: Reindex) =>
    Effect.map(filled, (directories) => {
      reindex(directories, what)
      return {
        marker: readFileSync(join(directories.chainstate, "REBUILD"), "utf8"),
        own: readdirSync(directories.path).toSorted(),
        chainstate: readdirSync(directories.chainstate).filter((name) => name !== "REBUILD").toSorted()
      }
    })

  it.scoped("removes names and indexes, marks the chain state, and keeps wallets with their history", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* left("all"), {
        marker: "asked for by -reindex\n",
        own: ["chainstate", "wallet.json"],
        chainstate: ["chainstate.db", ...WALLETS]
      })
      assert.deepStrictEqual(yield* left("chainstate"), {
        marker: "asked for by -reindex-chainstate\n",
        own: ["chainstate", "wallet.json"],
        chainstate: [...CHAINSTATE, ...WALLETS]
      })
    }))

  it.scoped("does nothing in a new data directory", () =>
    Effect.gen(function*() {
      const path = yield* temporaryDirectory
      const chainstate = join(path, "chainstate")
      reindex({ path, chainstate }, "all")
      assert.isFalse(existsSync(chainstate))
    }))
})
