import BetterSqlite3, { type Database } from "better-sqlite3"
import { closeSync, existsSync } from "node:fs"
import { createRequire, syncBuiltinESMExports } from "node:module"
import { dirname } from "node:path"
import { replaced } from "./guards.ts"
import type { Group } from "./SimScheduler.ts"
import { type LogState, logState } from "./writeAheadLog.ts"

/** What the system would close when a process is killed: databases and descriptors, by the part that opened them. */

export interface Handles {
  /** Closes what a dead part has open, and returns the paths of its databases. A descriptor may close a little late. */
  readonly closeAll: (group: Group) => ReadonlyArray<string>
  /** Reports what the databases of a part have synced that are in full mode still. */
  readonly reportSynced: (group: Group) => void
  readonly remove: () => void
}

/** Who learns what a power cut leaves. */
export interface DiskRecord {
  /** A database has synced its log. */
  logSynced(database: string): void
  /** A file is new. */
  created(path: string): void
  /** The new files and renames of a directory are durable. */
  directorySynced(path: string): void
}

interface Open {
  readonly databases: Set<Database>
  readonly descriptors: Set<number>
}

const load = createRequire(import.meta.url)

const isAhead = (now: LogState | undefined, before: LogState | undefined): boolean =>
  now !== undefined && (now.salt !== before?.salt || now.frames > before.frames)

/** In full mode, each commit syncs the log with all that was written before. */
class FullModes {
  /** The log of each connection in full mode, as it was before. */
  private readonly logs = new WeakMap<Database, LogState | undefined>()
  private readonly disk: DiskRecord

  constructor(disk: DiskRecord) {
    this.disk = disk
  }

  /** Before a connection runs a pragma. */
  pragma(database: Database, text: string): void {
    if (!text.startsWith("synchronous = ")) return
    this.report(database)
    if (text === "synchronous = FULL") this.logs.set(database, logState(database.name))
    else this.logs.delete(database)
  }

  report(database: Database): void {
    if (!this.logs.has(database)) return
    if (isAhead(logState(database.name), this.logs.get(database))) this.disk.logSynced(database.name)
  }
}

/** Records what the running part opens. A database counts from its first pragma on: each opening has one. */
export const recordHandles = (
  current: () => Group,
  disk: DiskRecord = { logSynced: () => {}, created: () => {}, directorySynced: () => {} }
): Handles => {
  const modes = new FullModes(disk)
  const all = new Map<Group, Open>()
  const of = (group: Group): Open => {
    const open = all.get(group) ?? { databases: new Set(), descriptors: new Set() }
    all.set(group, open)
    return open
  }
  const fs: typeof import("node:fs") = load("node:fs")
  const { openSync } = fs
  const { pragma } = BetterSqlite3.prototype
  const forget = (descriptor: number): void => {
    for (const { descriptors } of all.values()) descriptors.delete(descriptor)
  }
  const restoreDatabase = replaced(BetterSqlite3.prototype, {
    pragma(this: Database, ...values: Parameters<Database["pragma"]>): unknown {
      of(current()).databases.add(this)
      modes.pragma(this, values[0])
      const result = pragma.apply(this, values)
      // SQLite syncs the directory with a new journal or log, here a little early (`unixSync` in os_unix.c).
      if (values[0] === "journal_mode = WAL") disk.directorySynced(dirname(this.name))
      return result
    }
  })
  const restoreFiles = replaced(fs, {
    openSync: (...values: Parameters<typeof openSync>): number => {
      const [path] = values
      const isNew = typeof path === "string" && !existsSync(path)
      const descriptor = openSync(...values)
      if (isNew) disk.created(path)
      of(current()).descriptors.add(descriptor)
      return descriptor
    },
    closeSync: (descriptor: number): void => {
      forget(descriptor)
      closeNow(descriptor)
    }
  })
  // Taken from the binding of this module before `syncBuiltinESMExports` replaces it.
  const closeNow = closeSync
  syncBuiltinESMExports()
  return {
    closeAll: (group) => {
      const open = all.get(group)
      all.delete(group)
      if (open === undefined) return []
      const databases = [...open.databases].filter((database) => database.open)
      for (const database of databases) database.close()
      for (const descriptor of open.descriptors) closeNow(descriptor)
      return databases.map(({ name }) => name)
    },
    reportSynced: (group) => {
      for (const database of all.get(group)?.databases ?? []) if (database.open) modes.report(database)
    },
    remove: () => {
      restoreDatabase()
      restoreFiles()
      syncBuiltinESMExports()
    }
  }
}
