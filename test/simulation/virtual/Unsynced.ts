import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { dirname, join } from "node:path"
import { below, type Random } from "../../../src/base/random.ts"

/** What a power cut takes from the files of a node: writes and renames since their last sync. */

interface Write {
  /** The size of the file before. */
  readonly size: number
  readonly at: number
  /** What the write replaced; shorter at the end of the file. */
  readonly old: Uint8Array
}

interface Rename {
  readonly from: string
  readonly to: string
  /** What was at `to`; `undefined` for nothing. */
  readonly old: Uint8Array | undefined
}

/** Bytes of a part of a file; fewer at its end. */
const partOf = (descriptor: number, at: number, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, at))
}

/** Paths are relative to the node's directory, which has another name in each life. */
export class Unsynced {
  private readonly writes = new Map<string, Array<Write>>()
  private renames: Array<Rename> = []

  /** Called before a write to an open file, whose size is known. */
  writing(path: string, { at, descriptor, length, size }: {
    readonly descriptor: number
    readonly at: number
    readonly length: number
    readonly size: number
  }): void {
    const known = this.writes.get(path) ?? []
    this.writes.set(path, known)
    // One that is open for writing only shows nothing: it is new, or appended to.
    const old = at >= size ? new Uint8Array() : readable(descriptor, at, Math.min(length, size - at))
    known.push({ size, at, old })
  }

  renaming(rename: Rename): void {
    this.renames.push(rename)
    const moved = this.writes.get(rename.from)
    this.writes.delete(rename.from)
    this.writes.delete(rename.to)
    if (moved !== undefined) this.writes.set(rename.to, moved)
  }

  /** A file was synced, or a directory, which makes its renames durable. */
  synced(path: string): void {
    this.writes.delete(path)
    const inside = (file: string): boolean => dirname(file) === path
    this.renames = this.renames.filter(({ to }) => !inside(to))
  }

  /**
   * Takes back, below a directory, all writes of each file after some of them, and all renames after some. Forgets the
   * rest. Returns what was lost, in words.
   */
  cut(directory: string, random: Random): string {
    const lost: Array<string> = []
    for (const [path, writes] of this.writes) {
      const kept = below(random, writes.length + 1)
      if (kept === writes.length || !existsSync(join(directory, path))) continue
      lost.push(`${writes.length - kept} writes of ${path}`)
      takeBack(join(directory, path), writes.slice(kept), random)
    }
    const keptRenames = below(random, this.renames.length + 1)
    for (const { from, old, to } of this.renames.slice(keptRenames).reverse()) {
      const at = join(directory, to)
      if (!existsSync(at)) continue
      lost.push(`the rename to ${to}`)
      writeFileSync(join(directory, from), readFileSync(at))
      if (old === undefined) rmSync(at)
      else writeFileSync(at, old)
    }
    this.writes.clear()
    this.renames = []
    return lost.join(", ")
  }
}

const readable = (descriptor: number, at: number, length: number): Uint8Array => {
  try {
    return partOf(descriptor, at, length)
  } catch {
    return new Uint8Array()
  }
}

/** Of the first lost write, a part of what it added may be there. */
const takeBack = (file: string, lost: ReadonlyArray<Write>, random: Random): void => {
  const descriptor = openSync(file, "r+")
  try {
    for (const { at, old } of lost.toReversed()) if (old.length > 0) writeSync(descriptor, old, 0, old.length, at)
  } finally {
    closeSync(descriptor)
  }
  const [first] = lost
  if (first === undefined) return
  const end = readFileSync(file).length
  if (end <= first.size) return
  const torn = first.at === first.size ? below(random, Math.min(end - first.size, 100)) : 0
  truncateSync(file, first.size + torn)
}
