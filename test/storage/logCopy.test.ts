import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { FastCheck } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, statSync } from "node:fs"
import { sumsFile } from "../../src/storage/pageSums.ts"
import { readWal, walFile, walSize } from "../../src/storage/walFile.ts"
import { commit, commitMore, copied, holds, killed, lastCommit, PAGE, ROWS, SYNCS, withLog } from "./loggedDatabase.ts"

/** Whether the largest size of this process's files can be set. */
const hasLimits = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0

const failure = (): Error => Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO" })

describe("the copy of the log in steps", () => {
  it("a kill before each sync and at the end loses no commit", () =>
    withLog(async ({ at, disk, file, opened }) => {
      const images: Array<string> = []
      assert.strictEqual(copied(opened, disk, (n) => void images.push(killed(file, at(`kill${n}`)))), SYNCS)
      images.push(killed(file, at("end")))
      assert.strictEqual(walSize(file), 0)
      for (const image of images) await holds(image, 3)
    }))

  it("a power cut before each sync, and after the last, loses no commit that was synced", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(
        FastCheck.array(FastCheck.boolean(), { minLength: 1, maxLength: 600 }),
        (dice) =>
          withLog(async ({ at, disk, file, opened }) => {
            const other = new SQLite(file)
            const images: Array<readonly [string, number]> = []
            const cut = (n: number) => {
              // The first sync is that of the log: before it, only the second commit is certain.
              images.push([disk.cut(at(`cut${n}`), (piece) => dice[piece % dice.length] ?? false), n === 0 ? 2 : 3])
              // The commits of other writers meanwhile may be lost, but without damage.
              return () => commitMore({ database: other }, n, 2)
            }
            cut(copied(opened, disk, cut))
            other.close()
            for (const [image, least] of images) await holds(image, least)
          })
      ),
      { numRuns: 5, endOnFailure: true, examples: [[[true]], [[false]], [[true, false]]] }
    )
  })

  it("after an error of any sync nothing is lost, and after one of the log or the database nothing is copied any more", async () => {
    for (let failing = 0; failing < SYNCS; failing++) {
      await withLog(async ({ at, disk, file, opened }) => {
        const steps = opened.guard.copySteps()
        let syncs = 0
        const run = (): void => {
          for (let next = steps.next(); next.done !== true;) {
            if (typeof next.value !== "number") next = steps.next()
            else if (syncs++ === failing) next = steps.throw(failure())
            else {
              disk.sync(next.value)
              next = steps.next()
            }
          }
        }
        assert.throws(run, "EIO")
        const isFinal = failing === 0 || failing === SYNCS - 1
        commit(opened, 4)
        if (isFinal) assert.throws(() => opened.guard.copyLog(), "EIO")
        opened.guard.close()
        // SQLite would have copied the log at the close and removed it.
        assert.strictEqual(existsSync(walFile(file)), isFinal)
        if (isFinal) {
          assert.isTrue(existsSync(sumsFile(file)))
          // The disk never got what the failed sync was to bring.
          if (failing > 0) disk.synced("-wal")
          await holds(disk.cut(at("cut"), (piece) => piece === 0), failing > 0 ? 4 : 2)
        }
        await holds(killed(file, at("kill")), 4)
      })
    }
  })

  it.skipIf(!hasLimits)(
    "a disk that refuses pages of the database during the copy is reported, and the log stays",
    () =>
      withLog(({ disk, file, opened }) => {
        opened.database.prepare("INSERT INTO rows (id, data) VALUES (?, ?)").run(ROWS, Buffer.alloc(200 * PAGE))
        const prlimit = (...options: ReadonlyArray<string>): string =>
          execFileSync("prlimit", [`--pid=${process.pid}`, ...options], { encoding: "utf8" })
        const limit = (bytes: string): void => void prlimit(`--fsize=${bytes}:`)
        const before = prlimit("--fsize", "--noheadings", "--raw", "--output=SOFT").trim()
        const refused = statSync(file).size + 50 * PAGE
        try {
          assert.throws(() =>
            copied(opened, disk, (sync) => {
              // The log and the sums are on the disk; the next write is that of the pages.
              if (sync === SYNCS - 2) limit(String(refused))
            }), "disk I/O error")
        } finally {
          limit(before)
        }
        assert.isAtMost(statSync(file).size, refused)
        assert.isAbove(readWal(file).frames, 0)
        for (let next: number | undefined = 0; next !== undefined;) next = opened.guard.check(next)
        opened.database.prepare("DELETE FROM rows WHERE id = ?").run(ROWS)
        opened.guard.copyLog()
        assert.strictEqual(walSize(file), 0)
        assert.strictEqual(lastCommit(opened.database), 3)
      })
  )

  it("commits during the copy stay in the log until the next one, whose readers see every state", () =>
    withLog(async ({ at, disk, file, opened }) => {
      const other = new SQLite(file)
      let [number, images] = [4, 0]
      const kept: Array<string> = []
      copied(opened, disk, () => {
        commit({ database: other }, number++)
        kept.push(killed(file, at(`kill${images++}`)))
        assert.strictEqual(lastCommit(opened.database), number - 1)
        assert.isUndefined(opened.guard.check(0))
      })
      other.close()
      assert.isAbove(readWal(file).frames, 0)
      for (const [i, image] of kept.entries()) await holds(image, 4 + i)
      opened.guard.copyLog()
      assert.strictEqual(walSize(file), 0)
      assert.isUndefined(opened.guard.check(0))
      assert.strictEqual(lastCommit(opened.database), number - 1)
    }))

  it("a reader of an older state leaves the log, and is not disturbed", () =>
    withLog(async ({ disk, file, opened }) => {
      const reader = new SQLite(file, { readonly: true })
      reader.exec("BEGIN")
      assert.strictEqual(lastCommit(reader), 3)
      commit(opened, 4)
      copied(opened, disk, () => assert.strictEqual(lastCommit(reader), 3))
      assert.isAbove(readWal(file).frames, 0)
      assert.strictEqual(lastCommit(reader), 3)
      reader.close()
      copied(opened, disk, () => {})
      assert.strictEqual(walSize(file), 0)
    }))
})
