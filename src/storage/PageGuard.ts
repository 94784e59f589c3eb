import SQLite from "better-sqlite3"
import { closeSync, fstatSync, openSync, rmSync } from "node:fs"
import { type DiskSteps, DiskWork, doNow } from "../base/diskSteps.ts"
import type { Steps } from "../protocol/steps.ts"
import { ANY, type PageSums, readSums, sumOf, sumsFile, writeSums, writeSumsSteps } from "./pageSums.ts"
import { readFully, readWal, readWalSteps, type WalContent, walFile, walSize } from "./walFile.ts"

/** Size in bytes of the write-ahead log at which it is copied into the database. SQLite copies it in one turn, within 10 ms. */
export const LOG_BYTES = 8 * 1024 * 1024

/** Bytes of pages that one call of `check` reads: about a millisecond. */
const CHECK_BYTES = 1024 * 1024

/** Readers that stay until the process ends: see `PageGuard`. Without a reference, the driver would close them. */
const STAYING: Array<SQLite.Database> = []

/** Pages that a copy of the log compares before other work has a turn. */
const COMPARED_A_TURN = 256

/** A page, or a frame of the log, does not match its checksum. */
export class PageDamaged extends Error {
  override readonly name = "PageDamaged"
}

/** A copy of the log was ended while the system synced a file. */
class SyncUnknown extends Error {
  override readonly name = "SyncUnknown"
  readonly code = "EINTR"

  constructor() {
    super("its copy was ended during a sync whose result is unknown")
  }
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

interface LogState {
  /** Whether a reader of an older state was in the way. */
  readonly busy: number
  readonly log: number
  /** Frames that are in the database file. */
  readonly checkpointed: number
}

const stateOf = (database: SQLite.Database, mode: "NOOP" | "PASSIVE" | "TRUNCATE"): LogState =>
  database.prepare<[], LogState>(`PRAGMA wal_checkpoint(${mode})`).get() ?? { busy: 1, log: 0, checkpointed: 0 }

/** A reader of the state at this moment: SQLite neither copies later frames while it is there, nor writes over the log. */
const pinned = (file: string): SQLite.Database => {
  const pin = new SQLite(file, { readonly: true })
  try {
    pin.exec("BEGIN")
    pin.prepare("SELECT count(*) FROM sqlite_schema").get()
    return pin
  } catch (cause) {
    pin.close()
    throw cause
  }
}

/**
 * Keeps the sums of an open database consistent with its pages. In WAL mode the database file changes only when the log
 * is copied into it. Only this class copies it:
 *
 *     commit → log ──(1) sync the log──(2) new sums, synced and renamed──(3) copy the log──► database ──(4) sync it──(5) empty the log
 *
 * So at every moment, even after a crash, each page either matches its sum or is superseded by a complete frame of the
 * log. Methods throw `PageDamaged` where that does not hold, and the errors of the driver and the system. A reader holds the log
 * from (1) to (5), so that commits meanwhile come behind its frames.
 *
 * After an error of (1) or (4) the system may forget what it could not write. So nothing is copied any more, and the reader stays:
 * the log has all that the file may lack, and the next process copies it again. The same holds if one of these syncs is under way
 * when its copy is ended, since its result stays unknown.
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
  private copying: DiskWork | undefined
  /** The error of a sync, or that its result is unknown. Nothing is copied after that. */
  private lost: { readonly cause: unknown } | undefined

  /** `database` is in WAL mode, and no connection copies the log by itself. Computes the sums if they are missing. */
  constructor(file: string, database: SQLite.Database) {
    this.file = file
    this.database = database
    // With its first read a connection takes a lock. While this connection holds it, another connection that closes is
    // not the last one. The last one would copy the log.
    database.pragma("schema_version")
    // Windows syncs only files that are open for writing.
    this.descriptor = openSync(file, "r+")
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

  /** Whether the log is large enough to be copied. */
  get isDue(): boolean {
    return walSize(this.file) >= this.due
  }

  /** Call this after each commit. Copies the log into the database if it is large enough. */
  committed(): void {
    if (this.isDue) this.copyLog()
  }

  /**
   * Copies the log into the database now. A reader of an older state delays the end of the copy. A copy aside that is under way ends
   * here and begins again, except during a sync of the log or the database: then this throws, and the next process copies the log.
   */
  copyLog(): void {
    this.endCopy()
    if (walSize(this.file) > 0) doNow(this.copySteps())
  }

  /**
   * The same, while the event loop has turns: the disk works meanwhile. A writer waits for it before its next commit, so that the
   * log ends there and can be emptied.
   */
  async copyLogAside(): Promise<void> {
    const copying = this.copying ??= new DiskWork(this.copySteps())
    try {
      await copying.end
    } finally {
      if (this.copying === copying) this.copying = undefined
    }
    if (this.lost !== undefined) throw this.lost.cause
  }

  private endCopy(): void {
    this.copying?.stop()
    this.copying = undefined
  }

  /** The copy of the log, for a caller that runs the steps to their end and syncs as they say. */
  *copySteps(): DiskSteps {
    const opened: Array<() => unknown> = []
    try {
      if (this.lost !== undefined) throw this.lost.cause
      const copier = new SQLite(this.file, { timeout: 0 })
      opened.push(() => copier.close())
      // This class syncs the database file.
      copier.pragma("synchronous = OFF")
      copier.pragma("wal_autocheckpoint = 0")
      const pin = pinned(this.file)
      opened.push(() => this.lost === undefined ? pin.close() : STAYING.push(pin))
      const wasCopied = this.isCopied(copier)
      // A copy that ended before its sync, maybe of another process, leaves pages that are not on disk.
      yield* wasCopied ? this.synced(this.descriptor) : this.copyFrames(copier)
      pin.close()
      // SQLite leaves out pages of which the log has later frames. Another writer may have added frames.
      const isCopied = this.isCopied(copier)
      if (!wasCopied) this.settled = isCopied
      // With nothing left to copy, this only empties the log.
      const isEmptied = isCopied && stateOf(copier, "TRUNCATE").busy === 0
      // A copy reads the whole log. Behind a long read the log grows: the copies of it must not cost the square of its size.
      this.due = isEmptied ? LOG_BYTES : 1.5 * walSize(this.file)
    } finally {
      for (const close of opened.toReversed()) close()
    }
  }

  private isCopied(copier: SQLite.Database): boolean {
    const { checkpointed, log } = stateOf(copier, "NOOP")
    return checkpointed === log
  }

  /** Copies the frames of the log up to the last commit, and no others: a reader holds the log there. */
  private *copyFrames(copier: SQLite.Database): DiskSteps {
    const { log: frames } = stateOf(copier, "NOOP")
    const log = openSync(walFile(this.file), "r+")
    try {
      yield* this.synced(log)
    } finally {
      // A sync under way needs its descriptor.
      if (this.lost === undefined) closeSync(log)
    }
    const content = yield* readWalSteps(this.file, frames)
    this.compareLog(content, frames)
    const next = yield* this.sumsAfter(content)
    yield* writeSumsSteps(this.file, next)
    this.inForce = next
    this.settled = false
    stateOf(copier, "PASSIVE")
    yield* this.synced(this.descriptor)
  }

  /** Waits until the log or the database is on disk. If the copy ends here, nothing tells whether it is. */
  private *synced(descriptor: number): DiskSteps {
    this.lost = { cause: new SyncUnknown() }
    try {
      yield descriptor
      this.lost = undefined
    } catch (cause) {
      this.lost = { cause }
      throw cause
    }
  }

  /** SQLite reads frames that it wrote without a check of their sums. So the sums are checked here. */
  private compareLog(content: WalContent, frames: number): void {
    if (content.frames < frames) {
      throw new PageDamaged(`frame ${content.frames + 1} of its write-ahead log does not match its checksum`)
    }
  }

  /** The sums after the copy of the log. Checks each page that the log replaces, unless a copy may have changed it. */
  private *sumsAfter(log: WalContent): Steps<PageSums> {
    const { pageSize, sums } = this.inForce
    if (log.pageSize !== pageSize) throw new PageDamaged(`its log has pages of ${log.pageSize} bytes, not ${pageSize}`)
    const next = new Uint32Array(log.pageCount)
    next.set(sums.subarray(0, log.pageCount))
    const before = Buffer.alloc(pageSize)
    let compared = 0
    for (const [page, sum] of log.pages) {
      if (page > log.pageCount) continue
      if (this.settled && page <= sums.length) {
        this.compare(page, before)
        if (++compared % COMPARED_A_TURN === 0) yield
      }
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
    if (walSize(this.file) > 0) this.compareLog(readWal(this.file), stateOf(this.database, "NOOP").log)
    return undefined
  }

  /**
   * Closes the database. Afterwards the sums may be out of date: SQLite copies the log if this was the last connection. So the caller
   * removes the files, or has copied the log. Works once only: the descriptor's number is soon another file's.
   */
  abandon(): void {
    if (!this.database.open) return
    this.endCopy()
    this.database.close()
    // Otherwise a sync may be under way, and the reader that stays needs its locks.
    if (this.lost === undefined) closeSync(this.descriptor)
  }

  /**
   * Copies the log and closes the database; this may be the last connection. If the log cannot be copied here, SQLite
   * copies it at the close. If a page is damaged, the sums stay and the next start finds the mismatch. After an error of a sync, or during one,
   * they stay too, and SQLite copies nothing: a reader stays as well. After other errors the sums are removed first, and the next start
   * computes them again.
   */
  close(): void {
    if (!this.database.open) return
    try {
      this.copyLog()
    } catch (cause) {
      if (!(cause instanceof PageDamaged) && this.lost === undefined) rmSync(sumsFile(this.file), { force: true })
    } finally {
      this.abandon()
    }
  }
}
