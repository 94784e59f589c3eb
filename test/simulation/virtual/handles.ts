import BetterSqlite3, { type Database } from "better-sqlite3"
import { closeSync } from "node:fs"
import { createRequire, syncBuiltinESMExports } from "node:module"
import { replaced } from "./guards.ts"
import type { Group } from "./SimScheduler.ts"

/** What the system would close when a process is killed: databases and descriptors, by the part that opened them. */

export interface Handles {
  /** Closes what a dead part has open, and returns how many databases those were. A descriptor may close a little late. */
  readonly closeAll: (group: Group) => number
  readonly remove: () => void
}

interface Open {
  readonly databases: Set<Database>
  readonly descriptors: Set<number>
}

const load = createRequire(import.meta.url)

/** Records what the running part opens. A database counts from its first pragma on: each opening has one. */
export const recordHandles = (
  current: () => Group,
  logSynced: (database: string) => void = () => {}
): Handles => {
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
      const { databases } = of(current())
      // What follows a write in full mode (`IndexStore.sync`).
      if (databases.has(this) && values[0] === "synchronous = NORMAL") logSynced(this.name)
      databases.add(this)
      return pragma.apply(this, values)
    }
  })
  const restoreFiles = replaced(fs, {
    openSync: (...values: Parameters<typeof openSync>): number => {
      const descriptor = openSync(...values)
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
      if (open === undefined) return 0
      const databases = [...open.databases].filter((database) => database.open)
      for (const database of databases) database.close()
      for (const descriptor of open.descriptors) closeNow(descriptor)
      return databases.length
    },
    remove: () => {
      restoreDatabase()
      restoreFiles()
      syncBuiltinESMExports()
    }
  }
}
