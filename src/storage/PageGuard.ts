import SQLite from "better-sqlite3"
import { closeSync, fstatSync, openSync, rmSync } from "node:fs"
import { CopyThread, type LaunchCopy, launchCopy } from "./CopyThread.ts"
import {
  type BeforeCopy,
  checkpoint,
  isSound,
  type LogState,
  PageDamaged,
  prepareCopy,
  requireFrames
} from "./logCopy.ts"
import { type PageSums, readSums, sumOf, sumsFile, writeSums } from "./pageSums.ts"
import { readFully, readWal, type WalPlace, walSize } from "./walFile.ts"

/** Size in bytes of the write-ahead log at which it is copied into the database. */
export const LOG_BYTES = 16 * 1024 * 1024

/** How many times larger the log may grow while a thread copies it, before this thread does the work and the caller waits. */
const BEHIND = 4

/** Bytes of pages that one call of `check` reads: about a millisecond. */
const CHECK_BYTES = 1024 * 1024

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

/** The most pages that commits may add while a thread copies, for this thread to copy them at once. */
const FEW_PAGES = 256

export interface GuardOptions {
  /** Starts a thread that copies the log. Without it this thread copies. */
  readonly launch?: LaunchCopy | undefined
  /** As `LOG_BYTES` and `FEW_PAGES`. */
  readonly logBytes?: number
  readonly fewPages?: number
}

/** A copy in another thread, and what it needs. */
interface Beside {
  readonly thread: CopyThread
  readonly before: BeforeCopy
}

/**
 * Keeps the sums of an open database consistent with its pages. In WAL mode the database file changes only when the log
 * is copied into it. Only this class copies it, or the thread that it starts for that:
 *
 *     commit → log ──(1) sync the log──(2) new sums, synced and renamed──(3) copy the log──► database
 *
 * So at every moment, also after a crash, each page either matches its sum or is superseded by a complete frame of the
 * log. Methods throw `PageDamaged` where that does not hold, and the errors of the driver and the system.
 *
 * Commits go on while the thread copies. They only add frames: a reader that is opened before the thread starts keeps
 * SQLite from copying frames behind those with new sums, and from starting the log again.
 *
 * The database file stays open here until `close`: closing it would drop the locks that SQLite has on it.
 */
export class PageGuard {
  private readonly file: string
  private readonly database: SQLite.Database
  private readonly launch: LaunchCopy | undefined
  private readonly logBytes: number
  private readonly fewPages: number
  private readonly descriptor: number
  private inForce: PageSums
  /** Whether each page outside the log matches its sum, and each page in the log matched it before. */
  private settled: boolean
  /** The size of the log at which the next copy is tried. */
  private due: number
  /** The size of the log at which this thread copies it. */
  private most: number
  private beside: Beside | undefined
  /** The end of the frames that a thread copied, if commits added some meanwhile. */
  private copied: WalPlace | undefined
  /** The reader during a copy beside. It stays after one that failed, until this thread has written the sums. */
  private reader: SQLite.Database | undefined

  /** `database` is in WAL mode, and no connection copies the log by itself. Computes the sums if they are missing. */
  constructor(file: string, database: SQLite.Database, options: GuardOptions = { launch: launchCopy }) {
    this.file = file
    this.database = database
    this.launch = options.launch
    this.logBytes = options.logBytes ?? LOG_BYTES
    this.fewPages = options.fewPages ?? FEW_PAGES
    this.due = this.logBytes
    this.most = BEHIND * this.due
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

  /** Call this after each commit. Has the log copied into the database if it is large enough. */
  committed(): void {
    const size = walSize(this.file)
    if (size < this.due) return
    if (size >= this.most || !this.copyBeside()) this.copyLog()
  }

  /** Copies the log into the database now. A reader of an older state delays the end of the copy. */
  copyLog(): void {
    this.endBeside()
    if (walSize(this.file) === 0) return this.dropReader()
    this.inForce = prepareCopy(this.before(Math.max(0, this.checkpoint("NOOP").log))).sums
    this.copied = undefined
    // No commit comes between the new sums and the copy.
    this.dropReader()
    this.settled = false
    this.settled = this.checkpoint("TRUNCATE").busy === 0
    this.defer(this.settled)
  }

  /** A copy reads the whole log. Behind a long read the log grows: the copies of it must not cost the square of its size. */
  private defer(isEmpty: boolean): void {
    this.due = isEmpty ? this.logBytes : 1.5 * walSize(this.file)
    this.most = BEHIND * this.due
  }

  /** Lets a thread copy the log, unless one does. Returns whether one does now. */
  private copyBeside(): boolean {
    const { launch } = this
    if (this.beside !== undefined) return true
    if (launch === undefined || this.reader !== undefined) return false
    const { checkpointed, log } = this.checkpoint("NOOP")
    // Without a frame to copy the reader would not keep SQLite from starting the log again.
    if (log <= 0 || log === checkpointed) return false
    try {
      this.reader = new SQLite(this.file, { readonly: true, timeout: 0 })
      this.reader.exec("BEGIN")
      this.reader.pragma("schema_version")
      const before = this.before(log)
      const thread = new CopyThread(before, {
        launch,
        ended: () => {
          if (this.beside?.thread === thread) this.tidyUp()
        }
      })
      this.beside = { thread, before }
      return true
    } catch {
      this.dropReader()
      return false
    }
  }

  /** After a copy beside. What fails here fails again after the next commit, and the caller of `committed` learns of it. */
  private tidyUp(): void {
    try {
      this.endBeside()
      const { copied } = this
      if (copied !== undefined && this.checkpoint("NOOP").log - copied.frames <= this.fewPages) this.copyLog()
    } catch {
      this.most = 0
    }
  }

  /** Waits for the end of a copy beside, if there is one. If it copied all frames, the log is emptied. */
  private endBeside(): void {
    const { beside } = this
    if (beside === undefined) return
    this.beside = undefined
    this.most = 0
    const result = beside.thread.end()
    if (result?.type === "failed") return
    this.settled = false
    this.copied = undefined
    // The thread was lost: the sums beside the file may be those before or after the copy.
    if (result === undefined) return
    this.inForce = result.sums
    this.dropReader()
    const { frames } = beside.before
    if (result.checkpointed < frames) return this.defer(false)
    this.settled = this.checkpoint("NOOP").log === frames
    if (this.settled) return this.defer(this.checkpoint("TRUNCATE").busy === 0)
    // Commits have added frames meanwhile. SQLite has not copied the pages that are in these, too.
    this.copied = result.end
    this.due = walSize(this.file) + this.logBytes
    this.most = BEHIND * this.logBytes
  }

  private dropReader(): void {
    this.reader?.close()
    this.reader = undefined
  }

  private before(frames: number): BeforeCopy {
    const { copied, descriptor, file, inForce, settled } = this
    return { file, descriptor, inForce, settled, frames, after: copied }
  }

  private checkpoint(mode: "NOOP" | "TRUNCATE"): LogState {
    const waits = Number(this.database.pragma("busy_timeout", { simple: true }))
    // A reader of an older state may be in this process: waiting for it would block it.
    this.database.pragma("busy_timeout = 0")
    try {
      return checkpoint(this.database, mode)
    } finally {
      this.database.pragma(`busy_timeout = ${waits}`)
    }
  }

  /**
   * Checks some pages, from number `from` on (the first is 0), and after the last page the log. Returns the number of
   * the next page, `undefined` at the end.
   */
  check(from: number): number | undefined {
    const { descriptor, inForce } = this
    const { pageSize, sums } = inForce
    const to = Math.min(sums.length, from + Math.max(1, Math.floor(CHECK_BYTES / pageSize)))
    const bytes = Buffer.alloc(pageSize)
    let log: ReturnType<typeof readWal> | undefined
    for (let page = from + 1; page <= to; page++) {
      if (isSound({ descriptor, inForce }, page, bytes)) continue
      log ??= readWal(this.file)
      if (!log.pages.has(page)) throw new PageDamaged(`page ${page} does not match its checksum`)
    }
    if (to < sums.length) return to
    if (walSize(this.file) > 0) requireFrames(readWal(this.file), this.checkpoint("NOOP").log)
    return undefined
  }

  /** Closes the database without a copy of the log. Works once only: the descriptor's number is soon another file's. */
  abandon(): void {
    if (!this.database.open) return
    try {
      // A thread that copies uses the descriptor.
      this.beside?.thread.end()
    } finally {
      this.beside = undefined
      this.dropReader()
      this.database.close()
      closeSync(this.descriptor)
    }
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
