import type { Database } from "better-sqlite3"
import * as Either from "effect/Either"
import { existsSync, fstatSync, readFileSync, readlinkSync } from "node:fs"
import { relative } from "node:path"
import { type Disk, type DiskCall, systemDisk } from "../../../src/base/disk.ts"
import { exponential, type Random } from "../../../src/base/random.ts"
import { ArmedFault, type DatabaseFault } from "./databaseFaults.ts"
import { Unsynced } from "./Unsynced.ts"
import { cutLogs, LOG, type LogState, logState } from "./writeAheadLog.ts"

/** The disks of all nodes: real files, whose work takes virtual time and fails when the plan says so. */

/**
 * `full`: no write succeeds, of a database neither. `broken`: the next write or sync of a file that svcd writes itself
 * fails, once. `slow`: work takes seconds. A `DatabaseFault` is one of SQLite, once.
 */
export type DiskFault = "broken" | "full" | "slow"

/** Milliseconds that work on the thread pool takes on average, and the most. */
const USUAL = 0.5
const SLOW = 2_000
const LONGEST = 10_000

/** Virtual milliseconds in which a node ends that cannot continue after a fault. */
export const DYING = 60_000

export interface SimDiskOptions {
  readonly random: Random
  /** Calls a node back after some milliseconds. */
  readonly after: (node: string, milliseconds: number, run: () => void) => void
  /** The node whose code runs, for work without a file. */
  readonly running: () => string
  /** Virtual milliseconds. */
  readonly now: () => number
}

/** The node whose file this is: its directory has its name, and the number of its copies. */
const OWNER = /^(.*\/svcd-(?:world|template)-[^/]+\/([^/]+?)-\d+)(?:\/|$)/

/** Where the next write without a position goes (proc(5), `fdinfo`). */
const positionOf = (descriptor: number): number =>
  Number(/^pos:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1] ?? 0)

const pathOf = (on: number | string): string => typeof on === "number" ? readlinkSync(`/proc/self/fd/${on}`) : on

const failedWith = (code: string, call: string): Error => Object.assign(new Error(`${code}: ${call}`), { code })

export class SimDisk implements Disk {
  private readonly options: SimDiskOptions
  private readonly faults = new Map<string, Set<DiskFault>>()
  private readonly armed = new Map<string, Set<ArmedFault>>()
  /** The last fault that a life met, by node. */
  private readonly struck = new Map<string, number>()
  /** Databases with a transaction that failed since the node started, by node. */
  private readonly hit = new Map<string, Set<string>>()
  private readonly unsynced = new Map<string, Unsynced>()
  /** The last synced state of a database's log, by node and path. */
  private readonly durable = new Map<string, LogState>()

  constructor(options: SimDiskOptions) {
    this.options = options
  }

  /** Begins a fault of a node's disk. Returns how to end it. */
  begin(node: string, fault: DiskFault): () => void {
    const known = this.faults.get(node) ?? new Set()
    this.faults.set(node, known.add(fault))
    return () => void known.delete(fault)
  }

  /** Makes a transaction of a database fail, once. Returns how to end that, if none has come. */
  arm(node: string, fault: DatabaseFault): () => void {
    const armed = new ArmedFault(fault, this.options.random)
    const known = this.armed.get(node) ?? new Set()
    this.armed.set(node, known.add(armed))
    return () => void known.delete(armed)
  }

  heal(): void {
    this.faults.clear()
    this.armed.clear()
  }

  /** A node starts. */
  begun(node: string): void {
    this.struck.delete(node)
    this.hit.delete(node)
  }

  /** A node has another, empty disk. */
  replaced(node: string): void {
    this.unsynced.delete(node)
    for (const key of this.durable.keys()) if (key.startsWith(`${node} `)) this.durable.delete(key)
  }

  /** Whether a transaction of a database failed since the node started: it may stay open until the process ends. */
  isHit(node: string, database: string): boolean {
    return this.hit.get(node)?.has(database) ?? false
  }

  /** Whether a fault may be ending the node, with an error: then nobody relies on what it has in memory. */
  isStruck(node: string): boolean {
    const at = this.struck.get(node)
    return at !== undefined && this.options.now() - at < DYING
  }

  readonly write: Disk["write"] = (descriptor, bytes, position) => {
    this.check(descriptor, "write")
    this.recordWrite(descriptor, bytes.length, position)
    return systemDisk.write(descriptor, bytes, position)
  }

  /** What a power cut leaves. Only work on the thread pool takes virtual time. */
  readonly sync: Disk["sync"] = (descriptor) => {
    this.check(descriptor, "fsync")
    const path = pathOf(descriptor)
    const place = this.placeOf(path)
    if (place === undefined) return
    this.recordOf(place.node).synced(place.path)
    if (path.endsWith(LOG)) this.logSynced(path.slice(0, -LOG.length))
  }

  readonly truncate: Disk["truncate"] = (descriptor, to) => {
    const { size } = fstatSync(descriptor)
    this.recordWrite(descriptor, Math.max(0, size - to.size), to.size)
    systemDisk.truncate(descriptor, to)
  }

  readonly rename: Disk["rename"] = (from, to) => {
    const [before, after] = [this.placeOf(from), this.placeOf(to)]
    if (before !== undefined && after !== undefined) {
      const old = existsSync(to) ? readFileSync(to) : undefined
      this.recordOf(after.node).renaming({ from: before.path, to: after.path, old })
    }
    systemDisk.rename(from, to)
  }

  /** A file is new. */
  created(path: string): void {
    const place = this.placeOf(path)
    if (place !== undefined) this.recordOf(place.node).created(place.path)
  }

  /** What was new in a directory is durable. */
  directorySynced(path: string): void {
    const place = this.placeOf(path)
    if (place !== undefined) this.recordOf(place.node).synced(place.path)
  }

  /** A database's log was synced, with all commits before. */
  logSynced(database: string): void {
    const [place, state] = [this.placeOf(database), logState(database)]
    if (place !== undefined && state !== undefined) this.durable.set(`${place.node} ${place.path}`, state)
  }

  /** The node's machine loses power: its files, in this copy, lose what was not synced. Returns it in words. */
  cutPower(node: string, directory: string): string {
    const { random } = this.options
    const durable = (database: string, salt: string): number => {
      const state = this.durable.get(`${node} ${database}`)
      return state?.salt === salt ? state.frames : 0
    }
    const lost = [this.recordOf(node).cut(directory, random), cutLogs(directory, random, durable)]
    return lost.filter((each) => each.length > 0).join("; ")
  }

  private recordOf(node: string): Unsynced {
    const known = this.unsynced.get(node) ?? new Unsynced()
    this.unsynced.set(node, known)
    return known
  }

  private placeOf(path: string): { readonly node: string; readonly path: string } | undefined {
    const found = OWNER.exec(path)
    const [, directory, node] = found ?? []
    return directory === undefined || node === undefined ? undefined : { node, path: relative(directory, path) || "." }
  }

  private recordWrite(descriptor: number, length: number, position: number | null): void {
    const place = this.placeOf(pathOf(descriptor))
    if (place === undefined) return
    const { size } = fstatSync(descriptor)
    const at = position ?? positionOf(descriptor)
    this.recordOf(place.node).writing(place.path, { descriptor, at, length, size })
  }

  /** Done at once, and reported later. */
  readonly aside = <A>({ now, on }: DiskCall<A>): Promise<A> => {
    const { after, random } = this.options
    const node = this.ownerOf(on)
    const delay = Math.min(LONGEST, exponential(random, this.has(node, "slow") ? SLOW : USUAL))
    const done = Either.try({ try: now, catch: (error) => error })
    return new Promise((resolve, reject) => {
      after(
        node,
        delay,
        () => {
          Either.match(done, { onLeft: reject, onRight: resolve })
          // Settling a promise triggers no hook; creating one does. It makes the machine wait until the reader has run.
          void Promise.resolve()
        }
      )
    })
  }

  /** Before a statement that writes to a database. `isEnd`: it ends a transaction. Throws what SQLite would. */
  writing(database: Database, { isEnd }: { readonly isEnd: boolean }): void {
    if (this.armed.size === 0 && this.faults.size === 0) return
    const node = this.placeOf(database.name)?.node
    if (node === undefined) return
    const full = new ArmedFault({ file: "", code: "SQLITE_FULL", rows: Infinity }, this.options.random)
    const armed = this.has(node, "full") ? [full] : this.armed.get(node) ?? []
    for (const fault of armed) {
      if (!fault.isDue(database.name, isEnd)) continue
      this.armed.get(node)?.delete(fault)
      this.hit.set(node, (this.hit.get(node) ?? new Set()).add(database.name))
      this.fail(node, fault.error(database))
    }
  }

  private ownerOf(on: number | string | undefined): string {
    return (on === undefined ? undefined : this.placeOf(pathOf(on))?.node) ?? this.options.running()
  }

  private has(node: string, fault: DiskFault): boolean {
    return this.faults.get(node)?.has(fault) ?? false
  }

  private check(descriptor: number, call: string): void {
    if (this.faults.size === 0) return
    const node = this.ownerOf(descriptor)
    const faults = this.faults.get(node)
    if (faults === undefined || faults.size === 0) return
    if (faults.delete("broken")) this.fail(node, failedWith("EIO", call))
    if (call === "write" && faults.has("full")) this.fail(node, failedWith("ENOSPC", call))
  }

  private fail(node: string, error: Error): never {
    this.struck.set(node, this.options.now())
    throw error
  }
}
