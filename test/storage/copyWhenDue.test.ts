import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { copyWhenDue } from "../../src/storage/copyWhenDue.ts"
import { LOG_BYTES } from "../../src/storage/PageGuard.ts"
import { sumsFile } from "../../src/storage/pageSums.ts"
import { walSize } from "../../src/storage/walFile.ts"
import { withDirectoryAsync } from "../support/temporary.ts"
import { open, REMEDY } from "./loggedDatabase.ts"

describe("copyWhenDue", () => {
  it("ends only after the copy, even if it is interrupted", () =>
    withDirectoryAsync(async (directory) => {
      const file = join(directory, "test.db")
      const opened = open(file, 4096)
      opened.database.prepare("INSERT INTO more (data) VALUES (zeroblob(?))").run(LOG_BYTES)
      const fiber = Effect.runFork(copyWhenDue(opened.guard, { file, doing: "writing", remedy: REMEDY }))
      await Effect.runPromise(Fiber.interrupt(fiber))
      assert.strictEqual(walSize(file), 0)
      opened.guard.close()
    }))

  it("copies a log that is large, and reports an error of the disk as one of writing", () =>
    withDirectoryAsync(async (directory) => {
      const file = join(directory, "test.db")
      const opened = open(file, 4096)
      const on = { file, doing: "writing", remedy: REMEDY }
      await Effect.runPromise(copyWhenDue(opened.guard, on))
      assert.isAbove(walSize(file), 0)
      opened.database.prepare("INSERT INTO more (data) VALUES (zeroblob(?))").run(LOG_BYTES)
      await Effect.runPromise(copyWhenDue(opened.guard, on))
      assert.strictEqual(walSize(file), 0)
      opened.database.prepare("INSERT INTO more (data) VALUES (zeroblob(?))").run(LOG_BYTES)
      // A folder in the place of the draft: the new sums cannot be written.
      mkdirSync(`${sumsFile(file)}.new`)
      const failed = await Effect.runPromiseExit(copyWhenDue(opened.guard, on))
      assert.isTrue(Exit.isFailure(failed) && String(failed.cause).includes("StorageUnavailable"), String(failed))
      assert.isAbove(walSize(file), 0)
      opened.guard.close()
    }))
})
