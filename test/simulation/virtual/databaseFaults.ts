import BetterSqlite3, { type Database, type Statement } from "better-sqlite3"
import { below, type Random } from "../../../src/base/random.ts"
import { replaced } from "./guards.ts"

// Errors of the system below SQLite, in the middle of a transaction or at its end. SQLite may take the transaction back by
// itself, or leave that to the program: sqlite.org/lang_transaction.html, "Response To Errors Within A Transaction".

/** What the next writing transaction of a database ends with. */
export interface DatabaseFault {
  /** The end of the database's path; every database if empty. */
  readonly file: string
  readonly code: "SQLITE_FULL" | "SQLITE_IOERR_WRITE" | "SQLITE_IOERR_FSYNC"
  /** Rows that the transaction still writes; if it has fewer, its end fails. */
  readonly rows: number
}

const MESSAGES = {
  SQLITE_FULL: "database or disk is full",
  SQLITE_IOERR_WRITE: "disk I/O error",
  SQLITE_IOERR_FSYNC: "disk I/O error"
} as const

/** A fault that waits for its database. */
export class ArmedFault {
  private readonly fault: DatabaseFault
  private readonly random: Random
  private left: number

  constructor(fault: DatabaseFault, random: Random) {
    this.fault = fault
    this.random = random
    this.left = fault.rows
  }

  /** Whether it is due now: `isEnd` if a transaction ends with the statement. */
  isDue(path: string, isEnd: boolean): boolean {
    if (!path.endsWith(this.fault.file)) return false
    if (isEnd) return true
    this.left--
    return this.left < 0
  }

  /** What SQLite throws. A transaction is over, or still open: the program must expect both. */
  error(database: Database): Error {
    const { code } = this.fault
    if (database.inTransaction && below(this.random, 2) === 0) database.exec("ROLLBACK")
    return new BetterSqlite3.SqliteError(MESSAGES[code], code)
  }
}

/** Called before a statement that writes. Throws what the disk makes of it. */
export type WriteWatch = (database: Database, statement: { readonly isEnd: boolean }) => void

const isCopy = (source: string): boolean => /^PRAGMA wal_checkpoint\((?:PASSIVE|TRUNCATE)\)/.test(source)

/** Watches all statements of this process that write. Returns how to end that. */
export const watchWrites = (watch: WriteWatch): () => void => {
  const probe = new BetterSqlite3(":memory:")
  const prototype: Statement = Object.getPrototypeOf(probe.prepare("SELECT 1"))
  probe.close()
  const { get, run } = prototype
  const { exec } = BetterSqlite3.prototype
  /** Connections whose transaction has written something. */
  const dirty = new WeakSet<Database>()
  const ending = (database: Database): void => {
    if (dirty.delete(database)) watch(database, { isEnd: true })
  }
  const restore = [
    replaced(prototype, {
      run(this: Statement, ...values: ReadonlyArray<unknown>): unknown {
        const { database, readonly, source } = this
        // SQLite counts what ends a transaction as read-only.
        if (!readonly) {
          if (database.inTransaction) dirty.add(database)
          watch(database, { isEnd: !database.inTransaction })
        } else if (source === "COMMIT") ending(database)
        return run.apply(this, [...values])
      },
      get(this: Statement, ...values: ReadonlyArray<unknown>): unknown {
        if (isCopy(this.source)) watch(this.database, { isEnd: true })
        return get.apply(this, [...values])
      }
    }),
    replaced(BetterSqlite3.prototype, {
      exec(this: Database, source: string): unknown {
        if (source === "COMMIT") ending(this)
        return exec.call(this, source)
      }
    })
  ]
  return () => {
    for (const each of restore) each()
  }
}
