import SQLite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { closeSync, openSync, rmSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { isDamage, newerFormat, newerRemedy, requireWritable, storageFailure } from "./Database.ts"
import { DataHealth } from "./DataHealth.ts"
import { StorageCorrupted, type StorageFailure } from "./errors.ts"
import { ANY, type PageSums, readSums, sumOf, sumsFile } from "./pageSums.ts"
import { readFully, readWal, walFile } from "./walFile.ts"

/** What a look at a database says before SQLite opens it. */
type Finding =
  | { readonly type: "absent" }
  | { readonly type: "sound" }
  /** It has no sums, for this reason; SQLite's own check finds nothing. */
  | { readonly type: "unsealed"; readonly reason: "missing" | "unreadable" }
  | { readonly type: "damaged"; readonly found: string }

export interface Inspected {
  readonly filename: string
  /** As operators know it: `names.db`. */
  readonly what: string
  /** For the message where it cannot even be read. */
  readonly remedy: string
  /** What makes it a file of a newer version, which is never touched; `sums` are those beside it, where they are whole. */
  readonly newer: (database: SQLite.Database, sums: PageSums | undefined) => string | undefined
}

/** Bytes read at once; others have a turn in between. */
const CHUNK = 1024 * 1024

/** Milliseconds after which, and between which, the log tells how far a check is. */
const REPORT_MS = 2_000

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** Compares all pages that the write-ahead log does not supersede. Returns the first that has changed. */
const firstChanged = async (
  file: string,
  { pageSize, sums }: PageSums,
  signal: AbortSignal,
  tell: (checked: number) => void
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

/** What SQLite finds wrong in a file without sums; one that it does not take for a database is damaged too. */
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

const look = async (file: string, signal: AbortSignal, tell: (checked: number, total: number) => void) => {
  requireWritable(file)
  if (sizeOf(file) === 0) return { type: "absent" } as const
  const sums = readSums(file)
  if (typeof sums === "string") {
    const found = integrity(file)
    return found === undefined ? { type: "unsealed", reason: sums } as const : { type: "damaged", found } as const
  }
  const changed = await firstChanged(file, sums, signal, (checked) => tell(checked, sums.sums.length))
  return changed === undefined
    ? { type: "sound" } as const
    : { type: "damaged", found: `page ${changed} has changed` } as const
}

/** Checks a database that is not open: its pages against their sums, or SQLite's own check where it has none. */
const inspect = ({ filename, remedy, what }: Inspected): Effect.Effect<Finding, StorageFailure> =>
  Effect.suspend(() => {
    const told = { checked: 0, total: 0 }
    const report = Effect.suspend(() =>
      Effect.logInfo(`checking ${what}`, { pages: told.total, checked: Math.min(told.checked, told.total) })
    )
    const looking = Effect.tryPromise({
      try: (signal) => look(filename, signal, (checked, total) => void Object.assign(told, { checked, total })),
      catch: (cause) => cause
    }).pipe(
      Effect.catchAll((cause) => Effect.suspend(() => Effect.fail(storageFailure(filename, "opening", remedy)(cause))))
    )
    // Also for a caller that cannot be interrupted: else the end of the check would wait for this.
    const reports = Effect.interruptible(Effect.forever(Effect.zipRight(Effect.sleep(REPORT_MS), report)))
    return Effect.raceFirst(looking, reports)
  })

/** What a damaged file says of its format, as far as SQLite can read that. */
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

/** Tells a file of a newer version by its user version: `known` is the newest that this version makes. */
export const newerThan = (known: number, filename: string): Inspected["newer"] => (database, sums) => {
  const version = Number(database.pragma("user_version", { simple: true }))
  if (version <= known) return undefined
  if (sums !== undefined) {
    // A version that makes newer files writes more to this page than that number: else a bit of it has changed.
    const page = firstPage(filename, sums.pageSize)
    page.writeUInt32BE(known, USER_VERSION_OFFSET)
    if (sumOf(page) === sums.sums[0]) return undefined
  }
  return newerFormat(version, known)
}

/** Removes a database with all that belongs to it. A crash in between leaves one that is found damaged again. */
export const removeDatabase = (filename: string): void => {
  for (const file of [walFile(filename), `${filename}-shm`, filename, sumsFile(filename)]) {
    rmSync(file, { force: true })
  }
}

/** Fails where a database is damaged; for programs that repair nothing. */
export const requireSound = (inspected: Inspected): Effect.Effect<void, StorageFailure> =>
  Effect.flatMap(inspect(inspected), (finding) =>
    finding.type === "damaged"
      ? new StorageCorrupted({ file: inspected.filename, found: finding.found, remedy: inspected.remedy })
      : Effect.void)

/**
 * Looks at a database before it is opened, and returns what is damaged of it, for the caller to remove the file. Fails
 * where a newer version has made it: that is never touched.
 */
export const findDamage = (inspected: Inspected): Effect.Effect<string | undefined, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const { filename, remedy, what } = inspected
    const finding = yield* inspect(inspected)
    if (finding.type === "unsealed") {
      const reason = finding.reason === "missing" ? "it has none yet" : "what lies there is none"
      yield* Effect.logInfo(`${what} gets sums of its pages: ${reason}, and it is sound`)
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
 * Makes a database fit to be opened, before SQLite gives any of it to anybody: one that is damaged is removed, since all
 * of it can be had again from the blocks. `instead` says how, for the log.
 */
export const removeDamaged = (
  inspected: Inspected & { readonly instead: string }
): Effect.Effect<void, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const { filename, instead, remedy } = inspected
    const found = yield* findDamage(inspected)
    if (found === undefined) return
    yield* Effect.logError(`${filename} is damaged (${found}) and is removed: ${instead}`)
    yield* Effect.try({ try: () => removeDatabase(filename), catch: storageFailure(filename, "removing", remedy) })
  }).pipe(Effect.annotateLogs("subsystem", "storage"))
