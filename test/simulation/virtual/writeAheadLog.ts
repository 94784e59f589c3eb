import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs"
import { join } from "node:path"
import { below, type Random } from "../../../src/base/random.ts"

// The log of a SQLite database after a power cut: with `synchronous=NORMAL`, commits since the last checkpoint may be gone,
// the last ones first. Source: sqlite.org/walformat.html.

/** Ends the name of a log, after that of its database. */
export const LOG = "-wal"

/** Bytes of the header of the log, and of a frame without its page. */
const [LOG_HEADER, FRAME_HEADER] = [32, 24]

/** Places in the index of the log (`-shm`): the size of a page, the number of frames, and how many are in the database. */
const PLACES = { page: 14, frames: 16, checkpointed: 96 } as const

/** How many frames a log has, and how many of them must stay. */
export interface LogState {
  /** Changes when the log begins again. */
  readonly salt: string
  readonly page: number
  readonly frames: number
  readonly checkpointed: number
}

/** The state of a database's log; `undefined` without one. */
export const logState = (database: string): LogState | undefined => {
  const [log, index] = [`${database}${LOG}`, `${database}-shm`]
  if (!existsSync(log) || !existsSync(index) || statSync(log).size <= LOG_HEADER) return undefined
  const shared = readFileSync(index)
  if (shared.length < PLACES.checkpointed + 4) return undefined
  const page = shared.readUInt16LE(PLACES.page)
  return {
    salt: readFileSync(log).subarray(16, 24).toString("hex"),
    page: page === 1 ? 0x10000 : page,
    frames: shared.readUInt32LE(PLACES.frames),
    checkpointed: shared.readUInt32LE(PLACES.checkpointed)
  }
}

const databasesIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(LOG))
    .map((file) => file.slice(0, -LOG.length))
    .sort()

/**
 * Takes the last frames from the logs below a directory. `durable` returns the frames that a database has synced besides
 * those in its file. Returns what was lost, in words.
 */
export const cutLogs = (
  directory: string,
  random: Random,
  durable: (database: string, salt: string) => number
): string => {
  const lost: Array<string> = []
  for (const database of databasesIn(directory)) {
    const path = join(directory, database)
    const state = logState(path)
    if (state === undefined) continue
    const { checkpointed, frames, page, salt } = state
    const least = Math.min(frames, Math.max(checkpointed, durable(database, salt)))
    const kept = least + below(random, frames - least + 1)
    truncateSync(`${path}${LOG}`, LOG_HEADER + kept * (FRAME_HEADER + page))
    // Another process reads the log again.
    rmSync(`${path}-shm`)
    if (kept < frames) lost.push(`${frames - kept} of ${frames} frames of ${database}`)
  }
  return lost.join(", ")
}
