import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Either } from "effect"
import { existsSync, statSync, writeFileSync } from "node:fs"
import { BEGINNING } from "../../src/names/events/EventCursor.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { openHookFile } from "../../src/webhooks/hookFile.ts"
import { marked, newRow } from "../../src/webhooks/hookProgress.ts"
import { temporaryDirectory } from "../support/chain.ts"

const open = (filename: string) => openHookFile({ filename, pageSize: 4096 }).pipe(Effect.provide(DataHealth.layer))

const row = newRow({
  id: "0a",
  source: "rpc",
  url: "https://example.com/",
  secret: "whsec_x",
  filter: "{}",
  position: BEGINNING
})

describe("webhooks.db", () => {
  it.scoped("is made with the first hook, for its owner alone, and has the rows after a restart", () =>
    Effect.gen(function*() {
      const filename = `${yield* temporaryDirectory}/webhooks.db`
      yield* Effect.scoped(open(filename))
      assert.isFalse(existsSync(filename))
      const attempt = { cursor: "a0000001.08388608.0123456789abcdef", digest: "aa", isUndone: true }
      const second = {
        ...marked({ ...row, id: "0b" }, BEGINNING, attempt),
        failures: 3,
        failingSince: 5,
        lastError: "no"
      }
      yield* Effect.scoped(Effect.gen(function*() {
        const file = yield* open(filename)
        yield* file.put(row)
        yield* file.put(second)
        yield* file.put({ ...row, delivered: 7 })
      }))
      if (process.platform !== "win32") assert.strictEqual(statSync(filename).mode & 0o077, 0)
      yield* Effect.scoped(Effect.gen(function*() {
        const file = yield* open(filename)
        assert.deepStrictEqual(file.rows, [{ ...row, delivered: 7 }, second])
        yield* file.remove("0a")
      }))
      assert.deepStrictEqual((yield* Effect.scoped(open(filename))).rows, [second])
    }))

  it.scoped("ends the node if it is damaged or of a newer version, and stays as it is", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const damaged = `${directory}/damaged.db`
      writeFileSync(damaged, "no database at all, and longer than a header of one: ".repeat(40))
      const first = yield* Effect.either(Effect.scoped(open(damaged)))
      if (Either.isRight(first)) return assert.fail("is opened")
      assert.strictEqual(first.left._tag, "StorageCorrupted")
      assert.include(first.left.message, "move the file away and start again: webhooks of the configuration begin")
      assert.isTrue(existsSync(damaged))

      const newer = `${directory}/newer.db`
      yield* Effect.scoped(Effect.flatMap(open(newer), (file) => file.put(row)))
      const database = new SQLite(newer)
      database.pragma("user_version = 99")
      database.close()
      const second = yield* Effect.either(Effect.scoped(open(newer)))
      assert.isTrue(Either.isLeft(second))
    }))
})
