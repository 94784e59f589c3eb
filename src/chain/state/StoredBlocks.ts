import { monotonic } from "../../base/clock.ts"
import { checkWitnesses } from "../../consensus/block.ts"
import type { BlockUndo } from "../../consensus/connectBlock.ts"
import { checkProofOfWork } from "../../consensus/header.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import { type Block, type BlockHeader, decodeBlock, readBlockHeader } from "../../protocol/block.ts"
import { type Bytes, displayHash, equal } from "../../protocol/bytes.ts"
import type { HeaderId } from "../../protocol/keys.ts"
import { decodedIf, decodedOr, DecodeError, Reader } from "../../protocol/Reader.ts"
import type { BlockFiles, FileFamily, Place } from "../../storage/BlockFiles.ts"
import { StorageCorrupted } from "../../storage/errors.ts"
import { NO_CHECKSUM, recordChecksum } from "../../storage/recordChecksum.ts"
import { type BlockIndex, GENESIS, Status } from "../index/BlockIndex.ts"
import type { BlockLosses } from "../repair/BlockLosses.ts"
import { decodeUndo } from "./coinCodec.ts"
import { RecentBlocks } from "./RecentBlocks.ts"
import type { Timings } from "./timings.ts"

/** Bytes of connected blocks kept for relay and reorgs. Decoded, they take ten times as much. */
const CONNECTED_BYTES = 512 * 1024

/** Enough for nearly every header with its merged-mining proof. */
const PROOF_BYTES = 2048

/**
 * Up to this size, reading a block and its checksum is cheaper than checking the merged-mining proof of its header: 6
 * µs for 20 kB against 70 to 100 µs.
 */
const CHEAP_BYTES = 256 * 1024

const REMEDY = "The node asks its peers for the block; without peers start with -loadblock and a file that has it"

const UNDO_REMEDY = "The node needs the record only to disconnect the block, and then rebuilds the chain state"

const PRUNED_REMEDY = "Start with -reindex: the node downloads all blocks again"

export interface BlockStore {
  readonly index: BlockIndex
  readonly files: BlockFiles
  readonly losses: BlockLosses
  readonly params: ConsensusParams
  readonly timings: Timings
}

/**
 * Blocks and undo data by header, from memory or files. Each read verifies a checksum over the whole record, since hash
 * and merkle root cover neither witnesses nor the merged-mining proof. A record of an older version is checked by the
 * rules once and then gets a checksum. A failing record counts as missing (`BlockLosses`). Methods throw
 * `StorageFailure`.
 */
export class StoredBlocks {
  private readonly store: BlockStore
  private readonly recent = new RecentBlocks()

  constructor(store: BlockStore) {
    this.store = store
  }

  remember(id: HeaderId, block: Block): void {
    this.recent.put(id, block)
  }

  /** Forgets most blocks, as the latest ones are connected. */
  forgetConnected(): void {
    this.recent.trim(CONNECTED_BYTES)
  }

  forget(id: HeaderId): void {
    this.recent.remove(id)
  }

  block(id: HeaderId): Block {
    return this.recent.get(id) ?? this.read(id)
  }

  bytes(id: HeaderId): Bytes {
    return this.recent.get(id)?.bytes ?? this.record(id)
  }

  /** Reads a block from its file, even if it is in memory. */
  read(id: HeaderId): Block {
    const { index, timings } = this.store
    const started = monotonic()
    const bytes = this.record(id)
    const read = monotonic()
    timings.read += read - started
    try {
      const block = decodeBlock(bytes)
      if (equal(block.hash, index.hash(id)) && equal(block.merkle.root, block.header.merkleRoot)) return block
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
    } finally {
      timings.parse += monotonic() - read
    }
    throw this.lost("blk", id, `is no longer ${this.nameOf(id)}`)
  }

  /** Verifies the stored block, even if it is in memory. */
  checkBlock(id: HeaderId): void {
    this.record(id)
  }

  private nameOf(id: HeaderId): string {
    return `block ${displayHash(this.store.index.hash(id))}`
  }

  private failure(family: FileFamily, file: number, found: string): StorageCorrupted {
    const remedy = family === "blk" ? REMEDY : UNDO_REMEDY
    return new StorageCorrupted({ file: this.store.files.path(family, file), found, remedy })
  }

  private lost(family: FileFamily, id: HeaderId, what: string): StorageCorrupted {
    const { index } = this.store
    const place = family === "blk" ? index.dataPlace(id) : index.undoPlace(id)
    return this.noteLost(family, id, this.failure(family, place.file, `the record at offset ${place.offset} ${what}`))
  }

  private noteLost(family: FileFamily, id: HeaderId, failure: StorageCorrupted): StorageCorrupted {
    const { index, losses } = this.store
    if (family === "blk") this.forget(id)
    losses.lose({ family, id, height: index.height(id), reason: failure.message })
    return failure
  }

  private absent(id: HeaderId): StorageCorrupted {
    const { file } = this.store.index.dataPlace(id)
    if (!this.store.index.has(id, Status.PRUNED)) return this.failure("blk", file, `${this.nameOf(id)} is missing`)
    const found = `${this.nameOf(id)} was pruned`
    return new StorageCorrupted({ file: this.store.files.path("blk", file), found, remedy: PRUNED_REMEDY })
  }

  /** Notes that a stored block fails checks that it passed before. Returns the error. */
  damagedBlock(id: HeaderId, reason: string): StorageCorrupted {
    return this.lost("blk", id, `of ${this.nameOf(id)} is invalid (${reason})`)
  }

  /** Runs a read of a record. A record beyond the end of its file is lost. */
  private reading<A>(family: FileFamily, id: HeaderId, read: () => A): A {
    try {
      return read()
    } catch (cause) {
      throw cause instanceof StorageCorrupted ? this.noteLost(family, id, cause) : cause
    }
  }

  private record(id: HeaderId): Bytes {
    const { files, index, params } = this.store
    if (id === GENESIS) return params.network.genesisBlock
    const place = index.dataPlace(id)
    if (!index.has(id, Status.HAVE_DATA)) throw this.absent(id)
    const bytes = this.reading("blk", id, () => files.readBlock(place))
    const expected = index.checksum(id)
    if (expected === NO_CHECKSUM) this.approve(id, bytes)
    else if (recordChecksum(bytes) !== expected) throw this.lost("blk", id, `is no longer ${this.nameOf(id)}`)
    return bytes
  }

  /** Checks a record without a checksum by the rules, and stores its checksum. */
  private approve(id: HeaderId, bytes: Bytes): void {
    const broken = this.judge(id, bytes)
    if (broken !== undefined) throw this.lost("blk", id, `is no longer ${this.nameOf(id)} (${broken})`)
    this.store.index.setChecksum(id, recordChecksum(bytes))
  }

  /** The error in the bytes of a block, as far as the block alone shows it. */
  private judge(id: HeaderId, bytes: Bytes): string | undefined {
    const { index, params } = this.store
    return decodedOr(() => {
      const block = decodeBlock(bytes)
      if (!equal(block.hash, index.hash(id))) return "another hash"
      if (!equal(block.merkle.root, block.header.merkleRoot) || block.merkle.mutated) return "another merkle root"
      // The chain may have been connected under another activation height (-testactivationheight). If there are
      // witnesses, damage shows in their commitment.
      const committed = index.height(id) >= params.activation.segwit ||
        block.transactions.some(({ hasWitness }) => hasWitness)
      const broken = checkProofOfWork(block, params) ?? checkWitnesses(block, committed)
      return broken?.detail ?? broken?.reason
    }, ({ message }) => message)
  }

  /** The header of a block with its proof. Reads only the beginning of a large record, and checks the proof. */
  header(id: HeaderId): BlockHeader {
    const { index } = this.store
    const recent = this.recent.get(id)
    if (recent !== undefined) return recent
    const header = index.header(id)
    if (!header.hasAuxpowFlag) return { header, auxpow: undefined }
    const place = index.dataPlace(id)
    if (place.size > CHEAP_BYTES) {
      const start = this.proven(id, { ...place, size: PROOF_BYTES })
      if (start !== undefined) return start
    }
    const whole = decodedIf(() => readBlockHeader(new Reader(this.record(id))))
    if (whole !== undefined && equal(whole.header.hash, index.hash(id))) return whole
    throw this.lost("blk", id, `is no longer ${this.nameOf(id)}`)
  }

  /** Reads a header and its proof from the first bytes of a block; `undefined` if incomplete or damaged. */
  private proven(id: HeaderId, place: Place): BlockHeader | undefined {
    const { files, index, params } = this.store
    return decodedIf(() => {
      const header = readBlockHeader(new Reader(this.reading("blk", id, () => files.readBlock(place))))
      const sound = equal(header.header.hash, index.hash(id)) && checkProofOfWork(header, params) === undefined
      return sound ? header : undefined
    })
  }

  undoBytes(id: HeaderId): Bytes {
    const { files, index } = this.store
    const place = index.undoPlace(id)
    if (!index.has(id, Status.HAVE_UNDO)) {
      if (index.has(id, Status.PRUNED)) throw this.absent(id)
      throw this.failure("undo", place.file, `the undo data of ${this.nameOf(id)} are missing`)
    }
    return this.reading("undo", id, () => files.readUndo(index.hash(id), place))
  }

  undo(id: HeaderId): BlockUndo {
    const bytes = this.undoBytes(id)
    return decodedOr(() => decodeUndo(bytes), ({ message }) => {
      throw this.lost("undo", id, `does not decode (${message})`)
    })
  }
}
