import SQLite from "better-sqlite3"
import { closeSync, fstatSync, openSync, rmSync } from "node:fs"
import { type DiskSteps, DiskWork, doNow } from "../base/diskSteps.ts"
import type { Steps } from "../protocol/steps.ts"
import { ANY, type PageSums, readSums, sumOf, sumsFile, writeSums, writeSumsSteps } from "./pageSums.ts"
import { readFully, readWal, readWalSteps, type WalContent, walFile, walSize } from "./walFile.ts"

/** Bytes from which the write-ahead log is copied into the database, within 10 ms in one turn. */
export const LOG_BYTES = 8 * 1024 * 1024

/** Bytes read per `check`: about a millisecond. */
const CHECK_BYTES = 1024 * 1024

/** Readers that stay until the process ends (see `PageGuard`). The driver would close unreferenced ones. */
const STAYING: Array<SQLite.Database> = []

/** Pages compared per turn of the event loop while copying the log. */
const COMPARED_A_TURN = 256

/** A page, or a frame of the log, does not match its checksum. */
export class PageDamaged extends Error {
  override readonly name = "PageDamaged"
}

/** A copy of the log ended during a sync. */
class SyncUnknown extends Error {
  override readonly name = "SyncUnknown"
  readonly code = "EINTR"

  constructor() {
    super("its copy was ended during a sync whose result is unknown")
  }
}

const PAGE_SIZE_OFFSET = 16

/** `undefined` if the page is not the first one of a database. */
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
  /** Frames already in the database file. */
  readonly checkpointed: number
}

const stateOf = (database: SQLite.Database, mode: "NOOP" | "PASSIVE" | "TRUNCATE"): LogState =>
  database.prepare<[], LogState>(`PRAGMA wal_checkpoint(${mode})`).get() ?? { busy: 1, log: 0, checkpointed: 0 }

/** A reader of the current state. Meanwhile SQLite neither copies later frames nor overwrites the log. */
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
 * Keeps the checksums of an open database consistent with its pages. In WAL mode, only copies of the log, all by this
 * class, change the database file:
 *
 *     commit → log ──(1) sync the log──(2) new checksums, synced and renamed──(3) copy the log──► database ──(4) sync it──(5) empty the log
 *
 * At any moment, even after a crash, each page matches its checksum or is superseded by a complete frame of the log.
 * Otherwise methods throw `PageDamaged`, besides driver and system errors. A reader holds the log from (1) to (5), so
 * that new commits come after its frames.
 *
 * After an error in (1) or (4), or if a copy ends there, the system may have lost writes. Then nothing is copied any more
 * and the reader stays, so that the next process copies the log, which has all that the file may lack.
 *
 * The database file stays open until `close`, as closing it would drop SQLite's locks.
 */
export class PageGuard {
  private readonly file: string
  private readonly database: SQLite.Database
  private readonly descriptor: number
  private inForce: PageSums
  /** Whether each page outside the log matches its checksum, and each page in it matched before. */
  private settled: boolean
  /** Size of the log at the next attempt to copy it. */
  private due = LOG_BYTES
  private copying: DiskWork | undefined
  /** The error of a sync, or its unknown result. Nothing is copied afterwards. */
  private lost: { readonly cause: unknown } | undefined

  /** `database` is in WAL mode, and no connection copies the log by itself. Computes missing checksums. */
  constructor(file: string, database: SQLite.Database) {
    this.file = file
    this.database = database
    // The first read takes a lock. Without it, another closing connection could be the last and copy the log.
    database.pragma("schema_version")
    // Windows only syncs files that are open for writing.
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

  get isDue(): boolean {
    return walSize(this.file) >= this.due
  }

  /** Call this after each commit. Copies a large log. */
  committed(): void {
    if (this.isDue) this.copyLog()
  }

  /**
   * Copies the log now. A reader of an older state delays the end. A background copy ends and restarts here, but during
   * its sync this throws, and the next process copies the log.
   */
  copyLog(): void {
    this.endCopy()
    if (walSize(this.file) > 0) doNow(this.copySteps())
  }

  /** Does not block the event loop. A writer waits for it before its next commit, so that the log can be emptied. */
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

  /** Steps of copying the log. The caller runs them to the end and syncs as they say. */
  *copySteps(): DiskSteps {
    const opened: Array<() => unknown> = []
    try {
      if (this.lost !== undefined) throw this.lost.cause
      const copier = new SQLite(this.file, { timeout: 0 })
      opened.push(() => copier.close())
      copier.pragma("synchronous = OFF")
      copier.pragma("wal_autocheckpoint = 0")
      const pin = pinned(this.file)
      opened.push(() => this.lost === undefined ? pin.close() : STAYING.push(pin))
      const wasCopied = this.isCopied(copier)
      // A copy that ended before its sync, maybe in another process, leaves pages that are not on disk.
      yield* wasCopied ? this.synced(this.descriptor) : this.copyFrames(copier)
      pin.close()
      // SQLite leaves out pages with later frames, which another writer may have added.
      const isCopied = this.isCopied(copier)
      if (!wasCopied) this.settled = isCopied
      // With nothing left to copy, this only empties the log.
      const isEmptied = isCopied && stateOf(copier, "TRUNCATE").busy === 0
      // A copy reads the whole log, which grows during a long read. The total cost must not be quadratic.
      this.due = isEmptied ? LOG_BYTES : 1.5 * walSize(this.file)
    } finally {
      for (const close of opened.toReversed()) close()
    }
  }

  private isCopied(copier: SQLite.Database): boolean {
    const { checkpointed, log } = stateOf(copier, "NOOP")
    return checkpointed === log
  }

  /** Up to the last commit, where a reader holds the log. */
  private *copyFrames(copier: SQLite.Database): DiskSteps {
    const { log: frames } = stateOf(copier, "NOOP")
    const log = openSync(walFile(this.file), "r+")
    try {
      yield* this.synced(log)
    } finally {
      // A running sync needs its descriptor.
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

  /** If the copy ends during the sync, its result is unknown. */
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

  /** SQLite does not check frames that it wrote itself. */
  private compareLog(content: WalContent, frames: number): void {
    if (content.frames < frames) {
      throw new PageDamaged(`frame ${content.frames + 1} of its write-ahead log does not match its checksum`)
    }
  }

  /** Checks each replaced page unless a copy may have changed it. */
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

  /** Checks pages from a number (the first is 0), then the log. Returns the next page, or `undefined` at the end. */
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
   * Closes the database once: the descriptor's number is soon reused. SQLite copies the log on the last close, so
   * checksums may be outdated. The caller has copied the log or removes the files.
   */
  abandon(): void {
    if (!this.database.open) return
    this.endCopy()
    this.database.close()
    // Otherwise a sync may be running, and the reader that stays needs its locks.
    if (this.lost === undefined) closeSync(this.descriptor)
  }

  /**
   * Copies the log and closes the database, maybe as the last connection. SQLite copies a log that could not be copied
   * here. With a damaged page, the checksums stay and the next start finds the mismatch. During or after a failed sync
   * they stay, too, and a reader keeps SQLite from copying. After other errors they are removed first, and the next
   * start recomputes them.
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
