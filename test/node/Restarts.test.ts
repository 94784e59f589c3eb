import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, TestClock } from "effect"
import { requestRebuild } from "../../src/chain/repair/rebuild.ts"
import { Restarts, RESTARTS_AN_HOUR } from "../../src/node/daemon.ts"
import { StorageCorrupted, StorageUnavailable } from "../../src/storage/errors.ts"
import { temporaryDirectory } from "../support/chain.ts"

const damage = new StorageCorrupted({ file: "chainstate.db", found: "page 7 has changed", remedy: "Start again" })

/** Decides in a directory, and keeps what is logged. */
const setting = (rebuild: boolean) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    if (rebuild) requestRebuild({ chainstateDirectory: directory, reason: "page 7 has changed" })
    const restarts = new Restarts(directory)
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push(Array.isArray(message) ? String(message[0]) : ""))
    const mayMend = (failure: { readonly _tag: string; readonly message: string }) =>
      Effect.provide(restarts.mayMend(failure), Logger.replace(Logger.defaultLogger, logger))
    return { mayMend, logged }
  })

describe("Restarts", () => {
  it.scoped("lets a node restart twice within an hour, and logs why it refuses a third restart", () =>
    Effect.gen(function*() {
      const { logged, mayMend } = yield* setting(true)
      for (let time = 0; time < RESTARTS_AN_HOUR; time++) {
        assert.isTrue(yield* mayMend(damage))
        yield* TestClock.adjust("20 minutes")
      }
      assert.isFalse(yield* mayMend(damage))
      assert.isFalse(yield* mayMend(damage))
      assert.deepStrictEqual(logged, [
        "node restarts to rebuild its chain state",
        "node restarts to rebuild its chain state",
        "chain state damaged repeatedly within an hour: check the disk",
        "chain state damaged repeatedly within an hour: check the disk"
      ])
      // The first of them is an hour ago: one more, not two.
      yield* TestClock.adjust("20 minutes")
      assert.isTrue(yield* mayMend(damage))
      assert.isFalse(yield* mayMend(damage))
      yield* TestClock.adjust("1 hour")
      assert.isTrue(yield* mayMend(damage))
    }))

  it.scoped("refuses a restart for damage that a start does not repair, and for other failures, and logs the end", () =>
    Effect.gen(function*() {
      const without = yield* setting(false)
      assert.isFalse(yield* without.mayMend(damage))
      assert.deepStrictEqual(without.logged, ["node stops"])
      const { logged, mayMend } = yield* setting(true)
      const full = new StorageUnavailable({ file: "chainstate.db", doing: "writing", reason: "the disk is full" })
      assert.isFalse(yield* mayMend(full))
      assert.deepStrictEqual(logged, ["node stops"])
      // These are not counted.
      for (let time = 0; time < RESTARTS_AN_HOUR; time++) assert.isTrue(yield* mayMend(damage))
    }))
})
