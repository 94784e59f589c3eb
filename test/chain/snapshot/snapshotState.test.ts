import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  backgroundDirectory,
  chainStateInUse,
  invalidSnapshot,
  markInvalid,
  markValidated,
  snapshotDirectory,
  useSnapshot,
  validatedBases
} from "../../../src/chain/snapshot/snapshotState.ts"
import { temporaryDirectory } from "../../support/chain.ts"

const SNAPSHOT = { hash: new Uint8Array(32).fill(1), coins: new Uint8Array(32).fill(2) }

const OLD = ["chainstate.db", "chainstate.db-shm", "chainstate.db-wal", "chainstate.db.sums"]
const NEW = [...OLD, "REBUILD"]

const put = (directory: string, names: ReadonlyArray<string>, text: string): void => {
  mkdirSync(directory, { recursive: true })
  for (const name of names) writeFileSync(join(directory, name), text)
}

/** A node's own chain state, one of a snapshot in use, and one of the background. */
const loaded = Effect.map(temporaryDirectory, (path) => {
  const own = join(path, "chainstate")
  put(own, [...OLD, "wallet.db"], "old")
  put(backgroundDirectory(own), OLD, "background")
  put(snapshotDirectory(own), OLD, "new")
  useSnapshot(snapshotDirectory(own), SNAPSHOT)
  return own
})

const contents = (directory: string) =>
  Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]))

/** The own directory after a validated chain state moved there. */
const moved = (own: string) => {
  const { VALIDATED: marker = "", ...files } = contents(own)
  assert.match(marker, /^(01){32} (02){32}\n$/)
  return files
}

describe("the directories of a snapshot", () => {
  it.scoped("keep that of the background while it is in use, and remove it otherwise", () =>
    Effect.map(loaded, (own) => {
      const used = chainStateInUse(own)
      assert.deepStrictEqual(used, {
        directory: snapshotDirectory(own),
        base: SNAPSHOT,
        removed: undefined,
        invalid: undefined
      })
      assert.isTrue(existsSync(backgroundDirectory(own)))
      rmSync(snapshotDirectory(own), { recursive: true })
      assert.deepStrictEqual(chainStateInUse(own), {
        directory: own,
        base: undefined,
        removed: undefined,
        invalid: undefined
      })
      assert.isFalse(existsSync(backgroundDirectory(own)))
      assert.deepStrictEqual(validatedBases(own), [])
    }))

  it.scoped("become the node's own once it is validated", () =>
    Effect.map(loaded, (own) => {
      markValidated(own)
      assert.deepStrictEqual(Object.keys(contents(own)), ["wallet.db"])
      assert.isFalse(existsSync(backgroundDirectory(own)))
      assert.deepStrictEqual(validatedBases(own), [SNAPSHOT.hash])
      assert.strictEqual(chainStateInUse(own).directory, own)
      assert.deepStrictEqual(validatedBases(own), [SNAPSHOT.hash])
      assert.isFalse(existsSync(snapshotDirectory(own)))
      assert.deepStrictEqual(moved(own), {
        ...Object.fromEntries(OLD.map((name) => [name, "new"])),
        "wallet.db": "old"
      })
    }))

  // The first `count` files have moved when the node is killed; the old ones are removed before the first.
  it.scoped.each(Array.from({ length: NEW.length + 1 }, (_, count) => count))("after a kill that left %i moved files", (
    count
  ) =>
    Effect.map(loaded, (own) => {
      const directory = snapshotDirectory(own)
      put(directory, ["REBUILD"], "damage")
      writeFileSync(join(directory, "VALIDATED"), readFileSync(join(directory, "BASE")))
      rmSync(join(directory, "BASE"))
      const order = ["chainstate.db", "REBUILD", "chainstate.db-shm", "chainstate.db-wal", "chainstate.db.sums"]
      for (const [at, name] of order.slice(0, count).entries()) {
        if (at === 0) { for (const old of OLD) rmSync(join(own, old)) }
        writeFileSync(join(own, name), readFileSync(join(directory, name)))
        rmSync(join(directory, name))
      }
      assert.strictEqual(chainStateInUse(own).base, undefined)
      assert.isFalse(existsSync(directory))
      assert.deepStrictEqual(moved(own), {
        ...Object.fromEntries(OLD.map((name) => [name, "new"])),
        REBUILD: "damage",
        "wallet.db": "old"
      })
    }))

  it.scoped("keep the reason alone if it is invalid, even after a kill before the marker of its use is gone", () =>
    Effect.map(loaded, (own) => {
      const directory = snapshotDirectory(own)
      const invalid = { ...SNAPSHOT, reason: "its coins differ" }
      markInvalid(directory, invalid)
      useSnapshot(directory, SNAPSHOT)
      const used = chainStateInUse(own)
      assert.deepStrictEqual(used, { directory: own, base: undefined, removed: undefined, invalid })
      assert.deepStrictEqual(readdirSync(directory), ["INVALID"])
      assert.deepStrictEqual(invalidSnapshot(directory), invalid)
      assert.isFalse(existsSync(backgroundDirectory(own)))
    }))
})
