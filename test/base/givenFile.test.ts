import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { closeSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { codeOf, reasonOf } from "../../src/base/errorCode.ts"
import { openGiven, readGiven, readGivenNow } from "../../src/base/givenFile.ts"
import { temporaryDirectory } from "../support/chain.ts"

const reasonThrown = async (work: () => unknown): Promise<string> => {
  try {
    await work()
  } catch (error) {
    return reasonOf(codeOf(error))
  }
  return "nothing was thrown"
}

describe.skipIf(process.platform === "win32")("a file that a caller names", () => {
  it.scoped("is refused at once if it is a FIFO, a device or a directory", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const fifo = join(directory, "fifo")
      execFileSync("mkfifo", [fifo])
      mkdirSync(join(directory, "folder"))
      const cases = [[fifo, "it is not a regular file"], ["/dev/zero", "it is not a regular file"], [
        join(directory, "folder"),
        "it is a directory"
      ]] as const
      for (const [path, reason] of cases) {
        for (const work of [() => openGiven(path), () => readGivenNow(path, 10), () => readGiven(path, 10)]) {
          assert.strictEqual(yield* Effect.promise(() => reasonThrown(work)), reason, path)
        }
      }
    }))

  it.skipIf(process.platform !== "linux")("is refused if it has more than its size says", async () => {
    for (const work of [() => readGivenNow("/proc/self/maps", 10), () => readGiven("/proc/self/maps", 10)]) {
      assert.strictEqual(await reasonThrown(work), reasonOf("ETOOLARGE"))
    }
    assert.isAbove((await readGiven("/proc/self/maps", 100_000_000)).length, 10)
  })

  it.scoped("is read up to a number of bytes", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "file")
      writeFileSync(path, "0123456789")
      closeSync(openGiven(path))
      assert.strictEqual(readGivenNow(path, 10).toString(), "0123456789")
      assert.strictEqual((yield* Effect.promise(() => readGiven(path, 10))).toString(), "0123456789")
      for (const work of [() => readGivenNow(path, 9), () => readGiven(path, 9)]) {
        assert.strictEqual(yield* Effect.promise(() => reasonThrown(work)), "it is too large")
      }
    }))
})
