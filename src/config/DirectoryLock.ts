import Database from "better-sqlite3"
import { keepPrivate } from "../base/privateFile.ts"

/**
 * Keeps a directory to one process. Node has no file locks of its own; SQLite has, and the system drops them when a
 * process ends, however it ends. So `LOCK` is a SQLite database whose write lock is held while the node runs, and
 * whose `user_version` is the process that holds it. Readers are not shut out by a write lock, so a second process
 * can say who is in its way.
 *
 * Nothing else in this process may open and close the file `LOCK`: POSIX drops a process's locks on a file when it
 * closes any descriptor of it. SQLite knows this and does not close one while another of its connections holds a
 * lock, which also makes a second lock in the same process fail as it should.
 */

export const LOCK_FILE = "LOCK"

export interface HeldLock {
  readonly _tag: "Held"
  readonly release: () => void
}

export type LockOutcome =
  | HeldLock
  /** `pid` is missing where the holder is just taking the lock. */
  | { readonly _tag: "InUse"; readonly pid: number | undefined }
  | { readonly _tag: "Unusable"; readonly reason: string }

/** How long a holder that is just noting its process number may keep another one waiting. */
const NOTE_TIMEOUT_MS = 2_000

/** Each round is lost only to a process that took the lock in between, and that one then leaves or stays. */
const MAX_ROUNDS = 10

const sqliteCode = (error: unknown): string =>
  error instanceof Database.SqliteError ? error.code : error instanceof Error ? error.message : String(error)

const isBusy = (error: unknown): boolean => sqliteCode(error).startsWith("SQLITE_BUSY")

const holderOf = (database: Database.Database): number => Number(database.pragma("user_version", { simple: true }))

const tryHolderOf = (database: Database.Database): number | undefined => {
  try {
    const pid = holderOf(database)
    return pid > 0 ? pid : undefined
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
}

/** Takes the write lock without waiting. Returns whether it got it. */
const begin = (database: Database.Database): boolean => {
  try {
    database.exec("BEGIN IMMEDIATE")
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

/**
 * Takes the lock, notes this process in it and takes it again, for a commit gives it back. Whoever takes it in
 * between overwrites the note: so look before staying, and note once more where it is another's.
 */
const hold = (database: Database.Database): boolean => {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    database.pragma("busy_timeout = 0")
    if (!begin(database)) return false
    if (holderOf(database) === process.pid) return true
    database.pragma(`user_version = ${process.pid}`)
    database.pragma(`busy_timeout = ${NOTE_TIMEOUT_MS}`)
    database.exec("COMMIT")
  }
  return false
}

const reasonOf = (code: string): string => {
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    return `${LOCK_FILE} is damaged; if no other process uses the directory, delete that file`
  }
  if (code === "SQLITE_FULL") return "the disk is full"
  if (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN")) return `${LOCK_FILE} cannot be written`
  return `${LOCK_FILE} cannot be locked (${code})`
}

/** Takes the lock of a directory that exists. Does not wait and does not throw. */
export const takeLock = (file: string): LockOutcome => {
  let database: Database.Database | undefined
  try {
    keepPrivate(file)
    const opened = new Database(file)
    database = opened
    if (hold(opened)) return { _tag: "Held", release: () => opened.close() }
    const pid = tryHolderOf(opened)
    opened.close()
    return { _tag: "InUse", pid }
  } catch (error) {
    database?.close()
    return { _tag: "Unusable", reason: reasonOf(sqliteCode(error)) }
  }
}
