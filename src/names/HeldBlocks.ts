import type { ConnectedBlock, Cursor } from "../chain/write/Follower.ts"
import type { NameKey } from "../protocol/keys.ts"
import { Reader } from "../protocol/Reader.ts"
import { Writer } from "../protocol/Writer.ts"
import { batchOf, type NameBatch, type NumberedEffect, type StoredEffect } from "./nameChanges.ts"
import { heightOfOperation } from "./NameEntry.ts"

/**
 * The most that waits to be stored. The indexes of names.db have keys in random order, and a page costs the same to
 * write for one new row as for ten. So storing more operations together takes less work for each.
 */
const MOST = { blocks: 4_096, operations: 24_000, bytes: 8 * 1024 * 1024 }

const TXID_BYTES = 32

const NO_RAND = new Uint8Array(0)

const packInto = (writer: Writer, { address, name, operation, transaction, value, vout }: StoredEffect): void => {
  const isFirst = operation.op === "name_firstupdate"
  writer.varBytes(name).varBytes(operation.value).varBytes(address).bytes(transaction.txid)
    .compactSize(vout).compactSize(value).u8(isFirst ? 1 : 0).varBytes(isFirst ? operation.rand : NO_RAND)
}

/** An operation in packed bytes, as thousands of waiting objects would take several times the memory. */
class PackedOperation implements NumberedEffect {
  readonly id: number
  /** Shared by all operations packed together; moves to the one being read. */
  private readonly reader: Reader
  private readonly at: number

  constructor(id: number, reader: Reader, at: number) {
    this.id = id
    this.reader = reader
    this.at = at
  }

  get effect(): StoredEffect {
    const { reader } = this
    reader.offset = this.at
    const name = reader.varBytes("name")
    const written = reader.varBytes("value of the name")
    const address = reader.varBytes("address")
    const txid = reader.bytes(TXID_BYTES, "txid")
    const vout = reader.compactSize("vout")
    const value = reader.compactSize("value", Number.MAX_SAFE_INTEGER)
    const isFirst = reader.u8("kind") === 1
    const rand = reader.varBytes("rand")
    return {
      name,
      operation: isFirst
        ? { op: "name_firstupdate", name, rand, value: written }
        : { op: "name_update", name, value: written },
      height: heightOfOperation(this.id),
      transaction: { txid },
      vout,
      value,
      address
    }
  }
}

const packed = (operations: ReadonlyArray<NumberedEffect>) => {
  const writer = new Writer()
  const starts = operations.map(({ effect }) => {
    const at = writer.size
    packInto(writer, effect)
    return at
  })
  const reader = new Reader(writer.toBytes())
  return { size: writer.size, all: operations.map(({ id }, i) => new PackedOperation(id, reader, starts[i] ?? 0)) }
}

/** What consecutive blocks change in names.db, in memory until it is stored together. */
export class HeldBlocks {
  private operations: Array<NumberedEffect> = []
  private latest = new Map<NameKey, NumberedEffect>()
  private passed: Array<Cursor> = []
  private bytes = 0

  /** Adds blocks. Throws `RangeError` if they do not follow the last held one without a gap. */
  add(blocks: ReadonlyArray<ConnectedBlock>): void {
    const [before, first] = [this.passed[this.passed.length - 1], blocks[0]]
    if (before !== undefined && first !== undefined && first.height !== before.height + 1) {
      throw new RangeError(`block ${first.height} comes where block ${before.height + 1} should`)
    }
    const { latest, operations } = batchOf(blocks)
    const { all, size } = packed(operations)
    const byId = new Map<number, NumberedEffect>()
    for (const operation of all) {
      byId.set(operation.id, operation)
      this.operations.push(operation)
    }
    latest.forEach(({ id }, key) => {
      const operation = byId.get(id)
      if (operation !== undefined) this.latest.set(key, operation)
    })
    this.bytes += size
    for (const { hash, height } of blocks) this.passed.push({ hash, height })
  }

  get isFull(): boolean {
    const { bytes, operations, passed } = this
    return passed.length >= MOST.blocks || operations.length >= MOST.operations || bytes >= MOST.bytes
  }

  get batch(): NameBatch {
    return { operations: this.operations, latest: this.latest }
  }

  get blocks(): ReadonlyArray<Cursor> {
    return this.passed
  }

  clear(): void {
    this.operations = []
    this.latest = new Map()
    this.passed = []
    this.bytes = 0
  }
}
