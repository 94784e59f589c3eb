import SQLite from "better-sqlite3"
import { accessSync, constants, existsSync } from "node:fs"
import { keepPrivate } from "../base/privateFile.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "./errors.ts"

/**
 * SQLite for the stores whose budget leaves no room for a fiber a statement: prepared statements straight on the
 * driver, called from one writer (a point read takes 5 µs here and 50 µs through a client that queues).
 */
export type Database = SQLite.Database

export type Statement<Bind extends Array<unknown>, Row> = SQLite.Statement<Bind, Row>

const CORRUPTED = new Set(["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CORRUPT_INDEX", "SQLITE_CORRUPT_VTAB"])

/** Turns what the driver or the file system throws into what happened to which file; rethrows anything else. */
export const storageFailure = (file: string, doing: string, remedy: string) => (cause: unknown): StorageFailure => {
  if (cause instanceof StorageCorrupted || cause instanceof StorageUnavailable) return cause
  // The driver's own words for a folder that is not there, the one refusal that has no code.
  if (cause instanceof TypeError && cause.message.includes("directory does not exist")) {
    return new StorageUnavailable({ file, doing, reason: cause.message })
  }
  if (!(cause instanceof Error) || !("code" in cause) || typeof cause.code !== "string") throw cause
  if (CORRUPTED.has(cause.code)) return new StorageCorrupted({ file, found: cause.message, remedy })
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

/**
 * Opens a SQLite file and brings it to its present form. Throws `StorageFailure`, also for a file made by a newer
 * version: what it holds cannot be judged, so it is not touched.
 */
export const openDatabase = ({ filename, migrations, pageSize, remedy }: OpenOptions): Database =>
  guarded(filename, "opening", remedy, () => {
    requireWritable(filename)
    keepPrivate(filename)
    const database = new SQLite(filename)
    try {
      refuseNewer(database, filename, migrations, remedy)
      // The page size is fixed by the first write, and switching to WAL is a write.
      database.pragma(`page_size = ${pageSize}`)
      database.pragma("journal_mode = WAL")
      database.pragma("synchronous = NORMAL")
      database.pragma("temp_store = MEMORY")
      // SQLite grows the log until it can be copied back; a bound keeps a long import from filling the disk twice.
      database.pragma("journal_size_limit = 67108864")
      migrate(database, migrations)
      return database
    } catch (cause) {
      database.close()
      throw cause
    }
  })

const versionOf = (database: Database): number => Number(database.pragma("user_version", { simple: true }))

/** Before anything is written. */
const refuseNewer = (database: Database, file: string, migrations: ReadonlyArray<string>, remedy: string): void => {
  const version = versionOf(database)
  if (version <= migrations.length) return
  const found = `its format is ${version}, this version of svcd knows formats up to ${migrations.length}`
  throw new StorageCorrupted({ file, found, remedy: `Use the version of svcd that made it, or: ${remedy}` })
}

const migrate = (database: Database, migrations: ReadonlyArray<string>): void => {
  for (let next = versionOf(database); next < migrations.length; next++) {
    database.transaction(() => {
      database.exec(migrations[next] ?? "")
      database.pragma(`user_version = ${next + 1}`)
    })()
  }
}
