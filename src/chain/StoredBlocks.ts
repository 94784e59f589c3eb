import { type Block, type BlockHeader, decodeBlock, readBlockHeader } from "../protocol/block.ts"
import { displayHash, equal } from "../protocol/bytes.ts"
import { DecodeError, Reader } from "../protocol/Reader.ts"
import type { BlockFiles, Family, Place } from "../storage/BlockFiles.ts"
import { StorageCorrupted } from "../storage/errors.ts"
import { type BlockIndex, Status } from "./BlockIndex.ts"
import { decodeUndo, type Undo } from "./coinCodec.ts"
import { RecentBlocks } from "./RecentBlocks.ts"
import type { Timings } from "./timings.ts"

/** Bytes of a block in which its header and, nearly always, its merged-mining proof end. */
const PROOF_BYTES = 2048

const REMEDY =
  "The block has to be fetched again: start with -loadblock and a file that has it, or delete blocks and chainstate"

/** Blocks and undo data by the number of their header, from memory or from their files. Methods throw `StorageFailure`. */
export class StoredBlocks {
  private readonly index: BlockIndex
  private readonly files: BlockFiles
  private readonly timings: Timings
  private readonly recent = new RecentBlocks()

  constructor(index: BlockIndex, files: BlockFiles, timings: Timings) {
    this.index = index
    this.files = files
    this.timings = timings
  }

  /** Keeps a block that just came, for a while. */
  remember(id: number, block: Block): void {
    this.recent.put(id, block)
  }

  forget(id: number): void {
    this.recent.remove(id)
  }

  /** A block; one that is read is checked to be the one that was stored. */
  block(id: number): Block {
    return this.recent.get(id) ?? this.read(id)
  }

  private damaged(family: Family, file: number, found: string): StorageCorrupted {
    return new StorageCorrupted({ file: this.files.path(family, file), found, remedy: REMEDY })
  }

  /** The failure of a block that is stored and no longer passes the checks that it passed when it came. */
  damagedBlock(id: number, reason: string): StorageCorrupted {
    const { file, offset } = this.index.dataPlace(id)
    const name = displayHash(this.index.hash(id))
    return this.damaged("blk", file, `the record at offset ${offset} of block ${name} has changed (${reason})`)
  }

  private read(id: number): Block {
    const place = this.index.dataPlace(id)
    const name = `block ${displayHash(this.index.hash(id))}`
    if (!this.index.has(id, Status.HAVE_DATA)) throw this.damaged("blk", place.file, `${name} is missing`)
    const started = performance.now()
    const bytes = this.files.readBlock(place)
    const read = performance.now()
    this.timings.read += read - started
    try {
      const block = decodeBlock(bytes)
      if (equal(block.hash, this.index.hash(id)) && equal(block.merkle.root, block.header.merkleRoot)) return block
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
    } finally {
      this.timings.parse += performance.now() - read
    }
    throw this.damaged("blk", place.file, `the record at offset ${place.offset} is not ${name} any more`)
  }

  /** The header of a block with its proof: of the record just the beginning is read. */
  header(id: number): BlockHeader {
    const recent = this.recent.get(id)
    if (recent !== undefined) return recent
    const header = this.index.header(id)
    if (!header.hasAuxpowFlag) return { header, auxpow: undefined }
    const place = this.index.dataPlace(id)
    const start = { ...place, size: Math.min(place.size, PROOF_BYTES) }
    return this.readHeader(id, start) ?? this.readHeader(id, place) ?? this.block(id)
  }

  /** `undefined` where the bytes end too early, or are not those of the header. */
  private readHeader(id: number, place: Place): BlockHeader | undefined {
    try {
      const header = readBlockHeader(new Reader(this.files.readBlock(place)))
      return equal(header.header.hash, this.index.hash(id)) ? header : undefined
    } catch (cause) {
      if (cause instanceof DecodeError) return undefined
      throw cause
    }
  }

  /** The undo data of a connected block. */
  undo(id: number): Undo {
    const place = this.index.undoPlace(id)
    const bytes = this.files.readUndo(this.index.hash(id), place)
    try {
      return decodeUndo(bytes)
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      throw this.damaged("undo", place.file, `the record at offset ${place.offset} does not decode (${cause.message})`)
    }
  }
}
