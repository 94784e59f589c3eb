import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { replaceFile, replaceFileNow } from "../../src/base/atomicFile.ts"
import {
  closeAside,
  type Disk,
  entriesAside,
  fileAside,
  freeAside,
  lstatAside,
  openAside,
  readAside,
  realPathAside,
  removeAside,
  renameAside,
  statAside,
  syncAside,
  systemDisk,
  truncateFile,
  unlinkAside,
  writeAll,
  writeAside
} from "../../src/base/disk.ts"
import { readGiven } from "../../src/base/givenFile.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { blockingDisk, overDisk } from "../support/disk.ts"

const failing = (code: string) => (): never => {
  throw Object.assign(new Error(code), { code })
}

/** Each function that waits for the thread pool, in a life of two files. */
const everything = async (directory: string): Promise<unknown> => {
  const [one, two] = [join(directory, "one"), join(directory, "two")]
  const file = await openAside(one, { flags: "wx", mode: 0o600 })
  await writeAside(file, Buffer.from("abc"))
  writeAll(file, Buffer.from("def"))
  writeAll(file, Buffer.from("B"), 1)
  truncateFile(file, { size: 5 })
  await syncAside(file)
  await closeAside(file)
  await renameAside({ from: one, to: two })
  const again = await openAside(two, { flags: "r" })
  const [some, rest] = [Buffer.alloc(2), Buffer.alloc(9)]
  const counts = [await readAside(again, some), await readAside(again, rest), await readAside(again, some, 3)]
  await closeAside(again)
  const seen = {
    counts,
    text: (await fileAside(two)).toString() + some.toString(),
    given: (await readGiven(two, 100)).toString(),
    size: (await statAside(two)).size,
    isLink: (await lstatAside(two)).isSymbolicLink(),
    entries: await entriesAside(directory),
    real: await realPathAside(directory) === await realPathAside(join(directory, ".")),
    free: await freeAside(directory) > 0,
    missing: await statAside(one).catch(({ code }) => code)
  }
  await replaceFile(two, ["x", Buffer.from("y")])
  const replaced = readFileSync(two, "utf8")
  await unlinkAside(two)
  await removeAside(two)
  return { ...seen, replaced, left: readdirSync(directory) }
}

const EXPECTED = {
  counts: [2, 3, 2],
  text: "aBcdede",
  given: "aBcde",
  size: 5,
  isLink: false,
  entries: ["two"],
  real: true,
  free: true,
  missing: "ENOENT",
  replaced: "xy",
  left: []
}

describe("the disk", () => {
  it.scopedLive("work gives the same on the thread pool and at once", () =>
    Effect.gen(function*() {
      for (const disk of [systemDisk, blockingDisk]) {
        const directory = yield* temporaryDirectory
        assert.deepStrictEqual(yield* Effect.promise(() => everything(directory)).pipe(overDisk(disk)), EXPECTED)
      }
    }))

  it.scopedLive("a full disk and a failed sync leave the old file, and no draft", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const path = join(directory, "file")
      writeFileSync(path, "old")
      const faults: ReadonlyArray<readonly [string, Partial<Disk>]> = [
        ["ENOSPC", { write: failing("ENOSPC") }],
        ["EIO", { sync: failing("EIO") }],
        ["EACCES", { rename: failing("EACCES") }]
      ]
      const writers = [(): Promise<void> => replaceFile(path, ["new"]), async () => replaceFileNow(path, "new")]
      for (const [code, fault] of faults) {
        for (const write of writers) {
          const found = yield* Effect.promise(() => write().catch((error) => error.code)).pipe(
            overDisk({ ...blockingDisk, ...fault })
          )
          assert.strictEqual(found, code)
          assert.strictEqual(readFileSync(path, "utf8"), "old")
          assert.isFalse(existsSync(`${path}.new`))
        }
      }
    }))
})
