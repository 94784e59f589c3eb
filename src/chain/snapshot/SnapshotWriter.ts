import { closeSync, openSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { syncDirectoryNow } from "../../base/atomicFile.ts"
import { renameFile, syncAside, syncFile, writeAll } from "../../base/disk.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { equal } from "../../protocol/bytes.ts"
import type { Network } from "../../protocol/networks.ts"
import { Writer } from "../../protocol/Writer.ts"
import { writeCompressedCoin } from "./compressedCoin.ts"
import { COUNT_OFFSET, encodeMetadata } from "./snapshotFile.ts"

const CHUNK = 1024 * 1024

const NO_TXID: Bytes = new Uint8Array(0)

/** From this index on, the reference node's order (by the bytes of VARINT(index)) differs from the numeric one. */
const LATE_ORDER = 0x4080

/** A number with the order of the bytes of VARINT(index), for indexes below 2^21. */
const placeOf = (index: number): number => {
  if (index < 0x80) return index << 16
  if (index < LATE_ORDER) {
    const rest = index - 0x80
    return (0x80 | rest >> 7) << 16 | (rest & 0x7f) << 8
  }
  const rest = index - LATE_ORDER
  return (0x80 | rest >> 14) << 16 | (0x80 | rest >> 7 & 0x7f) << 8 | rest & 0x7f
}

interface Output {
  readonly index: number
  readonly coin: Coin
}

export interface SnapshotTarget {
  readonly path: string
  readonly network: Network
  /** The hash of the base block, in wire order. */
  readonly base: Bytes
}

export const draftOf = (path: string): string => `${path}.incomplete`

/**
 * Writes a snapshot file beside its path and renames it at the end. The caller adds coins in (txid, index) order.
 * Methods throw system errors.
 */
export class SnapshotWriter {
  private readonly target: SnapshotTarget
  private readonly descriptor: number
  private readonly buffer = new Writer(2 * CHUNK)
  private txid: Bytes = NO_TXID
  private outputs: Array<Output> = []
  private count = 0
  private open = true

  constructor(target: SnapshotTarget) {
    this.target = target
    // Always a new file: opening an existing FIFO would stop the event loop.
    rmSync(draftOf(target.path), { force: true })
    this.descriptor = openSync(draftOf(target.path), "wx")
    this.buffer.bytes(encodeMetadata(target.network, { base: target.base, coins: 0 }))
  }

  add(txid: Bytes, index: number, coin: Coin): void {
    if (!equal(txid, this.txid)) {
      this.endTransaction()
      this.txid = txid.slice()
    }
    this.outputs.push({ index, coin })
    this.count++
  }

  private endTransaction(): void {
    const { buffer, outputs } = this
    const last = outputs[outputs.length - 1]
    if (last === undefined) return
    if (last.index >= LATE_ORDER) outputs.sort((a, b) => placeOf(a.index) - placeOf(b.index))
    buffer.bytes(this.txid).compactSize(outputs.length)
    for (const { coin, index } of outputs) writeCompressedCoin(buffer.compactSize(index), coin)
    this.outputs = []
    if (buffer.size >= CHUNK) this.writeOut()
  }

  private writeOut(): void {
    writeAll(this.descriptor, this.buffer.written())
    this.buffer.clear()
  }

  /**
   * Syncs what was added while the event loop continues, as a large file takes seconds. The caller must wait for it,
   * since `abandon` would close the file meanwhile.
   */
  async sync(): Promise<void> {
    this.endTransaction()
    this.writeOut()
    await syncAside(this.descriptor)
  }

  /** Makes the file durable and renames it. Returns the number of coins. */
  finish(): number {
    this.endTransaction()
    this.writeOut()
    const count = new Writer(8).u64(BigInt(this.count)).toBytes()
    writeAll(this.descriptor, count, COUNT_OFFSET)
    syncFile(this.descriptor)
    this.close()
    renameFile({ from: draftOf(this.target.path), to: this.target.path })
    syncDirectoryNow(dirname(this.target.path))
    return this.count
  }

  /** Removes an unfinished file. Does nothing after `finish`. */
  abandon(): void {
    if (!this.open) return
    this.close()
    rmSync(draftOf(this.target.path), { force: true })
  }

  private close(): void {
    if (!this.open) return
    this.open = false
    closeSync(this.descriptor)
  }
}
