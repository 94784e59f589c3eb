import type SQLite from "better-sqlite3"
import { closeSync, fstatSync, fsyncSync, openSync, rmSync } from "node:fs"
import { ANY, type PageSums, readSums, sumOf, sumsFile, writeSums } from "./pageSums.ts"
import { readFully, readWal, type WalContent, walFile, walSize } from "./walFile.ts"

/** Size in bytes of the write-ahead log at which it is copied into the database. */
export const LOG_BYTES = 16 * 1024 * 1024

/** Bytes of pages that one call of `check` reads: about a millisecond. */
const CHECK_BYTES = 1024 * 1024

/** A page, or a frame of the log, does not match its checksum. */
export class PageDamaged extends Error {
  override readonly name = "PageDamaged"
}

const PAGE_SIZE_OFFSET = 16

/** The page size according to the first page; `undefined` if that is not the first page of a database. */
const pageSizeOf = (descriptor: number): number | undefined => {
  const bytes = Buffer.alloc(2)
  if (readFully(descriptor, bytes, PAGE_SIZE_OFFSET) < bytes.length) return undefined
  const said = bytes.readUInt16BE(0)
  const size = said === 1 ? 65_536 : said
  return size >= 512 && (size & (size - 1)) === 0 ? size : undefined
}

const sumsOfFile = (descriptor: number): PageSums => {
  const pageSize = pageSizeOf(descriptor)
  if (pageSize === undefined) throw new PageDamaged("its first page is not the first page of a database")
  const sums = new Uint32Array(Math.floor(fstatSync(descriptor).size / pageSize))
  const page = Buffer.alloc(pageSize)
  for (const i of sums.keys()) {
    readFully(descriptor, page, i * pageSize)
    sums[i] = sumOf(page)
  }
  return { pageSize, sums }
}

const hasLog = (file: string): boolean => readWal(file).frames > 0

/**
 * Keeps the sums of an open database consistent with its pages. In WAL mode the database file changes only when the log
 * is copied into it. Only this class copies it:
 *
 *     commit → log ──(1) sync the log──(2) new sums, synced and renamed──(3) copy the log──► database
 *
 * So at every moment, also after a crash, each page either matches its sum or is superseded by a complete frame of the
 * log. Methods throw `PageDamaged` where that does not hold, and the errors of the driver and the system.
 *
 * The database file stays open here until `close`: closing it would drop the locks that SQLite has on it.
 */
export class PageGuard {
  private readonly file: string
  private readonly database: SQLite.Database
  private readonly descriptor: number
  private inForce: PageSums
  /** Whether each page outside the log matches its sum, and each page in the log matched it before. */
  private settled: boolean
  /** The size of the log at which the next copy is tried. */
  private due = LOG_BYTES

  /** `database` is in WAL mode, and no connection copies the log by itself. Computes the sums if they are missing. */
  constructor(file: string, database: SQLite.Database) {
    this.file = file
    this.database = database
    // With its first read a connection takes a lock. While this connection holds it, another connection that closes is
    // not the last one. The last one would copy the log.
    database.pragma("schema_version")
    this.descriptor = openSync(file, "r")
    try {
      const known = readSums(file)
      if (typeof known === "string") {
        this.inForce = sumsOfFile(this.descriptor)
        writeSums(file, this.inForce)
      } else this.inForce = known
      this.settled = !hasLog(file)
    } catch (cause) {
      closeSync(this.descriptor)
      throw cause
    }
  }

  get pages(): number {
    return this.inForce.sums.length
  }

  /** Call this after each commit. Copies the log into the database if it is large enough. */
  committed(): void {
    if (walSize(this.file) >= this.due) this.copyLog()
  }

  /** Copies the log into the database now. A reader of an older state delays the end of the copy. */
  copyLog(): void {
    if (walSize(this.file) === 0) return
    this.sync()
    const log = readWal(this.file)
    this.compareLog(log)
    if (log.frames > 0) {
      const next = this.sumsAfter(log)
      writeSums(this.file, next)
      this.inForce = next
    }
    this.settled = false
    this.settled = this.checkpoint("TRUNCATE")?.busy === 0
    // A copy reads the whole log. Behind a long read the log grows: the copies of it must not cost the square of its size.
    this.due = this.settled ? LOG_BYTES : 1.5 * walSize(this.file)
  }

  /** SQLite's state of the log: whether a reader blocked the checkpoint, and the number of frames. */
  private checkpoint(mode: "NOOP" | "TRUNCATE") {
    const waits = Number(this.database.pragma("busy_timeout", { simple: true }))
    // A reader of an older state may be in this process: waiting for it would block it.
    this.database.pragma("busy_timeout = 0")
    try {
      return this.database
        .prepare<[], { readonly busy: number; readonly log: number }>(`PRAGMA wal_checkpoint(${mode})`).get()
    } finally {
      this.database.pragma(`busy_timeout = ${waits}`)
    }
  }

  private sync(): void {
    // Windows syncs only files that are open for writing.
    const log = openSync(walFile(this.file), "r+")
    try {
      fsyncSync(log)
    } finally {
      closeSync(log)
    }
  }

  /** SQLite reads frames that it wrote without a check of their sums. So the sums are checked here. */
  private compareLog({ frames }: WalContent): void {
    if (frames < (this.checkpoint("NOOP")?.log ?? 0)) {
      throw new PageDamaged(`frame ${frames + 1} of its write-ahead log does not match its checksum`)
    }
  }

  /** The sums after the copy of the log. Checks each page that the log replaces, unless a copy may have changed it. */
  private sumsAfter(log: WalContent): PageSums {
    const { pageSize, sums } = this.inForce
    if (log.pageSize !== pageSize) throw new PageDamaged(`its log has pages of ${log.pageSize} bytes, not ${pageSize}`)
    const next = new Uint32Array(log.pageCount)
    next.set(sums.subarray(0, log.pageCount))
    const before = Buffer.alloc(pageSize)
    for (const [page, sum] of log.pages) {
      if (page > log.pageCount) continue
      if (this.settled && page <= sums.length) this.compare(page, before)
      next[page - 1] = sum
    }
    return { pageSize, sums: next }
  }

  private compare(page: number, bytes: Buffer): void {
    if (!this.isSound(page, bytes)) throw new PageDamaged(`page ${page} does not match its checksum`)
  }

  private isSound(page: number, bytes: Buffer): boolean {
    const { pageSize, sums } = this.inForce
    const sum = sums[page - 1] ?? ANY
    if (sum === ANY) return true
    return readFully(this.descriptor, bytes, (page - 1) * pageSize) === pageSize && sumOf(bytes) === sum
  }

  /**
   * Checks some pages, from number `from` on (the first is 0), and after the last page the log. Returns the number of
   * the next page, `undefined` at the end.
   */
  check(from: number): number | undefined {
    const { pageSize, sums } = this.inForce
    const to = Math.min(sums.length, from + Math.max(1, Math.floor(CHECK_BYTES / pageSize)))
    const bytes = Buffer.alloc(pageSize)
    let log: WalContent | undefined
    for (let page = from + 1; page <= to; page++) {
      if (this.isSound(page, bytes)) continue
      log ??= readWal(this.file)
      if (!log.pages.has(page)) throw new PageDamaged(`page ${page} does not match its checksum`)
    }
    if (to < sums.length) return to
    if (walSize(this.file) > 0) this.compareLog(readWal(this.file))
    return undefined
  }

  /** Closes the database without a copy of the log. Works once only: the descriptor's number is soon another file's. */
  abandon(): void {
    if (!this.database.open) return
    this.database.close()
    closeSync(this.descriptor)
  }

  /**
   * Copies the log and closes the database; this may be the last connection. If the log cannot be copied here, SQLite
   * copies it at the close. If a page is damaged, the sums stay and the next start finds the mismatch. After other
   * errors the sums are removed first, and the next start computes them again.
   */
  close(): void {
    if (!this.database.open) return
    try {
      this.copyLog()
    } catch (cause) {
      if (!(cause instanceof PageDamaged)) rmSync(sumsFile(this.file), { force: true })
    } finally {
      this.abandon()
    }
  }
}
