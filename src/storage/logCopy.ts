import SQLite from "better-sqlite3"
import { closeSync, fsyncSync, openSync } from "node:fs"
import { ANY, type PageSums, sumOf, writeSums } from "./pageSums.ts"
import { readFully, readWal, type WalContent, walFile, type WalPlace } from "./walFile.ts"

/** The steps of a copy of the write-ahead log into its database: `PageGuard` does them, or the thread that it starts. */

/** A page, or a frame of the log, does not match its checksum. */
export class PageDamaged extends Error {
  override readonly name = "PageDamaged"
}

/** An open database before a copy of its log. */
export interface BeforeCopy {
  readonly file: string
  /** The database file, open for reading. Another one must not be closed: that drops the locks that SQLite has on the file. */
  readonly descriptor: number
  /** The sums of the database file. */
  readonly inForce: PageSums
  /** Whether each page of the file that the log replaces matched its sum. */
  readonly settled: boolean
  /** The end of the frames that are copied already, and whose pages have their sums in force. */
  readonly after: WalPlace | undefined
  /** Frames of the log to copy, according to SQLite: up to the end of a commit. */
  readonly frames: number
}

/** The sums of the pages after a copy, and the end of the copied frames. */
export interface NewSums {
  readonly sums: PageSums
  readonly end: WalPlace | undefined
}

/** Whether a page of the file (the first is 1) matches its sum. `bytes` has the size of a page. */
export const isSound = (
  { descriptor, inForce }: Pick<BeforeCopy, "descriptor" | "inForce">,
  page: number,
  bytes: Buffer
): boolean => {
  const { pageSize, sums } = inForce
  const sum = sums[page - 1] ?? ANY
  if (sum === ANY) return true
  return readFully(descriptor, bytes, (page - 1) * pageSize) === pageSize && sumOf(bytes) === sum
}

/** SQLite reads frames that it wrote without a check of their sums. So the sums are checked here. */
export const requireFrames = (log: WalContent, frames: number): void => {
  if (log.frames < frames) {
    throw new PageDamaged(`frame ${log.frames + 1} of its write-ahead log does not match its checksum`)
  }
}

/** SQLite's state of the log. */
export interface LogState {
  /** 1 if a reader, or another copy, was in the way. */
  readonly busy: number
  readonly log: number
  /** Frames that are in the database file too. */
  readonly checkpointed: number
}

/** Copies frames of the log (`NOOP`: none), and reports its state. `TRUNCATE` empties the log if all frames are copied. */
export const checkpoint = (database: SQLite.Database, mode: "NOOP" | "PASSIVE" | "TRUNCATE"): LogState =>
  database.prepare<[], LogState>(`PRAGMA wal_checkpoint(${mode})`).get() ?? { busy: 1, log: 0, checkpointed: 0 }

const syncLog = (file: string): void => {
  // Windows syncs only files that are open for writing.
  const log = openSync(walFile(file), "r+")
  try {
    fsyncSync(log)
  } finally {
    closeSync(log)
  }
}

/** The sums after the copy of the log. Checks each page that the log replaces, unless a copy may have changed it. */
const sumsAfter = (before: BeforeCopy, log: WalContent): PageSums => {
  const { inForce: { pageSize, sums }, settled } = before
  if (log.pageSize !== pageSize) throw new PageDamaged(`its log has pages of ${log.pageSize} bytes, not ${pageSize}`)
  const next = new Uint32Array(log.pageCount)
  next.set(sums.subarray(0, log.pageCount))
  const bytes = Buffer.alloc(pageSize)
  for (const [page, sum] of log.pages) {
    if (page > log.pageCount) continue
    if (settled && page <= sums.length && !isSound(before, page, bytes)) {
      throw new PageDamaged(`page ${page} does not match its checksum`)
    }
    next[page - 1] = sum
  }
  return { pageSize, sums: next }
}

/**
 * What must be on disk before frames are copied: syncs the log, and writes the sums that the pages then have. Returns them.
 * Changes no page.
 */
export const prepareCopy = (before: BeforeCopy): NewSums => {
  const { after, file, frames, inForce } = before
  syncLog(file)
  const log = readWal(file, { after, upTo: frames })
  const { end } = log
  requireFrames(log, frames)
  if (log.frames === 0) return { sums: inForce, end }
  const sums = sumsAfter(before, log)
  writeSums(file, sums)
  return { sums, end }
}

/** What became of a copy in another thread. */
export type CopyResult =
  /** No page was copied. The sums beside the file may be those after the copy. */
  | { readonly type: "failed" }
  /** The sums are those after the copy, and `checkpointed` frames are in the database file and on disk. */
  | NewSums & { readonly type: "copied"; readonly checkpointed: number }

/**
 * Copies a log beside the threads that use the database. While it runs, a reader of the state after `frames` keeps SQLite
 * from copying more, and from a new start of the log. The caller does the work again after a failure, and so finds its reason.
 */
export const copyBeside = (before: BeforeCopy): CopyResult => {
  let prepared
  try {
    prepared = prepareCopy(before)
  } catch {
    return { type: "failed" }
  }
  try {
    const database = new SQLite(before.file, { fileMustExist: true, timeout: 0 })
    try {
      database.pragma("synchronous = NORMAL")
      database.pragma("wal_autocheckpoint = 0")
      return { type: "copied", ...prepared, checkpointed: checkpoint(database, "PASSIVE").checkpointed }
    } finally {
      database.close()
    }
  } catch {
    return { type: "copied", ...prepared, checkpointed: 0 }
  }
}
