import SQLite from "better-sqlite3"
import { accessSync, constants, existsSync } from "node:fs"
import { dirname } from "node:path"
import { reasonOf } from "../base/errorCode.ts"
import { keepPrivate } from "../base/privateFile.ts"
import { StorageCorrupted, type StorageFailure, StorageUnavailable } from "./errors.ts"
import { PageDamaged, PageGuard } from "./PageGuard.ts"

/** SQLite for one writer without a fiber per statement: 5 µs per point read, not 50 as through a queueing client. */
export type Database = SQLite.Database

export type Statement<Bind extends Array<unknown>, Row> = SQLite.Statement<Bind, Row>

const CORRUPTED = new Set(["SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CORRUPT_INDEX", "SQLITE_CORRUPT_VTAB"])

const FULL = new Set(["SQLITE_FULL", "ENOSPC"])

export const isDamage = (cause: unknown): cause is Error & { readonly code: string } =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string" && CORRUPTED.has(cause.code)

export interface FileWork {
  readonly file: string
  readonly doing: string
  readonly remedy: string
}

/** Converts errors of the driver or file system. Rethrows others. */
export const storageFailure = ({ doing, file, remedy }: FileWork) => (cause: unknown): StorageFailure => {
  if (cause instanceof StorageCorrupted || cause instanceof StorageUnavailable) return cause
  if (isDamage(cause) || cause instanceof PageDamaged) {
    return new StorageCorrupted({ file, found: cause.message, remedy })
  }
  // The driver's only error without a code: a missing folder.
  if (cause instanceof TypeError && !existsSync(dirname(file))) {
    return new StorageUnavailable({ file, doing, reason: cause.message, code: "ENOENT" })
  }
  if (!(cause instanceof Error) || !("code" in cause) || typeof cause.code !== "string") throw cause
  // One text for a full disk, whether SQLite or the file system reports it.
  const isFull = FULL.has(cause.code)
  const words = isFull ? reasonOf("ENOSPC") : cause.message
  return new StorageUnavailable({
    file,
    doing,
    reason: `${words} (${cause.code})`,
    code: isFull ? "ENOSPC" : cause.code
  })
}

/** Converts errors with `storageFailure`. */
export const guarded = <A>(on: FileWork, work: () => A): A => {
  try {
    return work()
  } catch (cause) {
    throw storageFailure(on)(cause)
  }
}

/** Throws if the file is unwritable. SQLite would open it, leave read-only files beside it, and fail later. */
export const requireWritable = (filename: string): void => {
  if (existsSync(filename)) accessSync(filename, constants.R_OK | constants.W_OK)
}

export interface OpenOptions {
  readonly filename: string
  /** A power of two from 512 to 65536 bytes. Only applies to a new file. */
  readonly pageSize: number
  /** SQL that upgrades an empty or older file, one step per version. */
  readonly migrations: ReadonlyArray<string>
  readonly remedy: string
}

/** Changes nothing, but makes versions without page checksums, which would leave them outdated, refuse the file. */
export const PAGES_HAVE_SUMS = "-- pages have sums beside the file"

export interface OpenDatabase {
  readonly database: Database
  readonly guard: PageGuard
}

/**
 * Opens a SQLite file and upgrades it. The caller notifies the guard of each commit and closes the database with it.
 * Throws `StorageFailure`, even for a file of a newer version, which stays unchanged.
 */
export const openDatabase = ({ filename, migrations, pageSize, remedy }: OpenOptions): OpenDatabase =>
  guarded({ file: filename, doing: "opening", remedy }, () => {
    requireWritable(filename)
    keepPrivate(filename)
    const database = new SQLite(filename)
    let guard: PageGuard | undefined
    try {
      refuseNewer(database, { filename, migrations, remedy })
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

/** KiB of cached pages per connection. A node has five or more. */
export const PAGE_CACHE_KIB = 2_048

/** The order matters: the first write fixes the page size. */
export const pragmas = (pageSize: number): ReadonlyArray<string> => [
  `page_size = ${pageSize}`,
  // This writes to a new file.
  "journal_mode = WAL",
  // After a power cut, lost data is restored from the blocks. A killed process loses nothing.
  "synchronous = NORMAL",
  "temp_store = MEMORY",
  // Instead of the driver's 16 MB per connection, besides the system's cache.
  `cache_size = -${PAGE_CACHE_KIB}`,
  // The guard copies the log after writing the checksums of the copied pages.
  "wal_autocheckpoint = 0"
]

export const newerFormat = ({ known, version }: { readonly version: number; readonly known: number }): string =>
  `its format is ${version}, this version of svcd knows formats up to ${known}`

export const newerRemedy = (remedy: string): string => `Use the version of svcd that made it, or: ${remedy}`

const versionOf = (database: Database): number => Number(database.pragma("user_version", { simple: true }))

/** Runs before anything is written. */
const refuseNewer = (
  database: Database,
  { filename: file, migrations, remedy }: Omit<OpenOptions, "pageSize">
): void => {
  const version = versionOf(database)
  if (version <= migrations.length) return
  throw new StorageCorrupted({
    file,
    found: newerFormat({ version, known: migrations.length }),
    remedy: newerRemedy(remedy)
  })
}

const migrate = (database: Database, migrations: ReadonlyArray<string>): void => {
  for (let next = versionOf(database); next < migrations.length; next++) {
    database.transaction(() => {
      database.exec(migrations[next] ?? "")
      database.pragma(`user_version = ${next + 1}`)
    })()
  }
}
