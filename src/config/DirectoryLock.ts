import Database from "better-sqlite3"
import { keepPrivate } from "../base/privateFile.ts"
import { missingPart, nativeProblem } from "./nativePart.ts"

/**
 * Restricts a directory to one process. Node has no file locks; SQLite has, and the system releases them when a process
 * ends. So `LOCK` is a SQLite database. The node holds its write lock while it runs, and `user_version` is the holder's
 * process id, which others may still read.
 *
 * Nothing else in this process may open and close `LOCK`: closing any descriptor releases the process's POSIX locks on
 * the file. SQLite keeps a descriptor open while another connection holds a lock, so a second lock in one process fails
 * as it should.
 */

export const LOCK_FILE = "LOCK"

export interface HeldLock {
  readonly _tag: "Held"
  readonly release: () => void
}

export type LockOutcome =
  | HeldLock
  /** `pid` is missing while the holder is still taking the lock. */
  | { readonly _tag: "InUse"; readonly pid: number | undefined }
  | { readonly _tag: "Unusable"; readonly reason: string; readonly code: string | undefined }

/** Maximum wait for a holder that is writing its process id. */
const NOTE_TIMEOUT_MS = 2_000

/** A process loses a round only to another one, which then leaves or stays. */
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

/** Does not wait. Returns whether the write lock was taken. */
const begin = (database: Database.Database): boolean => {
  try {
    database.exec("BEGIN IMMEDIATE")
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

/** The commit releases the lock, so this takes it again, and rewrites the id if another process came in between. */
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

/** Does not wait and does not throw. */
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
    const code = sqliteCode(error)
    const reason = nativeProblem(error, "better-sqlite3") ?? missingPart(error) ?? reasonOf(code)
    return { _tag: "Unusable", reason, code: code === "SQLITE_FULL" ? "ENOSPC" : undefined }
  }
}
