import type { Random } from "./random.ts"

/** A change that a process made to the files of a directory, in order. Paths are relative, with slashes. */
export type DiskEvent =
  | { readonly _tag: "Create"; readonly path: string; readonly inode: number }
  | { readonly _tag: "Truncate"; readonly inode: number; readonly size: number }
  | { readonly _tag: "Write"; readonly inode: number; readonly offset: number; readonly bytes: Uint8Array }
  | { readonly _tag: "Sync"; readonly inode: number }
  | { readonly _tag: "SyncDirectory"; readonly path: string }
  | { readonly _tag: "Rename"; readonly from: string; readonly to: string }
  | { readonly _tag: "Unlink"; readonly path: string }

/** A file that was synced to disk before the first event. */
export interface StoredFile {
  readonly inode: number
  readonly bytes: Uint8Array
}

/** The guarantees of a file system about names. */
export type Model =
  /** A name is on disk once its own directory was synced: all that POSIX guarantees. */
  | "strict"
  /** Names change in order, and a sync of any file writes all changes before it to disk: ext4, XFS and similar. */
  | "journal"

/** The content of a disk: bytes by path. */
export type Image = ReadonlyMap<string, Uint8Array>

type Change = Extract<DiskEvent, { readonly _tag: "Write" | "Truncate" }>
type NameChange = Extract<DiskEvent, { readonly _tag: "Create" | "Rename" | "Unlink" }>

/** Bytes that disks write atomically. */
const SECTOR = 512

/** How often a write that was neither synced nor lost is torn. */
const TORN = 0.3

interface FileOnDisk {
  bytes: Uint8Array
  /** Changes since the last sync. */
  pending: Array<Change>
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))

const endOf = (change: Change): number => change._tag === "Truncate" ? change.size : change.offset + change.bytes.length

/** The bytes of a file after some changes, in a buffer that is allocated once. */
const changed = (bytes: Uint8Array, changes: ReadonlyArray<Change>): Uint8Array => {
  if (changes.length === 0) return bytes
  const room = new Uint8Array(changes.reduce((most, change) => Math.max(most, endOf(change)), bytes.length))
  room.set(bytes)
  let size = bytes.length
  for (const change of changes) {
    const end = endOf(change)
    if (change._tag === "Write") {
      room.set(change.bytes, change.offset)
      size = Math.max(size, end)
    } else {
      room.fill(0, Math.min(size, end), size)
      size = end
    }
  }
  return room.subarray(0, size)
}

const applyName = (names: Map<string, number>, change: NameChange): void => {
  switch (change._tag) {
    case "Create":
      return void names.set(change.path, change.inode)
    case "Unlink":
      return void names.delete(change.path)
    case "Rename": {
      const inode = names.get(change.from)
      if (inode === undefined) return
      names.delete(change.from)
      names.set(change.to, inode)
    }
  }
}

const isIn = (directory: string, change: NameChange): boolean =>
  change._tag === "Rename"
    ? parentOf(change.from) === directory || parentOf(change.to) === directory
    : parentOf(change.path) === directory

/** The sectors of a write that reached the disk, each as a write of its own. */
const torn = (write: Extract<Change, { readonly _tag: "Write" }>, random: Random): ReadonlyArray<Change> => {
  const parts: Array<Change> = []
  for (let at = 0; at < write.bytes.length;) {
    const end = Math.min(write.bytes.length, at + SECTOR - (write.offset + at) % SECTOR)
    if (random.chance(0.5)) parts.push({ ...write, offset: write.offset + at, bytes: write.bytes.subarray(at, end) })
    at = end
  }
  return parts
}

/** Which of the unsynced changes reached the disk: none, all, the first of them, or any. */
const survivors = <A>(changes: ReadonlyArray<A>, random: Random, inOrder: boolean): ReadonlyArray<A> => {
  switch (random.below(4)) {
    case 0:
      return []
    case 1:
      return changes
    case 2:
      return changes.slice(0, random.below(changes.length + 1))
    default:
      return inOrder
        ? changes.slice(0, random.below(changes.length + 1))
        : changes.filter(() => random.chance(0.5))
  }
}

/** The files of a directory after a sequence of events, on a disk that may lose unsynced changes. */
export class Disk {
  private readonly model: Model
  private readonly files = new Map<number, FileOnDisk>()
  private readonly names = new Map<string, number>()
  private pendingNames: Array<NameChange> = []

  constructor(before: ReadonlyMap<string, StoredFile>, model: Model) {
    this.model = model
    for (const [path, { bytes, inode }] of before) {
      this.names.set(path, inode)
      this.files.set(inode, { bytes: new Uint8Array(bytes), pending: [] })
    }
  }

  private file(inode: number): FileOnDisk {
    const known = this.files.get(inode)
    if (known !== undefined) return known
    const made = { bytes: new Uint8Array(0), pending: [] }
    this.files.set(inode, made)
    return made
  }

  private syncNames(directory: string | undefined): void {
    const left: Array<NameChange> = []
    for (const change of this.pendingNames) {
      if (directory === undefined || isIn(directory, change)) applyName(this.names, change)
      else left.push(change)
    }
    this.pendingNames = left
  }

  take(event: DiskEvent): void {
    switch (event._tag) {
      case "Create":
        this.files.set(event.inode, { bytes: new Uint8Array(0), pending: [] })
        return void this.pendingNames.push(event)
      case "Rename":
      case "Unlink":
        return void this.pendingNames.push(event)
      case "Write":
      case "Truncate":
        return void this.file(event.inode).pending.push(event)
      case "Sync": {
        const file = this.file(event.inode)
        file.bytes = changed(file.bytes, file.pending)
        file.pending = []
        if (this.model === "journal") this.syncNames(undefined)
        return
      }
      case "SyncDirectory":
        return this.syncNames(this.model === "journal" ? undefined : event.path)
    }
  }

  private imageOf(
    names: ReadonlyArray<NameChange>,
    contentOf: (file: FileOnDisk) => ReadonlyArray<Change>
  ): Image {
    const kept = new Map(this.names)
    for (const change of names) applyName(kept, change)
    const image = new Map<string, Uint8Array>()
    for (const [path, inode] of kept) {
      const file = this.file(inode)
      image.set(path, changed(file.bytes, contentOf(file)))
    }
    return image
  }

  /** The files as programs see them while the power is on. */
  whole(): Image {
    return this.imageOf(this.pendingNames, ({ pending }) => pending)
  }

  /** The files that a power cut leaves. */
  afterCut(random: Random): Image {
    return this.imageOf(
      survivors(this.pendingNames, random, this.model === "journal"),
      ({ pending }) =>
        survivors(pending, random, false).flatMap((change) =>
          change._tag === "Write" && random.chance(TORN) ? torn(change, random) : [change]
        )
    )
  }
}

/** The disk after the first `count` events. */
export const diskAfter = (
  before: ReadonlyMap<string, StoredFile>,
  events: ReadonlyArray<DiskEvent>,
  count: number,
  model: Model
): Disk => {
  const disk = new Disk(before, model)
  for (const event of events.slice(0, count)) disk.take(event)
  return disk
}
