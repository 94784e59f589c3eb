import * as Either from "effect/Either"
import { readlinkSync } from "node:fs"
import { type Disk, type DiskCall, systemDisk } from "../../../src/base/disk.ts"
import { exponential, type Random } from "../../../src/base/random.ts"

/** The disks of all nodes: real files, whose work takes virtual time and fails when the plan says so. */

/** `full`: no write succeeds. `broken`: the next write or sync fails, once. `slow`: work takes seconds. */
export type DiskFault = "broken" | "full" | "slow"

/** Milliseconds that work on the thread pool takes on average, and the most. */
const USUAL = 0.5
const SLOW = 2_000
const LONGEST = 10_000

export interface SimDiskOptions {
  readonly random: Random
  /** Calls a node back after some milliseconds. */
  readonly after: (node: string, milliseconds: number, run: () => void) => void
  /** The node whose code runs, for work without a file. */
  readonly running: () => string
}

/** The node whose file this is: its directory has its name, and the number of its copies. */
const OWNER = /\/svcd-(?:world|template)-[^/]+\/([^/]+?)-\d+(?:\/|$)/

const pathOf = (on: number | string): string => typeof on === "number" ? readlinkSync(`/proc/self/fd/${on}`) : on

const failedWith = (code: string, call: string): Error => Object.assign(new Error(`${code}: ${call}`), { code })

export class SimDisk implements Disk {
  private readonly options: SimDiskOptions
  private readonly faults = new Map<string, Set<DiskFault>>()
  private readonly harmed = new Set<string>()

  constructor(options: SimDiskOptions) {
    this.options = options
  }

  /** Begins a fault of a node's disk. Returns how to end it. */
  begin(node: string, fault: DiskFault): () => void {
    const known = this.faults.get(node) ?? new Set()
    this.faults.set(node, known.add(fault))
    return () => void known.delete(fault)
  }

  heal(): void {
    this.faults.clear()
  }

  /** Whether a call of the node failed by a fault since `forgive`: then it may end with an error. */
  isHarmed(node: string): boolean {
    return this.harmed.has(node)
  }

  forgive(node: string): void {
    this.harmed.delete(node)
  }

  readonly write: Disk["write"] = (descriptor, bytes, position) => {
    this.check(descriptor, "write")
    return systemDisk.write(descriptor, bytes, position)
  }

  /** A sync has no effect here: no power cut is simulated. Only work on the thread pool takes virtual time. */
  readonly sync: Disk["sync"] = (descriptor) => this.check(descriptor, "fsync")

  readonly truncate: Disk["truncate"] = systemDisk.truncate

  readonly rename: Disk["rename"] = systemDisk.rename

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

  private ownerOf(on: number | string | undefined): string {
    return (on === undefined ? undefined : OWNER.exec(pathOf(on))?.[1]) ?? this.options.running()
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
    this.harmed.add(node)
    throw error
  }
}
