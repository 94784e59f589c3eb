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

/** What a power cut takes from the files of a node: writes, new files and renames since the last sync. */

interface Write {
  /** The size of the file before. */
  readonly size: number
  readonly at: number
  /** What the write replaced; shorter at the end of the file. */
  readonly old: Uint8Array
}

/** What changes a directory: a rename, or a new file. */
interface Entry {
  /** `undefined`: a new file. */
  readonly from: string | undefined
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
  /** In order: a directory loses the last ones. */
  private entries: Array<Entry> = []

  /** Called before a write to an open file, whose size is known. */
  writing(path: string, { at, descriptor, length, size }: {
    readonly descriptor: number
    readonly at: number
    readonly length: number
    readonly size: number
  }): void {
    const known = this.writes.get(path) ?? []
    this.writes.set(path, known)
    // Throws if the file is open for writing only: what such a write replaces would be lost to the record.
    const old = at >= size ? new Uint8Array() : partOf(descriptor, at, Math.min(length, size - at))
    known.push({ size, at, old })
  }

  created(path: string): void {
    this.entries.push({ from: undefined, to: path, old: undefined })
  }

  renaming(rename: Entry & { readonly from: string }): void {
    this.entries.push(rename)
    const moved = this.writes.get(rename.from)
    this.writes.delete(rename.from)
    this.writes.delete(rename.to)
    if (moved !== undefined) this.writes.set(rename.to, moved)
  }

  /** A file was synced, or a directory, which makes its new files and renames durable. */
  synced(path: string): void {
    this.writes.delete(path)
    const inside = (file: string): boolean => dirname(file) === path
    this.entries = this.entries.filter(({ to }) => !inside(to))
  }

  /**
   * Takes back, below a directory, all writes of each file after some of them, and all new files and renames after
   * some. Forgets the rest. Returns what was lost, in words.
   */
  cut(directory: string, random: Random): string {
    const lost: Array<string> = []
    for (const [path, writes] of this.writes) {
      const kept = below(random, writes.length + 1)
      if (kept === writes.length || !existsSync(join(directory, path))) continue
      lost.push(`${writes.length - kept} writes of ${path}`)
      takeBack(join(directory, path), writes.slice(kept), random)
    }
    const keptEntries = below(random, this.entries.length + 1)
    for (const { from, old, to } of this.entries.slice(keptEntries).reverse()) {
      const at = join(directory, to)
      if (!existsSync(at)) continue
      lost.push(from === undefined ? `the new file ${to}` : `the rename to ${to}`)
      if (from !== undefined) writeFileSync(join(directory, from), readFileSync(at))
      if (old === undefined) rmSync(at)
      else writeFileSync(at, old)
    }
    this.writes.clear()
    this.entries = []
    return lost.join(", ")
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
