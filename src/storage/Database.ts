import SQLite from "better-sqlite3"
import { accessSync, constants, existsSync } from "node:fs"
import { keepPrivate } from "../base/privateFile.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "./errors.ts"
import { PageDamaged, PageGuard } from "./PageGuard.ts"

/**
 * SQLite for the stores whose budget leaves no room for a fiber a statement: prepared statements straight on the
 * driver, called from one writer (a point read takes 5 µs here and 50 µs through a client that queues).
 */
export type Database = SQLite.Database

export type Statement<Bind extends Array<unknown>, Row> = SQLite.Statement<Bind, Row>

const CORRUPTED = new Set(["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CORRUPT_INDEX", "SQLITE_CORRUPT_VTAB"])

/** Whether the driver says that a file is damaged. */
export const isDamage = (cause: unknown): cause is Error & { readonly code: string } =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" && CORRUPTED.has(cause.code)

/** Turns what the driver or the file system throws into what happened to which file; rethrows anything else. */
export const storageFailure = (file: string, doing: string, remedy: string) => (cause: unknown): StorageFailure => {
  if (cause instanceof StorageCorrupted || cause instanceof StorageUnavailable) return cause
  if (isDamage(cause) || cause instanceof PageDamaged) {
    return new StorageCorrupted({ file, found: cause.message, remedy })
  }
  // The driver's own words for a folder that is not there, the one refusal that has no code.
  if (cause instanceof TypeError && cause.message.includes("directory does not exist")) {
    return new StorageUnavailable({ file, doing, reason: cause.message })
  }
  if (!(cause instanceof Error) || !("code" in cause) || typeof cause.code !== "string") throw cause
  return new StorageUnavailable({ file, doing, reason: `${cause.message} (${cause.code})` })
}

/** Runs `work` and throws what goes wrong as a `StorageFailure`. */
export const guarded = <A>(file: string, doing: string, remedy: string, work: () => A): A => {
  try {
    return work()
  } catch (cause) {
    throw storageFailure(file, doing, remedy)(cause)
  }
}

/**
 * Throws what the file system says of a file that may not be written. SQLite would open it all the same, leave
 * read-only files beside it, and say so in the middle of the work.
 */
export const requireWritable = (filename: string): void => {
  if (existsSync(filename)) accessSync(filename, constants.R_OK | constants.W_OK)
}

export interface OpenOptions {
  readonly filename: string
  /** Bytes; a power of two from 512 to 65536. Takes effect where the file is new. */
  readonly pageSize: number
  /** Statements that bring an empty or older file to the present form, one a version. */
  readonly migrations: ReadonlyArray<string>
  /** What the operator can do where the file turns out to be damaged. */
  readonly remedy: string
}

/** A step that changes nothing: a version that knows no sums refuses the file, instead of leaving them out of date. */
export const PAGES_HAVE_SUMS = "-- pages have sums beside the file"

/** A database and what keeps the sums of its pages. */
export interface OpenDatabase {
  readonly database: Database
  readonly guard: PageGuard
}

/**
 * Opens a SQLite file and brings it to its present form. Its guard is to hear of each commit, and closes it. Throws `StorageFailure`, also for a file made by a newer
 * version: what it holds cannot be judged, so it is not touched.
 */
export const openDatabase = ({ filename, migrations, pageSize, remedy }: OpenOptions): OpenDatabase =>
  guarded(filename, "opening", remedy, () => {
    requireWritable(filename)
    keepPrivate(filename)
    const database = new SQLite(filename)
    let guard: PageGuard | undefined
    try {
      refuseNewer(database, filename, migrations, remedy)
      for (const pragma of pragmas(pageSize)) database.pragma(pragma)
      guard = new PageGuard(filename, database)
      migrate(database, migrations)
      return { database, guard }
    } catch (cause) {
      if (guard === undefined) database.close()
      else guard.close()
      throw cause
    }
  })

/** How every database of the node is set up, in this order: the page size is fixed by the first write. */
export const pragmas = (pageSize: number): ReadonlyArray<string> => [
  `page_size = ${pageSize}`,
  // A write, where the file is new.
  "journal_mode = WAL",
  // What a power cut takes away is had again from the blocks; a killed process loses nothing.
  "synchronous = NORMAL",
  "temp_store = MEMORY",
  // The guard copies the log, after it has written the sums of what it copies.
  "wal_autocheckpoint = 0"
]

/** What is wrong with a file of a newer version. */
export const newerFormat = (version: number, known: number): string =>
  `its format is ${version}, this version of svcd knows formats up to ${known}`

/** What the operator can do about that. */
export const newerRemedy = (remedy: string): string => `Use the version of svcd that made it, or: ${remedy}`

const versionOf = (database: Database): number => Number(database.pragma("user_version", { simple: true }))

/** Before anything is written. */
const refuseNewer = (database: Database, file: string, migrations: ReadonlyArray<string>, remedy: string): void => {
  const version = versionOf(database)
  if (version <= migrations.length) return
  throw new StorageCorrupted({ file, found: newerFormat(version, migrations.length), remedy: newerRemedy(remedy) })
}

const migrate = (database: Database, migrations: ReadonlyArray<string>): void => {
  for (let next = versionOf(database); next < migrations.length; next++) {
    database.transaction(() => {
      database.exec(migrations[next] ?? "")
      database.pragma(`user_version = ${next + 1}`)
    })()
  }
}
