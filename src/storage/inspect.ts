import SQLite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { closeSync, openSync, rmSync, statSync } from "node:fs"
import { closeAside, openAside, readAside } from "../base/disk.ts"
import { orNothing } from "../protocol/orNothing.ts"
import { isDamage, newerFormat, newerRemedy, requireWritable, storageFailure } from "./Database.ts"
import { DataHealth } from "./DataHealth.ts"
import { StorageCorrupted, type StorageFailure } from "./errors.ts"
import { ANY, type PageSums, readSums, sumOf, sumsFile } from "./pageSums.ts"
import { readFully, readWal, walFile } from "./walFile.ts"

type Finding =
  | { readonly type: "absent" }
  | { readonly type: "sound" }
  /** Without usable checksums, but SQLite's own check finds no damage. */
  | { readonly type: "unsealed"; readonly reason: "missing" | "unreadable" }
  | { readonly type: "damaged"; readonly found: string }

export interface Inspected {
  readonly filename: string
  readonly what: string
  readonly remedy: string
  /** The error for a file of a newer version, which is never changed. `sums` are its intact checksums. */
  readonly newer: (database: SQLite.Database, sums: PageSums | undefined) => string | undefined
}

/** Bytes per read, between turns of the event loop. */
const CHUNK = 1024 * 1024

/** Milliseconds before and between log entries about a check's progress. */
const REPORT_MS = 2_000

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/** The first mismatch of a page that the write-ahead log does not supersede. */
const firstChanged = async (
  file: string,
  { pageSize, sums }: PageSums,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (checked: number) => void }
): Promise<number | undefined> => {
  const log = readWal(file)
  const descriptor = await openAside(file, { flags: "r" })
  try {
    const perChunk = Math.max(1, Math.floor(CHUNK / pageSize))
    const chunk = Buffer.alloc(perChunk * pageSize)
    for (let first = 0; first < sums.length && !signal.aborted; first += perChunk) {
      const bytesRead = await readAside(descriptor, chunk, first * pageSize)
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
    await closeAside(descriptor)
  }
}

/** SQLite's first problem with a file without checksums. A file that is not a database counts as damaged. */
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

/** Checks a closed database: pages against their checksums or, without checksums, SQLite's own check. */
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
    // Interruptible even in an uninterruptible caller, which would otherwise wait for this fiber.
    const reports = Effect.interruptible(Effect.forever(Effect.zipRight(Effect.sleep(REPORT_MS), report)))
    return Effect.raceFirst(looking, reports)
  })

/** For a damaged file, as far as SQLite can read it. */
const newerIn = ({ filename, newer }: Inspected): string | undefined =>
  orNothing(() => {
    const database = new SQLite(filename, { readonly: true })
    try {
      const sums = readSums(filename)
      return newer(database, typeof sums === "string" ? undefined : sums)
    } finally {
      database.close()
    }
  })

/** In the first page. Source: sqlite.org/fileformat2.html, "The Database Header". */
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

/** Compares the user version. `known` is the newest version that this program writes. */
export const newerThan = (known: number, filename: string): Inspected["newer"] => (database, sums) => {
  const version = Number(database.pragma("user_version", { simple: true }))
  if (version <= known) return undefined
  if (sums !== undefined) {
    // A newer version changes more of this page. If only the number differs, it is corrupted.
    const page = firstPage(filename, sums.pageSize)
    page.writeUInt32BE(known, USER_VERSION_OFFSET)
    if (sumOf(page) === sums.sums[0]) return undefined
  }
  return newerFormat({ version, known })
}

/** Removes the files beside it, too. After a crash, the next start finds the rest damaged again. */
export const removeDatabase = (filename: string): void => {
  for (const file of [walFile(filename), `${filename}-shm`, filename, sumsFile(filename)]) {
    rmSync(file, { force: true })
  }
}

/** For programs that repair nothing. */
export const requireSound = (inspected: Inspected): Effect.Effect<void, StorageFailure> =>
  Effect.flatMap(inspect(inspected), (finding) =>
    finding.type === "damaged"
      ? new StorageCorrupted({ file: inspected.filename, found: finding.found, remedy: inspected.remedy })
      : Effect.void)

/** Returns the damage of a closed file, which the caller removes. Fails for a damaged file of a newer version. */
export const findDamage = (inspected: Inspected): Effect.Effect<string | undefined, StorageFailure, DataHealth> =>
  Effect.gen(function*() {
    const { filename, remedy, what } = inspected
    const finding = yield* inspect(inspected)
    if (finding.type === "unsealed") {
      const reason = finding.reason === "missing" ? "they are missing" : "the file of checksums is unreadable"
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

/** Removes a damaged database before SQLite reads it. `instead` tells the log how its content is restored. */
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
