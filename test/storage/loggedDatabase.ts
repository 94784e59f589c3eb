import { assert } from "@effect/vitest"
import type SQLite from "better-sqlite3"
import { Effect, Layer, Logger } from "effect"
import { copyFileSync, existsSync, fstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openDatabase } from "../../src/storage/Database.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import { newerThan, removeDamaged } from "../../src/storage/inspect.ts"
import { withDirectoryAsync } from "../support/temporary.ts"

/** A database with commits in its log, its copy into the database step by step, and what a kill or a power cut leaves of both. */

export const PAGE = 512
export const ROWS = 60
export const REMEDY = "Do this and that"

export const open = (filename: string, pageSize = PAGE) =>
  openDatabase({
    filename,
    pageSize,
    migrations: [
      `CREATE TABLE rows (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
       CREATE TABLE more (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT`
    ],
    remedy: REMEDY
  })

export type Opened = ReturnType<typeof open>

/** One commit that changes rows all over the file. Row 0 has the number of the commit. */
export const commit = ({ database }: Pick<Opened, "database">, number: number): void =>
  database.transaction(() => {
    const put = database.prepare("INSERT OR REPLACE INTO rows (id, data) VALUES (?, ?)")
    put.run(0, Buffer.from([number]))
    for (let id = 1; id < ROWS; id++) put.run(id, Buffer.alloc(40 + 7 * ((number * id) % 90), number))
  })()

/** A commit that changes another page of the file. */
export const commitMore = ({ database }: Pick<Opened, "database">, id: number, byte: number): void =>
  void database.prepare("INSERT OR REPLACE INTO more (id, data) VALUES (?, ?)").run(id, Buffer.alloc(400, byte))

/** The number of the last commit. Fails if the rows are not those of that commit. */
export const lastCommit = (database: SQLite.Database): number => {
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
export const holds = async (file: string, least: number): Promise<void> => {
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
export class Disk {
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
export const killed = (file: string, to: string): string => {
  mkdirSync(to, { recursive: true })
  for (const end of ENDS) if (existsSync(`${file}${end}`)) copyFileSync(`${file}${end}`, join(to, `test.db${end}`))
  return join(to, "test.db")
}

/**
 * Runs the copy of a log with two commits in it, with a look before each sync, which may return what happens during that sync.
 * Returns the number of syncs.
 */
export const copied = (opened: Opened, disk: Disk, before: (sync: number) => (() => void) | void): number => {
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
export const withLog = (
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
export const SYNCS = process.platform === "win32" ? 3 : 4
