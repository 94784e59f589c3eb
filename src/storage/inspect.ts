import SQLite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { closeSync, openSync, rmSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { isDamage, newerFormat, newerRemedy, requireWritable, storageFailure } from "./Database.ts"
import { DataHealth } from "./DataHealth.ts"
import { StorageCorrupted, type StorageFailure } from "./errors.ts"
import { ANY, type PageSums, readSums, sumOf, sumsFile } from "./pageSums.ts"
import { readFully, readWal, walFile } from "./walFile.ts"

type Finding =
  | { readonly type: "absent" }
  | { readonly type: "sound" }
  /** The database has no usable sums, but SQLite's own check finds no damage. */
  | { readonly type: "unsealed"; readonly reason: "missing" | "unreadable" }
  | { readonly type: "damaged"; readonly found: string }

export interface Inspected {
  readonly filename: string
  readonly what: string
  readonly remedy: string
  /** The error for a file of a newer version, which is never changed. `sums` are its sums, if intact. */
  readonly newer: (database: SQLite.Database, sums: PageSums | undefined) => string | undefined
}

/** Bytes per read, between turns of the event loop. */
const CHUNK = 1024 * 1024

/** Milliseconds between progress log entries of a check, and before the first. */
const REPORT_MS = 2_000

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Checks all pages that the write-ahead log does not supersede. Returns the first mismatch. */
const firstChanged = async (
  file: string,
  { pageSize, sums }: PageSums,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (checked: number) => void }
): Promise<number | undefined> => {
  const log = readWal(file)
  const handle = await open(file, "r")
  try {
    const perChunk = Math.max(1, Math.floor(CHUNK / pageSize))
    const chunk = Buffer.alloc(perChunk * pageSize)
    for (let first = 0; first < sums.length && !signal.aborted; first += perChunk) {
      const { bytesRead } = await handle.read(chunk, 0, chunk.length, first * pageSize)
      for (let i = 0; i < perChunk && first + i < sums.length; i++) {
        const sum = sums[first + i] ?? ANY
        if (sum === ANY || log.pages.has(first + i + 1)) continue
        const end = (i + 1) * pageSize
        if (end > bytesRead || sumOf(chunk.subarray(i * pageSize, end)) !== sum) return first + i + 1
      }
      tell(first + perChunk)
    }
    return undefined
  } finally {
    await handle.close()
  }
}

/** The first problem that SQLite finds in a file without sums. A file that is not a database counts as damaged. */
const integrity = (file: string): string | undefined => {
  const database = new SQLite(file)
  try {
    const found = database.pragma("integrity_check(1)", { simple: true })
    return found === "ok" ? undefined : String(found)
  } catch (cause) {
    if (isDamage(cause)) return cause.message
    throw cause
  } finally {
    database.close()
  }
}

interface Told {
  readonly checked: number
  readonly total: number
}

const look = async (file: string, signal: AbortSignal, tell: (told: Told) => void) => {
  requireWritable(file)
  if (sizeOf(file) === 0) return { type: "absent" } as const
  const sums = readSums(file)
  if (typeof sums === "string") {
    const found = integrity(file)
    return found === undefined ? { type: "unsealed", reason: sums } as const : { type: "damaged", found } as const
  }
  const changed = await firstChanged(file, sums, {
    signal,
    tell: (checked) => tell({ checked, total: sums.sums.length })
  })
  return changed === undefined
    ? { type: "sound" } as const
    : { type: "damaged", found: `page ${changed} does not match its checksum` } as const
}

/** Checks a closed database: its pages against their sums, or with SQLite's own check without sums. */
const inspect = ({ filename, remedy, what }: Inspected): Effect.Effect<Finding, StorageFailure> =>
  Effect.suspend(() => {
    let told: Told = { checked: 0, total: 0 }
    const report = Effect.suspend(() =>
      Effect.logInfo(`checking database ${what}`, { pages: told.total, checked: Math.min(told.checked, told.total) })
    )
    const looking = Effect.tryPromise({
      try: (signal) => look(filename, signal, (now) => void (told = now)),
      catch: (cause) => cause
    }).pipe(
      Effect.catchAll((cause) =>
        Effect.suspend(() => Effect.fail(storageFailure({ file: filename, doing: "opening", remedy })(cause)))
      )
    )
    // Interruptible also in an uninterruptible caller: otherwise the end of the check would wait for this fiber.
    const reports = Effect.interruptible(Effect.forever(Effect.zipRight(Effect.sleep(REPORT_MS), report)))
    return Effect.raceFirst(looking, reports)
  })

/** The error for a damaged file of a newer version, as far as SQLite can read it. */
const newerIn = ({ filename, newer }: Inspected): string | undefined => {
  try {
    const database = new SQLite(filename, { readonly: true })
    try {
      const sums = readSums(filename)
      return newer(database, typeof sums === "string" ? undefined : sums)
    } finally {
      database.close()
    }
  } catch {
    return undefined
  }
}

/** Offset of the user version in the first page. Source: sqlite.org/fileformat2.html, "The Database Header". */
const USER_VERSION_OFFSET = 60

const firstPage = (filename: string, pageSize: number): Buffer => {
  const page = Buffer.alloc(pageSize)
  const descriptor = openSync(filename, "r")
  try {
    readFully(descriptor, page, 0)
  } finally {
    closeSync(descriptor)
  }
  return page
}

/** Recognizes a file of a newer version by its user version. `known` is the newest version that this program writes. */
export const newerThan = (known: number, filename: string): Inspected["newer"] => (database, sums) => {
  const version = Number(database.pragma("user_version", { simple: true }))
  if (version <= known) return undefined
  if (sums !== undefined) {
    // A newer version changes more of this page than that number. If only the number differs, it is corrupted.
    const page = firstPage(filename, sums.pageSize)
    page.writeUInt32BE(known, USER_VERSION_OFFSET)
    if (sumOf(page) === sums.sums[0]) return undefined
  }
  return newerFormat({ version, known })
}

/** Removes a database and the files beside it. After a crash, the next start finds the rest damaged again. */
export const removeDatabase = (filename: string): void => {
  for (const file of [walFile(filename), `${filename}-shm`, filename, sumsFile(filename)]) {
    rmSync(file, { force: true })
  }
}

/** Fails if a database is damaged, for programs that repair nothing. */
export const requireSound = (inspected: Inspected): Effect.Effect<void, StorageFailure> =>
  Effect.flatMap(inspect(inspected), (finding) =>
    finding.type === "damaged"
      ? new StorageCorrupted({ file: inspected.filename, found: finding.found, remedy: inspected.remedy })
      : Effect.void)

/**
 * Checks a database before it is opened. Returns the damage; the caller removes the file. Fails for a damaged file of a
 * newer version, which is never changed.
 */
export const findDamage = (inspected: Inspected): Effect.Effect<string | undefined, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const { filename, remedy, what } = inspected
    const finding = yield* inspect(inspected)
    if (finding.type === "unsealed") {
      const reason = finding.reason === "missing" ? "they are missing" : "the file of sums is unreadable"
      yield* Effect.logInfo(`creating page checksums of ${what}: ${reason}; the database is intact`)
    }
    if (finding.type === "absent") rmSync(sumsFile(filename), { force: true })
    if (finding.type !== "damaged") return undefined
    const newer = newerIn(inspected)
    if (newer !== undefined) {
      return yield* new StorageCorrupted({ file: filename, found: newer, remedy: newerRemedy(remedy) })
    }
    const health = yield* DataHealth
    yield* health.damaged(what)
    return finding.found
  }).pipe(Effect.annotateLogs("subsystem", "storage"))

/**
 * Makes a database safe to open by removing a damaged one before SQLite reads it. All its content can be restored from
 * the blocks. `instead` describes this for the log.
 */
export const removeDamaged = (
  inspected: Inspected & { readonly instead: string }
): Effect.Effect<void, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const { filename, instead, remedy } = inspected
    const found = yield* findDamage(inspected)
    if (found === undefined) return
    yield* Effect.logError(`database corrupted: ${filename} is damaged (${found}) and is removed: ${instead}`)
    yield* Effect.try({
      try: () => removeDatabase(filename),
      catch: storageFailure({ file: filename, doing: "removing", remedy })
    })
  }).pipe(Effect.annotateLogs("subsystem", "storage"))
