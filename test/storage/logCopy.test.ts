import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, Exit, FastCheck, Fiber, Layer, Logger } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, fstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { copyWhenDue } from "../../src/storage/copyWhenDue.ts"
import { openDatabase } from "../../src/storage/Database.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { newerThan, removeDamaged } from "../../src/storage/inspect.ts"
import { LOG_BYTES, type PageGuard } from "../../src/storage/PageGuard.ts"
import { sumsFile } from "../../src/storage/pageSums.ts"
import { readWal, walFile, walSize } from "../../src/storage/walFile.ts"
import { withDirectoryAsync } from "../support/temporary.ts"

const PAGE = 512
const ROWS = 60
const REMEDY = "Do this and that"

const open = (filename: string, pageSize = PAGE) =>
  openDatabase({
    filename,
    pageSize,
    migrations: [
      `CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
       CREATE TABLE more (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT`
    ],
    remedy: REMEDY
  })

type Opened = ReturnType<typeof open>

/** One commit that changes rows all over the file. Row 0 has the number of the commit. */
const commit = ({ database }: Pick<Opened, "database">, number: number): void =>
  database.transaction(() => {
    const put = database.prepare("INSERT OR REPLACE INTO rows (id, data) VALUES (?, ?)")
    put.run(0, Buffer.from([number]))
    for (let id = 1; id < ROWS; id++) put.run(id, Buffer.alloc(40 + 7 * ((number * id) % 90), number))
  })()

/** A commit that changes another page of the file. */
const commitMore = ({ database }: Pick<Opened, "database">, id: number, byte: number): void =>
  void database.prepare("INSERT OR REPLACE INTO more (id, data) VALUES (?, ?)").run(id, Buffer.alloc(400, byte))

/** The number of the last commit. Fails if the rows are not those of that commit. */
const lastCommit = (database: SQLite.Database): number => {
  const rows = database.prepare<[], { readonly id: number; readonly data: Buffer }>("SELECT * FROM rows ORDER BY id")
    .all()
  const number = rows[0]?.data[0] ?? -1
  assert.deepStrictEqual(
    rows.slice(1).map(({ data }) => data.toString("hex")),
    Array.from({ length: ROWS - 1 }, (_, i) => Buffer.alloc(40 + 7 * ((number * (i + 1)) % 90), number).toString("hex"))
  )
  return number
}

const isSound = (filename: string): Promise<boolean> =>
  removeDamaged({ filename, what: "other", remedy: REMEDY, newer: newerThan(1, filename), instead: "it is rebuilt" })
    .pipe(
      Effect.map(() => existsSync(filename)),
      Effect.scoped,
      Effect.provide(Layer.merge(DataHealth.layer, Logger.remove(Logger.defaultLogger))),
      Effect.runPromise
    )

/** What the next process finds in these files: nothing is damaged, and the rows of this commit or a later one are there. */
const holds = async (file: string, least: number): Promise<void> => {
  assert.isTrue(await isSound(file))
  const again = open(file)
  try {
    assert.isAtLeast(lastCommit(again.database), least)
    again.guard.copyLog()
    for (let next: number | undefined = 0; next !== undefined;) next = again.guard.check(next)
  } finally {
    again.guard.close()
  }
  assert.isTrue(await isSound(file))
}

const ENDS = ["", "-wal", ".sums"] as const

/** The files of a database as a disk keeps them: what was synced, and any part of what was written since. */
class Disk {
  private readonly file: string
  private readonly durable = new Map<string, Buffer>()

  constructor(file: string) {
    this.file = file
    for (const end of ENDS) this.synced(end)
  }

  private now(end: string): Buffer {
    return existsSync(`${this.file}${end}`) ? readFileSync(`${this.file}${end}`) : Buffer.alloc(0)
  }

  synced(end: string): void {
    this.durable.set(end, this.now(end))
  }

  /** Syncs what the descriptor belongs to. A directory holds the name of the sums, whose content was synced before. */
  sync(descriptor: number): void {
    const { ino } = fstatSync(descriptor)
    const end = ENDS.find((end) => existsSync(`${this.file}${end}`) && statSync(`${this.file}${end}`).ino === ino)
    if (end !== undefined && end !== ".sums") this.synced(end)
    else if (fstatSync(descriptor).isDirectory()) this.synced(".sums")
  }

  /** What is there after a power cut. `kept` tells for each piece of a file, by number, whether its last content is there. */
  cut(to: string, kept: (piece: number) => boolean): string {
    mkdirSync(to, { recursive: true })
    const copy = join(to, "test.db")
    let piece = 0
    for (const end of ENDS) {
      const [now, before] = [this.now(end), this.durable.get(end) ?? Buffer.alloc(0)]
      if (end === ".sums") {
        writeFileSync(`${copy}${end}`, kept(piece++) ? now : before)
        continue
      }
      const size = kept(piece++) ? now.length : Math.min(before.length, now.length)
      const bytes = Buffer.alloc(size)
      for (let at = 0; at < size; at += PAGE) {
        const from = kept(piece++) ? now : before
        if (at < from.length) from.copy(bytes, at, at, at + PAGE)
      }
      writeFileSync(`${copy}${end}`, bytes)
    }
    return copy
  }
}

/** The files as a process leaves them that is killed now. */
const killed = (file: string, to: string): string => {
  mkdirSync(to, { recursive: true })
  for (const end of ENDS) if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, join(to, `test.db${end}`))
  return join(to, "test.db")
}

/**
 * Runs the copy of a log with two commits in it, with a look before each sync, which may return what happens during that sync.
 * Returns the number of syncs.
 */
const copied = (opened: Opened, disk: Disk, before: (sync: number) => (() => void) | void): number => {
  let syncs = 0
  for (const descriptor of opened.guard.copySteps()) {
    if (typeof descriptor !== "number") continue
    const during = before(syncs++)
    disk.sync(descriptor)
    during?.()
  }
  return syncs
}

/** A database whose file has commit 1 and whose log has 2 and 3, the first of them on the disk. */
const withLog = (
  work: (
    place: { readonly opened: Opened; readonly disk: Disk; readonly file: string; readonly at: (n: string) => string }
  ) => unknown
): Promise<void> =>
  withDirectoryAsync(async (directory) => {
    const file = join(directory, "test.db")
    const opened = open(file)
    try {
      commit(opened, 1)
      for (let id = 0; id < 20; id++) commitMore(opened, id, 1)
      opened.guard.copyLog()
      commit(opened, 2)
      const disk = new Disk(file)
      commit(opened, 3)
      await work({ opened, disk, file, at: (n) => join(directory, n) })
    } finally {
      opened.guard.close()
    }
  })

/** The log, the sums, their directory, the database. */
const SYNCS = process.platform === "win32" ? 3 : 4

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

  it("copyWhenDue ends only after the copy, even if it is interrupted", () =>
    withDirectoryAsync(async (directory) => {
      const file = join(directory, "test.db")
      const opened = open(file, 4096)
      opened.database.prepare("INSERT INTO more (data) VALUES (zeroblob(?))").run(LOG_BYTES)
      const fiber = Effect.runFork(copyWhenDue(opened.guard, { file, doing: "writing", remedy: REMEDY }))
      await Effect.runPromise(Fiber.interrupt(fiber))
      assert.strictEqual(walSize(file), 0)
      opened.guard.close()
    }))

  it("copyWhenDue copies a log that is large, and reports an error of the disk as one of writing", () =>
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
