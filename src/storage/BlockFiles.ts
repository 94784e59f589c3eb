import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, rmSync } from "node:fs"
import { join } from "node:path"
import { syncDirectoryNow } from "../base/atomicFile.ts"
import { syncAside, syncFile, truncateFile, writeAll } from "../base/disk.ts"
import { type Bytes, concat, equal } from "../protocol/bytes.ts"
import { hash256 } from "../protocol/hash.ts"
import { guarded, storageFailure } from "./Database.ts"
import { StorageCorrupted } from "./errors.ts"

/** File, offset of the content after magic and length, and size. */
export interface Place {
  readonly file: number
  readonly offset: number
  readonly size: number
}

/** 128 MiB, as in the reference node. */
const MAX_FILE_SIZE = 0x8000000

/** Magic and length. */
const FRAME_SIZE = 8

const CHECKSUM_SIZE = 4

/** Blocks in the reference node's format, undo data in our own. */
export type FileFamily = "blk" | "undo"

const REMEDY =
  "Stop the node, delete the folder chainstate and start again: the chain state is rebuilt from the stored blocks. If that does not help, delete the folder blocks too"

interface OpenFile {
  readonly descriptor: number
  size: number
  written: boolean
}

/**
 * blkNNNNN.dat and undoNNNNN.dat: records of magic, LE32 length and content, appended and never changed. Block files
 * are the reference node's without its XOR mask (reference/protocol.md 8.1). An undo record ends with the first four
 * bytes of hash256(block hash ‖ content). Each new block file starts a new undo file, so that pruning frees both.
 * Methods throw `StorageFailure`.
 */
export class BlockFiles {
  private readonly directory: string
  private readonly magic: Bytes
  private readonly maxFileSize: number
  private readonly open = new Map<string, OpenFile>()
  private readonly paths: Record<FileFamily, Map<number, string>> = { blk: new Map(), undo: new Map() }
  private readonly last: Record<FileFamily, number>
  private total = 0
  /** Whether a new file's directory entry may not be on disk yet. */
  private newFiles = false

  /** @param maxFileSize bytes; a larger block gets its own file. */
  constructor(directory: string, magic: Bytes, maxFileSize = MAX_FILE_SIZE) {
    this.directory = directory
    this.magic = magic
    this.maxFileSize = maxFileSize
    this.last = { blk: this.lastNumber("blk"), undo: this.lastNumber("undo") }
    for (const family of ["blk", "undo"] as const) {
      for (const number of this.numbers(family)) this.total += this.file(family, number).size
    }
  }

  get sizeOnDisk(): number {
    return this.total
  }

  path(family: FileFamily, number: number): string {
    const known = this.paths[family].get(number)
    if (known !== undefined) return known
    const path = join(this.directory, `${family}${String(number).padStart(5, "0")}.dat`)
    this.paths[family].set(number, path)
    return path
  }

  numbers(family: FileFamily): ReadonlyArray<number> {
    const pattern = new RegExp(`^${family}(\\d{5})\\.dat$`)
    return guarded({ file: this.directory, doing: "reading", remedy: REMEDY }, () => readdirSync(this.directory))
      .flatMap((name) => {
        const digits = pattern.exec(name)?.[1]
        return digits === undefined ? [] : [Number(digits)]
      }).sort((a, b) => a - b)
  }

  private lastNumber(family: FileFamily): number {
    return this.numbers(family).at(-1) ?? 0
  }

  private file(family: FileFamily, number: number): OpenFile {
    const path = this.path(family, number)
    const known = this.open.get(path)
    if (known !== undefined) return known
    return guarded({ file: path, doing: "opening", remedy: REMEDY }, () => {
      const isNew = !existsSync(path)
      const descriptor = openSync(path, isNew ? "w+" : "r+", 0o600)
      this.newFiles ||= isNew
      const opened = { descriptor, size: fstatSync(descriptor).size, written: false }
      this.open.set(path, opened)
      return opened
    })
  }

  sizeOf(family: FileFamily, number: number): number {
    const path = this.path(family, number)
    return this.open.get(path)?.size ?? (existsSync(path) ? this.file(family, number).size : 0)
  }

  /** The block is on disk only after `sync`. */
  appendBlock(block: Bytes): Place {
    const record = Buffer.allocUnsafe(FRAME_SIZE + block.length)
    record.set(block, FRAME_SIZE)
    return this.append("blk", record)
  }

  appendUndo(blockHash: Bytes, undo: Bytes): Place {
    // The checksum covers hash and data. The frame then replaces the end of the hash.
    const end = blockHash.length + undo.length
    const bytes = Buffer.allocUnsafe(end + CHECKSUM_SIZE)
    bytes.set(blockHash)
    bytes.set(undo, blockHash.length)
    bytes.set(checksum(bytes.subarray(0, end)), end)
    return this.append("undo", bytes.subarray(blockHash.length - FRAME_SIZE))
  }

  /** Records are appended to this file, which is never pruned. */
  lastOf(family: FileFamily): number {
    return this.last[family]
  }

  /** The frame takes the record's first bytes. */
  private append(family: FileFamily, record: Buffer): Place {
    let number = family === "undo" ? Math.max(this.last.undo, this.last.blk) : this.last.blk
    const size = this.sizeOf(family, number)
    if (size > 0 && size + record.length >= this.maxFileSize) number++
    this.last[family] = number
    const file = this.file(family, number)
    const content = record.length - FRAME_SIZE
    record.set(this.magic)
    record.writeUInt32LE(content, 4)
    const place = { file: number, offset: file.size + FRAME_SIZE, size: content }
    guarded(
      { file: this.path(family, number), doing: "writing", remedy: REMEDY },
      () => writeAll(file.descriptor, record, file.size)
    )
    file.size += record.length
    file.written = true
    this.total += record.length
    return place
  }

  private read(family: FileFamily, { file, offset, size }: Place): Uint8Array {
    const path = this.path(family, file)
    if (offset + size > this.sizeOf(family, file)) {
      const found = `the record of ${size} bytes at offset ${offset} ends after the end of the file`
      throw new StorageCorrupted({ file: path, found, remedy: REMEDY })
    }
    const content = new Uint8Array(size)
    const { descriptor } = this.file(family, file)
    const got = guarded(
      { file: path, doing: "reading", remedy: REMEDY },
      () => readSync(descriptor, content, 0, size, offset)
    )
    if (got === size) return content
    throw new StorageCorrupted({
      file: path,
      found: `only ${got} of ${size} bytes at offset ${offset}`,
      remedy: REMEDY
    })
  }

  /** The caller checks that the bytes are still that block. */
  readBlock(place: Place): Uint8Array {
    return this.read("blk", place)
  }

  /** Verifies the checksum. */
  readUndo(blockHash: Bytes, place: Place): Uint8Array {
    const content = this.read("undo", place)
    const undo = content.subarray(0, content.length - CHECKSUM_SIZE)
    if (equal(content.subarray(undo.length), checksum(concat(blockHash, undo)))) return undo
    const found = `checksum mismatch: wrong checksum of the record at offset ${place.offset}`
    throw new StorageCorrupted({ file: this.path("undo", place.file), found, remedy: REMEDY })
  }

  sync(): void {
    for (const [path, file] of this.open) {
      if (!file.written) continue
      guarded({ file: path, doing: "writing", remedy: REMEDY }, () => syncFile(file.descriptor))
      file.written = false
    }
    if (!this.newFiles) return
    guarded({ file: this.directory, doing: "writing", remedy: REMEDY }, () => syncDirectoryNow(this.directory))
    this.newFiles = false
  }

  /** Most of the work of `sync`, without blocking the event loop. Data appended meanwhile are left to `sync`. */
  async syncAside(): Promise<void> {
    for (const [path, file] of this.open) {
      if (!file.written) continue
      const { size } = file
      await syncAside(file.descriptor).catch((cause: unknown) => {
        throw storageFailure({ file: path, doing: "writing", remedy: REMEDY })(cause)
      })
      if (file.size === size) file.written = false
    }
  }

  /** Removes unreferenced or partly written records after `end`. Returns the bytes removed. */
  cut(family: FileFamily, number: number, { end }: { readonly end: number }): number {
    const surplus = this.sizeOf(family, number) - end
    if (surplus <= 0) return 0
    const file = this.file(family, number)
    guarded({ file: this.path(family, number), doing: "repairing", remedy: REMEDY }, () => {
      truncateFile(file.descriptor, { size: end })
      syncFile(file.descriptor)
    })
    file.size = end
    this.total -= surplus
    return surplus
  }

  /** The removal is on disk after `syncRemovals`. Returns the file's size. */
  remove(family: FileFamily, number: number): number {
    const path = this.path(family, number)
    const size = this.sizeOf(family, number)
    guarded({ file: path, doing: "removing", remedy: REMEDY }, () => {
      const known = this.open.get(path)
      if (known !== undefined) closeSync(known.descriptor)
      this.open.delete(path)
      rmSync(path, { force: true })
    })
    this.total -= size
    return size
  }

  syncRemovals(): void {
    guarded({ file: this.directory, doing: "writing", remedy: REMEDY }, () => syncDirectoryNow(this.directory))
  }

  close(): void {
    for (const { descriptor } of this.open.values()) closeSync(descriptor)
    this.open.clear()
  }
}

const checksum = (covered: Bytes): Uint8Array => hash256(covered).subarray(0, CHECKSUM_SIZE)
