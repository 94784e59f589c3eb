import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { existsSync } from "node:fs"
import type { PageGuard } from "../../src/storage/PageGuard.ts"
import { sumsFile } from "../../src/storage/pageSums.ts"
import { readWal, walSize } from "../../src/storage/walFile.ts"
import { copied, type Disk, holds, killed, lastCommit, SYNCS, withLog } from "./loggedDatabase.ts"

/** A copy aside of this guard waits at this sync (the first is 1), or at each turn, and passes all other places at once. */
const waitingAt = (
  guard: PageGuard,
  { disk, place }: { readonly disk: Disk; readonly place: number | "turn" }
): void => {
  const stepsOf = guard.copySteps.bind(guard)
  guard.copySteps = function*() {
    let syncs = 0
    for (const step of stepsOf()) {
      if (typeof step !== "number") {
        if (place === "turn") yield
      } else if (++syncs === place) yield step
      else disk.sync(step)
    }
  }
}

describe("the copy of the log aside", () => {
  it("the event loop has turns during the copy, and the log is empty after it", () =>
    withLog(async ({ file, opened }) => {
      let [turns, isCopied] = [0, false]
      const count = (): void => {
        turns++
        if (!isCopied) setImmediate(count)
      }
      setImmediate(count)
      await opened.guard.copyLogAside()
      isCopied = true
      assert.isAbove(turns, 0)
      assert.strictEqual(walSize(file), 0)
    }))

  it("a copy at once, a close and an end during a sync of the log or the database leave the log to the next process", async () => {
    for (const sync of [1, SYNCS]) {
      for (const how of ["copy", "close", "abandon"] as const) {
        await withLog(async ({ at, disk, file, opened: { guard } }) => {
          waitingAt(guard, { disk, place: sync })
          const first = guard.copyLogAside().then(() => "copied", String)
          if (how === "copy") assert.throws(() => guard.copyLog(), "unknown")
          else if (how === "close") guard.close()
          else guard.abandon()
          assert.include(await first, "unknown")
          guard.close()
          assert.isTrue(existsSync(sumsFile(file)))
          assert.isAbove(readWal(file).frames, 0)
          // The sync had an error, and the system forgot what it was to bring.
          await holds(disk.cut(at("cut"), (piece) => piece === 0), sync === 1 ? 2 : 3)
          await holds(killed(file, at("kill")), 3)
        })
      }
    }
  })

  it("a copy at once and a close end a copy between two syncs, and a second copy aside waits for the first", async () => {
    for (const how of ["copy", "close", "aside"] as const) {
      await withLog(async ({ at, disk, file, opened: { database, guard } }) => {
        // Longer than what is read in one turn.
        database.prepare("INSERT INTO more (id, data) VALUES (?, zeroblob(2000000))").run(30)
        waitingAt(guard, { disk, place: "turn" })
        const first = guard.copyLogAside()
        assert.isAbove(readWal(file).frames, 0)
        if (how === "copy") guard.copyLog()
        else if (how === "close") guard.close()
        else await guard.copyLogAside()
        assert.strictEqual(walSize(file), 0)
        await first
        await holds(killed(file, at("kill")), 3)
      })
    }
  })

  it("pages that an earlier copy brought are synced before the log is emptied", () =>
    withLog(({ disk, file, opened }) => {
      let syncs = 0
      const look = (): void => {
        syncs++
        assert.isAbove(walSize(file), 0)
      }
      // The reader keeps the log in its place after the copy.
      const reader = new SQLite(file, { readonly: true })
      reader.exec("BEGIN")
      assert.strictEqual(lastCommit(reader), 3)
      assert.strictEqual(copied(opened, disk, () => {}), SYNCS)
      assert.isAbove(walSize(file), 0)
      reader.close()
      assert.strictEqual(copied(opened, disk, look), 1)
      assert.strictEqual(syncs, 1)
      assert.strictEqual(walSize(file), 0)
    }))
})
