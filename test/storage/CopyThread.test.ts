import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, FastCheck } from "effect"
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { inject } from "vitest"
import { type CopyOrder, type LaunchCopy, launchWith, runOrder } from "../../src/storage/CopyThread.ts"
import { pragmas } from "../../src/storage/Database.ts"
import { copyBeside, PageDamaged, prepareCopy } from "../../src/storage/logCopy.ts"
import { type GuardOptions, PageGuard } from "../../src/storage/PageGuard.ts"
import { ANY, readSums, sumOf } from "../../src/storage/pageSums.ts"
import { readWal, walFile, walSize } from "../../src/storage/walFile.ts"
import { bundledSource } from "../support/bundle.ts"
import { flipBit } from "../support/chainState.ts"
import { eventually } from "../support/eventually.ts"
import { withDirectory, withDirectoryAsync } from "../support/temporary.ts"

const PAGE = 512

/** Bytes of the log at which it is copied: some ten frames. */
const LOG = 6_000

/** A file with its guard. A test commits with `put` and does the work of the thread, when it wants. */
class File {
  readonly name: string
  readonly database: SQLite.Database
  readonly guard: PageGuard
  /** The orders to threads. */
  readonly orders: Array<{ readonly order: CopyOrder; readonly ended: () => void }> = []

  constructor(
    name: string,
    { fewPages = 0, launch = (order, ended) => void this.orders.push({ order, ended }), logBytes = LOG }: GuardOptions =
      {}
  ) {
    this.name = name
    this.database = new SQLite(name)
    for (const pragma of pragmas(PAGE)) this.database.pragma(pragma)
    this.database.exec("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT")
    this.guard = new PageGuard(name, this.database, { launch, logBytes, fewPages })
  }

  put(id: number, size: number): void {
    this.database.prepare("INSERT OR REPLACE INTO rows (id, data) VALUES (?, ?)").run(id, Buffer.alloc(size, id))
    this.guard.committed()
  }

  /** Commits until a thread has an order. */
  fill(): CopyOrder {
    for (let id = 0; this.orders.length === 0; id++) this.put(id % 40, 700)
    const [first] = this.orders
    return first?.order ?? assert.fail("no order")
  }

  /** The thread of the oldest order ends. */
  ended(): void {
    this.orders.shift()?.ended()
  }

  rows(): ReadonlyArray<string> {
    return this.database.prepare<[], { readonly id: number; readonly data: Buffer }>("SELECT * FROM rows ORDER BY id")
      .all().map(({ data, id }) => `${id} ${data.toString("hex")}`)
  }

  /** A connection that reads the present state until it closes. */
  reader(): SQLite.Database {
    const reader = new SQLite(this.name, { readonly: true })
    reader.exec("BEGIN")
    reader.prepare("SELECT count(*) FROM rows").get()
    return reader
  }
}

const withFile = (work: (file: File) => void): void =>
  withDirectory((directory) => {
    const file = new File(join(directory, "test.db"))
    try {
      work(file)
    } finally {
      file.guard.abandon()
    }
  })

/** The first page that neither matches its sum nor is superseded by the log, as after the end of the process. */
const unsound = (name: string): number | undefined => {
  const known = readSums(name)
  if (typeof known === "string") return assert.fail(`the sums are ${known}`)
  const [bytes, log] = [readFileSync(name), readWal(name)]
  for (const [i, sum] of known.sums.entries()) {
    const page = bytes.subarray(i * PAGE, (i + 1) * PAGE)
    if (sum !== ANY && !log.pages.has(i + 1) && sumOf(page) !== sum) return i + 1
  }
  return undefined
}

/** What a process that starts now finds in copies of the files. */
const afterCrash = ({ name }: File, directory: string): ReadonlyArray<string> => {
  mkdirSync(directory)
  const copy = join(directory, "test.db")
  for (const end of ["", "-wal", ".sums"]) {
    if (existsSync(`${name}${end}`)) copyFileSync(`${name}${end}`, `${copy}${end}`)
  }
  assert.isUndefined(unsound(copy))
  const file = new File(copy)
  const rows = file.rows()
  file.guard.close()
  assert.isUndefined(unsound(copy))
  return rows
}

const STEPS = FastCheck.array(
  FastCheck.oneof(
    {
      weight: 8,
      arbitrary: FastCheck.record({
        type: FastCheck.constant("put" as const),
        id: FastCheck.nat(40),
        size: FastCheck.nat(3_000)
      })
    },
    { weight: 4, arbitrary: FastCheck.constant({ type: "thread" as const }) },
    { weight: 3, arbitrary: FastCheck.constant({ type: "ended" as const }) },
    { weight: 1, arbitrary: FastCheck.record({ type: FastCheck.constant("lost" as const), done: FastCheck.nat(2) }) },
    { weight: 1, arbitrary: FastCheck.constant({ type: "reader" as const }) },
    { weight: 1, arbitrary: FastCheck.constant({ type: "copy" as const }) },
    { weight: 1, arbitrary: FastCheck.constant({ type: "reopen" as const }) }
  ),
  { minLength: 10, maxLength: 40 }
)

describe("a log that a thread copies", () => {
  it("the sums match in every order of commits and steps of the thread, also if the process ends there", () => {
    FastCheck.assert(
      FastCheck.property(STEPS, FastCheck.constantFrom(0, 8), (steps, fewPages) =>
        withDirectory((directory) => {
          let file = new File(join(directory, "test.db"), { fewPages })
          let reader: SQLite.Database | undefined
          try {
            for (const [i, step] of steps.entries()) {
              const order = file.orders[0]?.order
              if (step.type === "put") file.put(step.id, step.size)
              else if (step.type === "thread" && order !== undefined) runOrder(order)
              else if (step.type === "ended") file.ended()
              else if (step.type === "lost" && order !== undefined) {
                // The thread begins, and ends without a result: before or after the sums, or after the copy.
                if (Atomics.compareExchange(order.stage, 0, 0, 1) === 0) {
                  if (step.done === 1) prepareCopy(order.before)
                  if (step.done === 2) copyBeside(order.before)
                }
                file.ended()
              } else if (step.type === "reader") {
                reader?.close()
                reader = reader === undefined ? file.reader() : undefined
              } else if (step.type === "copy") file.guard.copyLog()
              else if (step.type === "reopen") {
                reader?.close()
                reader = undefined
                file.guard.close()
                file = new File(file.name, { fewPages })
              }
              for (let page = file.guard.check(0); page !== undefined;) page = file.guard.check(page)
              assert.deepStrictEqual(afterCrash(file, join(directory, String(i))), file.rows())
            }
          } finally {
            reader?.close()
            file.guard.close()
          }
          assert.isUndefined(unsound(file.name))
        })),
      { numRuns: 10, endOnFailure: true }
    )
  })

  it("the event loop copies no page while the thread may do it, and empties the log after it", () => {
    withFile((file) => {
      const before = readFileSync(file.name)
      const order = file.fill()
      assert.isAtLeast(order.before.frames, 10)
      assert.deepStrictEqual(readFileSync(file.name), before)
      runOrder(order)
      const copied = readFileSync(file.name)
      assert.isAbove(copied.length, before.length)
      assert.isAbove(walSize(file.name), 0)
      file.ended()
      assert.strictEqual(walSize(file.name), 0)
      assert.deepStrictEqual(readFileSync(file.name), copied)
      assert.isUndefined(file.guard.check(0))
    })
  })

  it("the thread copies the state of its order, and a later commit stays in the log", () => {
    withFile((file) => {
      const order = file.fill()
      file.put(1, 600)
      runOrder(order)
      file.put(2, 600)
      const { frames } = readWal(file.name)
      assert.isAbove(frames, order.before.frames)
      file.ended()
      // Frames that are only in the log must not be overwritten.
      assert.strictEqual(readWal(file.name).frames, frames)
      assert.isUndefined(unsound(file.name))
      // The next order begins behind the copied frames.
      const next = file.fill()
      assert.strictEqual(next.before.after?.frames, order.before.frames)
      assert.isAbove(next.before.frames, frames)
      runOrder(next)
      file.ended()
      assert.strictEqual(walSize(file.name), 0)
    })
  })

  it("the event loop copies few pages that commits add meanwhile, and none if they add more", () => {
    for (const [fewPages, left] of [[20, 0], [3, 1]] as const) {
      withDirectory((directory) => {
        const file = new File(join(directory, "test.db"), { fewPages })
        const order = file.fill()
        runOrder(order)
        file.put(1, 3_000)
        const added = readWal(file.name).frames - order.before.frames
        assert.isAbove(added, 3)
        assert.isBelow(added, 20)
        file.ended()
        assert.strictEqual(Math.sign(walSize(file.name)), left)
        assert.isUndefined(unsound(file.name))
        file.guard.close()
      })
    }
  })

  it("the event loop copies a log that grows to four times the size, after it has withdrawn the order", () => {
    withFile((file) => {
      const order = file.fill()
      const commits: Array<number> = []
      for (let id = 0; walSize(file.name) > 0; id++) {
        commits.push(walSize(file.name))
        file.put(id % 40, 700)
      }
      assert.isAbove(commits.at(-1) ?? 0, 3 * LOG)
      assert.isBelow(commits.at(-1) ?? 0, 4 * LOG + 8 * PAGE)
      const sums = readSums(file.name)
      runOrder(order)
      file.ended()
      assert.deepStrictEqual(readSums(file.name), sums)
      assert.isUndefined(file.guard.check(0))
    })
  })

  it("after the loss of a thread the log stays, and the event loop copies it after the next commit", () => {
    for (const done of [prepareCopy, copyBeside]) {
      withFile((file) => {
        const { before, stage } = file.fill()
        Atomics.store(stage, 0, 1)
        done(before)
        file.ended()
        file.database.exec("DELETE FROM rows WHERE id = 1")
        // The commit did not start the log again: the guard does not know yet which sums are in force.
        assert.isAbove(readWal(file.name).frames, before.frames)
        assert.isUndefined(file.guard.check(0))
        file.put(2, 600)
        assert.strictEqual(walSize(file.name), 0)
        assert.isUndefined(file.guard.check(0))
        assert.isUndefined(unsound(file.name))
      })
    }
  })

  it("a page that the thread finds damaged fails the next commit", () => {
    withFile((file) => {
      for (let id = 0; id < 40; id++) file.put(id, 700)
      file.guard.copyLog()
      file.orders.splice(0)
      const order = file.fill()
      const page = [...readWal(file.name).pages.keys()].find((number) => number > 2) ?? assert.fail("no page")
      flipBit(file.name, 8 * (page - 1) * PAGE + 777)
      const sums = readSums(file.name)
      runOrder(order)
      file.ended()
      assert.deepStrictEqual(readSums(file.name), sums)
      assert.throws(() => file.put(1, 600), PageDamaged, `page ${page} does not match its checksum`)
    })
  })

  it("a change in the log fails the next commit", () => {
    withFile((file) => {
      const order = file.fill()
      flipBit(walFile(file.name), 8 * 32 + 777)
      runOrder(order)
      file.ended()
      assert.throws(() => file.put(1, 600), PageDamaged, "write-ahead log")
    })
  })
})

describe("a thread that copies a log", () => {
  const program = (): URL =>
    bundledSource(inject("sharedDirectory"), new URL("../../src/storage/copyWorker.ts", import.meta.url))

  it("copies while the event loop commits, until the log is empty", async () => {
    await withDirectoryAsync(async (directory) => {
      let ended = 0
      const launch: LaunchCopy = (order, done) =>
        launchWith(program())(order, () => {
          done()
          ended++
        })
      const file = new File(join(directory, "test.db"), { launch, logBytes: 60_000, fewPages: 10 })
      while (walSize(file.name) < 60_000) file.put(Math.floor(walSize(file.name) / 512) % 40, 700)
      assert.isAtLeast(walSize(file.name), 60_000)
      let id = 0
      await Effect.runPromise(eventually("two threads ended", () => {
        file.put(id++ % 40, 700)
        return ended >= 2
      }))
      file.guard.copyLog()
      assert.isUndefined(file.guard.check(0))
      // The guard waits for a thread that copies, and withdraws the order of one that has not begun.
      while (walSize(file.name) < 60_000) file.put(Math.floor(walSize(file.name) / 512) % 40, 700)
      const rows = file.rows()
      file.guard.close()
      assert.isUndefined(unsound(file.name))
      const again = new File(file.name)
      assert.deepStrictEqual(again.rows(), rows)
      again.guard.close()
    })
  })

  it("if its program fails, the event loop copies after the next commit", async () => {
    await withDirectoryAsync(async (directory) => {
      let ended = false
      const launch: LaunchCopy = (order, done) =>
        launchWith(pathToFileURL(join(directory, "missing.mjs")))(order, () => {
          done()
          ended = true
        })
      const file = new File(join(directory, "test.db"), { launch })
      while (walSize(file.name) < LOG) file.put(1, 700)
      await Effect.runPromise(eventually("the thread ended", () => ended))
      file.put(2, 700)
      assert.strictEqual(walSize(file.name), 0)
      file.guard.close()
    })
  })
})
