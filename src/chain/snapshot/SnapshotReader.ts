import { closeSync, readSync } from "node:fs"
import { openGiven } from "../../base/givenFile.ts"
import { MAX_BLOCK_WEIGHT, WITNESS_SCALE_FACTOR } from "../../consensus/params.ts"
import type { Coin } from "../../consensus/view.ts"
import { type Bytes, compare, EMPTY } from "../../protocol/bytes.ts"
import type { Height } from "../../protocol/keys.ts"
import type { Network } from "../../protocol/networks.ts"
import { MAX_SCRIPT_SIZE } from "../../protocol/script.ts"
import { outpoint } from "../../protocol/transaction.ts"
import { decompressAmount, decompressScript, scriptBytesAfter } from "./compressedCoin.ts"
import { decodeMetadata, METADATA_SIZE, type SnapshotMetadata } from "./snapshotFile.ts"

const CHUNK = 1024 * 1024

/** An upper bound for one coin with the head of its transaction. */
const MOST_OF_COIN = MAX_SCRIPT_SIZE + 100

/** Bytes of the outputs of one transaction. Real ones fit a block; a hostile file may claim any number. */
const MOST_OF_TRANSACTION = MAX_BLOCK_WEIGHT / WITNESS_SCALE_FACTOR

/** Bytes of an output besides its script: the amount, and at least one byte of length. */
const OUTPUT_HEAD = 9

/** Bytes of coins read in a row. */
const BYTES_IN_A_ROW = 262_144

/** How many simple coins cost as much as one whose public key is decompressed. */
const COST_OF_KEY = 50

/** The contents of a snapshot file are wrong. The message is the reference node's if it has one. */
export class BadSnapshot extends Error {
  override readonly name = "BadSnapshot"
}

export interface SnapshotCoin {
  /** As on the wire. */
  readonly outpoint: Uint8Array
  readonly coin: Coin
}

interface Output {
  readonly index: number
  /** Whether its script has a decompressed public key. */
  readonly costly: boolean
  readonly coin: Coin
}

const NO_TXID: Bytes = EMPTY

/**
 * Reads a snapshot file sequentially. Coins must come in (txid, index) order, each once, because the hash depends on
 * it. Methods throw `BadSnapshot` and system errors. Source of the checks: upstream `validation.cpp`,
 * `ChainstateManager::PopulateAndValidateSnapshot`.
 */
export class SnapshotReader {
  private readonly descriptor: number
  /** Not a `Buffer`, whose `slice` is a view: coins are copied before the next read replaces them. */
  private readonly buffer = new Uint8Array(CHUNK + MOST_OF_COIN)
  private at = 0
  private end = 0
  private atEnd = false
  private txid: Bytes = NO_TXID
  /** Outputs of the current transaction: those read, the number of the others, and the bytes. */
  private outputs: Array<Output> = []
  private awaited = 0
  private size = 0
  private total = 0
  private left = 0
  private baseHeight: Height = 0
  private open = true

  constructor(path: string) {
    this.descriptor = openGiven(path)
  }

  /** Reads the metadata. Returns the reason if they are not for this network. */
  metadata(network: Network): SnapshotMetadata | string {
    this.fill()
    const metadata = decodeMetadata(network, this.buffer.subarray(0, Math.min(this.end, METADATA_SIZE)))
    if (typeof metadata !== "string") {
      this.at = METADATA_SIZE
      this.total = metadata.coins
      this.left = metadata.coins
    }
    return metadata
  }

  /** Sets the height of the base block, which no coin may exceed. */
  expect(baseHeight: Height): void {
    this.baseHeight = baseHeight
  }

  get read(): number {
    return this.total - this.left
  }

  /**
   * The next coins, at most `count`, few if they are costly, so that a call takes some milliseconds. May be empty
   * within the outputs of a transaction. `undefined` behind the last coin.
   */
  coins(count: number): ReadonlyArray<SnapshotCoin> | undefined {
    const found: Array<SnapshotCoin> = []
    let bytes = 0
    for (let cost = 0; cost < count && bytes < BYTES_IN_A_ROW && this.left > 0;) {
      if (this.awaited === 0) this.begin()
      const output = this.output()
      const size = output.coin.script.length + OUTPUT_HEAD
      bytes += size
      cost += output.costly ? COST_OF_KEY : 1
      this.size += size
      if (this.size > MOST_OF_TRANSACTION) throw this.bad(" - more outputs than a transaction can have")
      this.outputs.push(output)
      this.awaited--
      if (this.awaited === 0) this.handOn(found)
    }
    if (this.left > 0) return found
    if (!this.isOver()) {
      throw new BadSnapshot(`Bad snapshot - coins left over after deserializing ${this.total} coins`)
    }
    return found.length === 0 ? undefined : found
  }

  private isOver(): boolean {
    if (this.at === this.end) this.fill()
    return this.at === this.end
  }

  /** Moves the unread bytes to the front and reads more after them. */
  private fill(): void {
    this.buffer.copyWithin(0, this.at, this.end)
    this.end -= this.at
    this.at = 0
    while (!this.atEnd && this.end < this.buffer.length) {
      const count = readSync(this.descriptor, this.buffer, this.end, this.buffer.length - this.end, null)
      if (count === 0) this.atEnd = true
      this.end += count
    }
  }

  private truncated(): BadSnapshot {
    return new BadSnapshot(`Bad snapshot format or truncated snapshot after deserializing ${this.read} coins`)
  }

  private bad(why = ""): BadSnapshot {
    return new BadSnapshot(`Bad snapshot data after deserializing ${this.read} coins${why}`)
  }

  private begin(): void {
    this.ready()
    const txid = this.bytes(32).slice()
    if (this.txid.length > 0 && compare(txid, this.txid) <= 0) throw this.bad(" - transactions out of order")
    this.txid = txid
    const count = this.compactSize()
    if (count > this.left) {
      throw new BadSnapshot("Mismatch in coins count in snapshot metadata and actual snapshot data")
    }
    if (count * OUTPUT_HEAD > MOST_OF_TRANSACTION) throw this.bad(" - more outputs than a transaction can have")
    // Upstream reads a transaction without outputs as nothing and never writes one.
    if (count === 0) throw this.bad(" - a transaction without outputs")
    this.awaited = count
    this.size = 0
  }

  /** Hands on the outputs of a completely read transaction by index. */
  private handOn(found: Array<SnapshotCoin>): void {
    const { outputs, txid } = this
    this.outputs = []
    if (outputs.length > 1) outputs.sort((a, b) => a.index - b.index)
    for (const [at, { coin, index }] of outputs.entries()) {
      if (outputs[at - 1]?.index === index) throw this.bad(" - the same output twice")
      found.push({ outpoint: outpoint(txid, index), coin })
    }
  }

  private output(): Output {
    this.ready()
    const index = this.compactSize()
    const code = this.varInt()
    const value = decompressAmount(this.varInt())
    const form = this.varInt()
    const size = scriptBytesAfter(form)
    if (typeof code === "bigint" || code > 0xffffffff || size === undefined || typeof form === "bigint") {
      throw this.truncated()
    }
    const script = decompressScript(form, this.bytes(size))
    if (script === undefined) throw this.truncated()
    const height = Math.floor(code / 2)
    if (height > this.baseHeight || index >= 0xffffffff) throw this.bad()
    if (value === undefined) throw this.bad(" - bad tx out value")
    this.left--
    const costly = form === 4 || form === 5
    return { index, costly, coin: { value, script, height, coinbase: code % 2 === 1 } }
  }

  private ready(): void {
    if (this.end - this.at < MOST_OF_COIN && !this.atEnd) this.fill()
  }

  private byte(): number {
    const byte = this.buffer[this.at]
    if (this.at >= this.end || byte === undefined) throw this.truncated()
    this.at++
    return byte
  }

  private bytes(size: number): Uint8Array {
    if (size > this.end - this.at) throw this.truncated()
    this.at += size
    return this.buffer.subarray(this.at - size, this.at)
  }

  private compactSize(): number {
    const first = this.byte()
    if (first < 0xfd) return first
    const size = first === 0xfd ? 2 : first === 0xfe ? 4 : 8
    let value = 0
    for (const [at, byte] of this.bytes(size).entries()) value += byte * 2 ** (8 * at)
    const least = first === 0xfd ? 0xfd : first === 0xfe ? 0x10000 : 0x100000000
    if (value < least) throw this.truncated()
    return value
  }

  /** See `writeVarInt`. A double while it is exact. */
  private varInt(): number | bigint {
    let value = 0
    for (let count = 0; count < 7; count++) {
      const byte = this.byte()
      value = value * 128 + (byte & 0x7f)
      if (byte < 0x80) return value
      value++
    }
    for (let large = BigInt(value);;) {
      const byte = this.byte()
      large = large * 128n + BigInt(byte & 0x7f)
      if (large > MAX_UINT64) throw this.truncated()
      if (byte < 0x80) return large
      large++
    }
  }

  close(): void {
    if (!this.open) return
    this.open = false
    closeSync(this.descriptor)
  }
}

const MAX_UINT64 = 0xffffffffffffffffn
