import { assert, describe, it } from "@effect/vitest"
import SQLite from "better-sqlite3"
import { Effect, FastCheck, Layer, Logger } from "effect"
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { join } from "node:path"
import { openDatabase } from "../../src/storage/Database.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { newerThan, removeDamaged } from "../../src/storage/inspect.ts"
import { PageDamaged } from "../../src/storage/PageGuard.ts"
import { decodeSums, readSums, sumOf, sumsFile } from "../../src/storage/pageSums.ts"
import { readWal, walFile } from "../../src/storage/walFile.ts"
import { flipBit } from "../support/chainState.ts"
import { withDirectory, withDirectoryAsync } from "../support/temporary.ts"

const PAGE = 512
const TABLE = "CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT"
const REMEDY = "Do this and that"

const open = (filename: string) => openDatabase({ filename, pageSize: PAGE, migrations: [TABLE], remedy: REMEDY })

const withFile = (work: (file: string, directory: string) => void): void =>
  withDirectory((directory) => work(join(directory, "test.db"), directory))

/** Inspects a file as at a start. Returns how often damage was found. */
const inspected = async (filename: string): Promise<number> => {
  const looked = Effect.gen(function*() {
    yield* removeDamaged({
      filename,
      what: "other",
      remedy: REMEDY,
      newer: newerThan(1, filename),
      instead: "it is rebuilt"
    })
    const health = yield* DataHealth.DataHealth
    yield* health.register({
      what: "other",
      unit: "pages",
      total: Effect.succeed(0),
      check: () => Effect.succeed(undefined)
    })
    return (yield* health.progress)[0]?.damaged ?? 0
  })
  return Effect.runPromise(looked.pipe(
    Effect.scoped,
    Effect.provide(Layer.merge(DataHealth.layer, Logger.remove(Logger.defaultLogger)))
  ))
}

/** Copies the files that a process leaves behind if it ends now. */
const copyTo = (file: string, directory: string): string => {
  mkdirSync(directory, { recursive: true })
  const copy = join(directory, "test.db")
  for (const end of ["", "-wal", ".sums"]) {
    rmSync(`${copy}${end}`, { force: true })
    if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, `${copy}${end}`)
  }
  return copy
}

const steps = FastCheck.array(
  FastCheck.oneof(
    FastCheck.record({ type: FastCheck.constant("put" as const), id: FastCheck.nat(60), size: FastCheck.nat(3_000) }),
    FastCheck.record({ type: FastCheck.constant("remove" as const), id: FastCheck.nat(60) }),
    FastCheck.record({
      type: FastCheck.constant("undone" as const),
      id: FastCheck.nat(60),
      size: FastCheck.nat(3_000)
    }),
    FastCheck.record({ type: FastCheck.constant("copy" as const) }),
    FastCheck.record({ type: FastCheck.constant("reopen" as const) })
  ),
  { minLength: 1, maxLength: 20 }
)

type Opened = ReturnType<typeof open>

const rowsOf = (database: Opened["database"]): unknown =>
  database.prepare<[], { readonly id: number; readonly data: Buffer }>("SELECT id, data FROM rows ORDER BY id").all()
    .map(({ data, id }) => `${id} ${data.toString("hex")}`)

const put = ({ database }: Opened, id: number, size: number): void =>
  void database.prepare("INSERT OR REPLACE INTO rows (id, data) VALUES (?, ?)").run(id, Buffer.alloc(size, id))

/** Runs the steps and calls `after` after each. */
const take = (
  file: string,
  all: typeof steps extends FastCheck.Arbitrary<infer A> ? A : never,
  after: (opened: Opened, rows: unknown) => void
): void => {
  let opened = open(file)
  try {
    for (const step of all) {
      const { database, guard } = opened
      if (step.type === "put") put(opened, step.id, step.size)
      else if (step.type === "remove") database.prepare("DELETE FROM rows WHERE id = ?").run(step.id)
      else if (step.type === "undone") {
        database.exec("BEGIN")
        put(opened, step.id, step.size)
        database.exec("ROLLBACK")
      } else if (step.type === "copy") guard.copyLog()
      else {
        guard.close()
        opened = open(file)
      }
      after(opened, rowsOf(opened.database))
    }
  } finally {
    opened.guard.close()
  }
}

describe("readWal", () => {
  it("readWal finds what SQLite recovers from a log that is truncated or changed anywhere", () => {
    FastCheck.assert(
      FastCheck.property(steps, FastCheck.nat(), FastCheck.nat(), (all, cut, bit) =>
        withFile((file, directory) => {
          take(file, all, () => {})
          const opened = open(file)
          for (let id = 0; id < 5; id++) put(opened, id, 900 * id)
          const copy = copyTo(file, join(directory, "copy"))
          opened.guard.close()
          const log = readFileSync(walFile(copy))
          // The main file without the content of the log: SQLite's recovery is the reference.
          const changed = cut % 2 === 0 ? log.subarray(0, cut % (log.length + 1)) : log
          writeFileSync(walFile(copy), changed)
          if (cut % 2 === 1) flipBit(walFile(copy), bit)
          const ours = readWal(copy)
          const database = new SQLite(copy)
          try {
            database.pragma("wal_autocheckpoint = 0")
            database.prepare("SELECT count(*) FROM sqlite_master").get()
            const [row] = [database.prepare<[], { readonly log: number }>("PRAGMA wal_checkpoint(NOOP)").get()]
            assert.strictEqual(ours.frames, Math.max(0, row?.log ?? 0))
            database.pragma("wal_checkpoint(TRUNCATE)")
            if (ours.frames > 0) assert.strictEqual(database.pragma("page_count", { simple: true }), ours.pageCount)
          } finally {
            database.close()
          }
          const pages = readFileSync(copy)
          for (const [page, sum] of ours.pages) {
            if (page <= ours.pageCount) assert.strictEqual(sumOf(pages.subarray((page - 1) * PAGE, page * PAGE)), sum)
          }
        })),
      { numRuns: 20, endOnFailure: true }
    )
  })
})

describe("the checksums of a database", () => {
  it("the checksums match after every step, even if the process ends there", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(steps, async (all) => {
        const pending: Array<() => Promise<void>> = []
        await withDirectoryAsync(async (directory) => {
          let number = 0
          take(join(directory, "test.db"), all, (_opened, rows) => {
            const copy = copyTo(join(directory, "test.db"), join(directory, `copy${number++}`))
            pending.push(async () => {
              assert.strictEqual(await inspected(copy), 0)
              const again = open(copy)
              try {
                assert.deepStrictEqual(rowsOf(again.database), rows)
                again.guard.copyLog()
                for (let next: number | undefined = 0; next !== undefined;) next = again.guard.check(next)
              } finally {
                again.guard.close()
              }
            })
          })
          for (const one of pending) await one()
        })
      }),
      { numRuns: 8, endOnFailure: true }
    )
  })

  it("the checksums match between the write of the checksums and the copy of the log", async () => {
    await withDirectoryAsync(async (directory) => {
      const file = join(directory, "test.db")
      const opened = open(file)
      for (let id = 0; id < 20; id++) put(opened, id, 700)
      const before = copyTo(file, join(directory, "before"))
      opened.guard.copyLog()
      const rows = rowsOf(opened.database)
      opened.guard.close()
      // The old file and its log with the new sums: what a crash in the middle of `copyLog` leaves.
      copyFileSync(sumsFile(file), sumsFile(before))
      assert.strictEqual(await inspected(before), 0)
      const again = open(before)
      assert.deepStrictEqual(rowsOf(again.database), rows)
      again.guard.close()
      assert.strictEqual(await inspected(before), 0)
    })
  })

  it("the checksums reveal any flipped bit in a closed file", async () => {
    await FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.nat(), async (bit) =>
        withDirectoryAsync(async (directory) => {
          const file = join(directory, "test.db")
          const opened = open(file)
          for (let id = 0; id < 40; id++) put(opened, id, 700)
          opened.guard.close()
          flipBit(file, bit)
          assert.strictEqual(await inspected(file), 1)
          assert.isFalse(existsSync(file) || existsSync(sumsFile(file)))
          open(file).guard.close()
          assert.strictEqual(await inspected(file), 0)
        })),
      { numRuns: 15, endOnFailure: true }
    )
  })

  it("missing or changed checksums of an intact database are computed again", async () => {
    await withDirectoryAsync(async (directory) => {
      const file = join(directory, "test.db")
      const opened = open(file)
      for (let id = 0; id < 40; id++) put(opened, id, 700)
      const rows = rowsOf(opened.database)
      opened.guard.close()
      for (const damage of [() => rmSync(sumsFile(file)), () => flipBit(sumsFile(file), 777)]) {
        damage()
        assert.strictEqual(await inspected(file), 0)
        const again = open(file)
        assert.deepStrictEqual(rowsOf(again.database), rows)
        again.guard.close()
        const sums = readSums(file)
        assert.isTrue(typeof sums !== "string" && sums.sums.length * PAGE === statSync(file).size)
      }
    })
  })

  it("a changed file of checksums is refused", () => {
    withFile((file) => {
      open(file).guard.close()
      const bytes = readFileSync(sumsFile(file))
      FastCheck.assert(FastCheck.property(FastCheck.nat(8 * bytes.length - 1), (bit) => {
        const changed = Buffer.from(bytes)
        changed[bit >>> 3] = (changed[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
        assert.isUndefined(decodeSums(changed))
      }))
    })
  })

  it("the checksums reveal a changed page of an open database: in the check, and before it is overwritten", () => {
    for (const how of ["check", "copy"] as const) {
      withFile((file) => {
        const opened = open(file)
        for (let id = 0; id < 40; id++) put(opened, id, 700)
        opened.guard.copyLog()
        put(opened, 7, 700)
        const changed = [...readWal(file).pages.keys()].find((page) => page > 2)
        if (changed === undefined) assert.fail("the log holds the root alone")
        flipBit(file, 8 * (changed - 1) * PAGE + 777)
        if (how === "copy") assert.throws(() => opened.guard.copyLog(), PageDamaged, "does not match its checksum")
        else {
          // The log supersedes this page, so the check does not read it.
          assert.isUndefined(opened.guard.check(0))
          flipBit(file, 8 * (changed - 1) * PAGE + 777)
          opened.guard.copyLog()
          flipBit(file, 8 * (changed - 1) * PAGE + 777)
          assert.throws(() => opened.guard.check(0), PageDamaged, `page ${changed} does not match its checksum`)
        }
        opened.guard.abandon()
      })
    }
  })

  it("the checksums reveal a changed log of an open database", () => {
    withFile((file) => {
      const opened = open(file)
      put(opened, 1, 700)
      put(opened, 2, 700)
      flipBit(walFile(file), 8 * 32 + 777)
      assert.throws(() => opened.guard.check(0), PageDamaged, "write-ahead log")
      assert.throws(() => opened.guard.copyLog(), PageDamaged, "write-ahead log")
      opened.guard.abandon()
    })
  })

  it("the copy of the log waits for a reader of an older state", () => {
    withFile((file) => {
      const opened = open(file)
      put(opened, 1, 700)
      const reader = new SQLite(file, { readonly: true })
      reader.exec("BEGIN")
      reader.prepare("SELECT count(*) FROM rows").get()
      for (let id = 2; id < 40; id++) put(opened, id, 700)
      opened.guard.copyLog()
      assert.isUndefined(opened.guard.check(0))
      assert.isAbove(readWal(file).frames, 0)
      reader.exec("COMMIT")
      reader.close()
      opened.guard.copyLog()
      assert.strictEqual(readWal(file).frames, 0)
      assert.isUndefined(opened.guard.check(0))
      opened.guard.close()
    })
  })

  it("a log that grows behind a long read is copied seldom", () => {
    withDirectory((directory) => {
      const file = join(directory, "test.db")
      const { database, guard } = openDatabase({ filename: file, pageSize: 4096, migrations: [TABLE], remedy: REMEDY })
      let copies = 0
      const copy = guard.copyLog.bind(guard)
      guard.copyLog = () => {
        copies++
        copy()
      }
      const reader = new SQLite(file, { readonly: true })
      reader.exec("BEGIN")
      reader.prepare("SELECT count(*) FROM rows").get()
      const insert = database.prepare("INSERT INTO rows (data) VALUES (zeroblob(1048576))")
      const write = (megabytes: number): void => {
        for (let i = 0; i < megabytes; i++) {
          insert.run()
          guard.committed()
        }
      }
      write(48)
      // At about 8, 13, 20, 31 and 47 MB.
      assert.strictEqual(copies, 5)
      reader.exec("COMMIT")
      reader.close()
      write(24)
      assert.strictEqual(copies, 6)
      assert.isBelow(readWal(file).frames, 4_096)
      for (let page = guard.check(0); page !== undefined;) page = guard.check(page)
      guard.close()
    })
  })
})

describe("a guard that is closed", () => {
  it("a closed guard does not close another file with the same descriptor number", () =>
    withFile((file, directory) => {
      const { guard } = open(file)
      const other = join(directory, "other")
      writeFileSync(other, "words")
      guard.abandon()
      // The system gives the lowest free number: the one that the guard had.
      const descriptor = openSync(other, "r")
      guard.close()
      guard.abandon()
      assert.strictEqual(readFileSync(descriptor, "utf8"), "words")
      closeSync(descriptor)
    }))
})
