import { binaryString, type Bytes, displayHash } from "./bytes.ts"
import { hash256, hash256Into } from "./hash.ts"
import { type OutpointKey, type TxidKey, txidKey } from "./keys.ts"
import { Reader } from "./Reader.ts"
import { compactSizeLength, Writer } from "./Writer.ts"

/** Lower lock times are heights; from here on they are seconds since 1970 (consensus). */
export const LOCKTIME_THRESHOLD = 500_000_000

/** The txid in wire order and the output's index as LE32. */
export const OUTPOINT_SIZE = 36

export interface TransactionInput {
  /** 36 bytes, as on the wire. */
  readonly prevout: Bytes
  readonly scriptSig: Bytes
  readonly sequence: number
  /** Witness items (BIP 144). Most inputs have none. */
  readonly witness: ReadonlyArray<Bytes>
}

export interface TransactionOutput {
  /** Smallest units. A value from the wire may be negative or above `MAX_MONEY`. */
  readonly value: number
  readonly script: Bytes
}

/** The sum of some outputs or coins, in smallest units. */
export const totalValue = (outputs: Iterable<Pick<TransactionOutput, "value">>): number => {
  let total = 0
  for (const { value } of outputs) total += value
  return total
}

/** The shared witness of inputs without one. */
export const NO_WITNESS: ReadonlyArray<Bytes> = []

/** A view of the txid in an outpoint. */
export const prevoutTxid = (prevout: Bytes): Uint8Array => prevout.subarray(0, 32)

export const prevoutIndex = (prevout: Bytes): number =>
  ((prevout[32] ?? 0) | ((prevout[33] ?? 0) << 8) | ((prevout[34] ?? 0) << 16) | ((prevout[35] ?? 0) << 24)) >>> 0

/** For people: `TXID:VOUT`. */
export const outpointText = (prevout: Bytes): string => `${displayHash(prevoutTxid(prevout))}:${prevoutIndex(prevout)}`

/** Pass `into` (36 bytes) to avoid an allocation. */
export const outpoint = (txid: Bytes, index: number, into = new Uint8Array(OUTPOINT_SIZE)): Uint8Array => {
  into.set(txid)
  into[32] = index
  into[33] = index >> 8
  into[34] = index >> 16
  into[35] = index >>> 24
  return into
}

/** An outpoint as a map key, one character per byte. */
export const outpointKey = binaryString as (prevout: Bytes) => OutpointKey

/** All zeros, index 2^32 - 1. */
export const isNullPrevout = (prevout: Bytes): boolean => {
  for (let i = 0; i < 32; i++) if (prevout[i] !== 0) return false
  return prevoutIndex(prevout) === 0xffffffff
}

/** Space for serializations without witnesses that are only hashed. */
const STRIPPED = new Uint8Array(2_048)

const roomFor = (size: number): Uint8Array =>
  size <= STRIPPED.length ? STRIPPED.subarray(0, size) : new Uint8Array(size)

/** A view of a transaction's bytes, made by `readTransaction` or `makeTransaction`. Hashes are computed once. */
export class Transaction {
  /** With witnesses, if any. */
  readonly bytes: Bytes
  /** Unsigned 32-bit. */
  readonly version: number
  readonly inputs: ReadonlyArray<TransactionInput>
  readonly outputs: ReadonlyArray<TransactionOutput>
  readonly lockTime: number
  readonly hasWitness: boolean
  /** The size of the witnesses within `bytes`, without marker and flag. */
  private readonly witnessSize: number
  private knownTxid: Uint8Array | undefined
  private knownWtxid: Uint8Array | undefined
  private knownKey: TxidKey | undefined

  constructor(parts: {
    readonly bytes: Bytes
    readonly version: number
    readonly inputs: ReadonlyArray<TransactionInput>
    readonly outputs: ReadonlyArray<TransactionOutput>
    readonly lockTime: number
    readonly hasWitness: boolean
    readonly witnessSize: number
  }) {
    this.bytes = parts.bytes
    this.version = parts.version
    this.inputs = parts.inputs
    this.outputs = parts.outputs
    this.lockTime = parts.lockTime
    this.hasWitness = parts.hasWitness
    this.witnessSize = parts.witnessSize
  }

  /** Hash of the serialization without witnesses, in wire order. */
  get txid(): Uint8Array {
    return this.knownTxid ??= hash256(this.hasWitness ? this.strip(roomFor(this.strippedSize)) : this.bytes)
  }

  /** Hash of the serialization with witnesses, in wire order. Equal to `txid` without them. */
  get wtxid(): Uint8Array {
    return this.knownWtxid ??= this.hasWitness ? hash256(this.bytes) : this.txid
  }

  wtxidInto(into: Uint8Array, at: number): void {
    if (this.hasWitness && this.knownWtxid === undefined) hash256Into(this.bytes, into, at)
    else into.set(this.wtxid, at)
  }

  get txidKey(): TxidKey {
    return this.knownKey ??= txidKey(this.txid)
  }

  /** Size in bytes without witnesses, marker and flag. */
  get strippedSize(): number {
    return this.hasWitness ? this.bytes.length - this.witnessSize - 2 : this.bytes.length
  }

  get size(): number {
    return this.bytes.length
  }

  get weight(): number {
    return 3 * this.strippedSize + this.size
  }

  /** Weight in units of non-witness bytes, rounded up. */
  get virtualSize(): number {
    return Math.ceil(this.weight / 4)
  }

  get isCoinbase(): boolean {
    const [input] = this.inputs
    return input !== undefined && this.inputs.length === 1 && isNullPrevout(input.prevout)
  }

  /** A copy if there are witnesses. */
  strippedBytes(): Uint8Array {
    return this.hasWitness ? this.strip(new Uint8Array(this.strippedSize)) : this.bytes
  }

  /** Writes the serialization without marker, flag and witnesses into `stripped`, and returns it. */
  private strip(stripped: Uint8Array): Uint8Array {
    const { bytes } = this
    const size = stripped.length
    for (let i = 0; i < 4; i++) {
      stripped[i] = bytes[i] ?? 0
      stripped[size - 4 + i] = bytes[bytes.length - 4 + i] ?? 0
    }
    stripped.set(bytes.subarray(6, bytes.length - 4 - this.witnessSize), 4)
    return stripped
  }
}

/** An input whose witness follows all inputs and outputs. */
type ReadInput = Omit<TransactionInput, "witness"> & { witness: TransactionInput["witness"] }

const readInputs = (reader: Reader): Array<ReadInput> => {
  // The smallest input: an outpoint, an empty script, a sequence.
  const count = reader.count("inputs", OUTPOINT_SIZE + 5)
  const inputs = new Array<ReadInput>(count)
  for (let i = 0; i < count; i++) {
    inputs[i] = {
      prevout: reader.bytes(OUTPOINT_SIZE, "prevout"),
      scriptSig: reader.varBytes("scriptSig"),
      sequence: reader.u32("sequence"),
      witness: NO_WITNESS
    }
  }
  return inputs
}

const readOutputs = (reader: Reader): Array<TransactionOutput> => {
  const count = reader.count("outputs", 9)
  const outputs = new Array<TransactionOutput>(count)
  for (let i = 0; i < count; i++) outputs[i] = { value: reader.i64("value"), script: reader.varBytes("scriptPubKey") }
  return outputs
}

/** Witness items are created at once if they have at least this many bytes on average, with their lengths. */
const ORDINARY_ITEM = 16

/** Up to this many items are always created at once. */
const FEW_ITEMS = 3

const readItems = (reader: Reader, count: number): ReadonlyArray<Bytes> => {
  const items = new Array<Bytes>(count)
  for (let i = 0; i < count; i++) items[i] = reader.varBytes("witness item")
  return items
}

/**
 * Returns whether there are items. Many short items are created on each access instead: an object for a one-byte item
 * takes some 50 bytes, and a block can have millions.
 */
const readWitness = (reader: Reader, inputs: Array<ReadInput>, i: number): boolean => {
  const count = reader.count("witness items", 1)
  const input = inputs[i]
  if (count === 0 || input === undefined) return false
  const start = reader.offset
  for (let left = count; left > 0; left--) reader.skip(reader.compactSize("witness item"), "witness item")
  const { offset, source } = reader
  if (offset - start >= ORDINARY_ITEM * count || count <= FEW_ITEMS) {
    reader.offset = start
    input.witness = readItems(reader, count)
    return true
  }
  const bytes = source.subarray(start, offset)
  const { prevout, scriptSig, sequence } = input
  inputs[i] = {
    prevout,
    scriptSig,
    sequence,
    get witness() {
      return readItems(new Reader(bytes), count)
    }
  }
  return true
}

/**
 * Reads a transaction. Without `witness`, the extended format of BIP 144 is not recognized, as where upstream reads a
 * transaction that may have no inputs yet. Source: upstream `primitives/transaction.h`, `UnserializeTransaction`.
 * @throws DecodeError for truncated bytes, lengths not in shortest form, an unknown flag, and only empty witnesses.
 */
export const readTransaction = (reader: Reader, witness = true): Transaction => {
  const start = reader.offset
  const version = reader.u32("version")
  let inputs = readInputs(reader)
  let outputs: Array<TransactionOutput> = []
  let flags = 0
  if (inputs.length === 0 && witness) {
    flags = reader.u8("flag")
    if (flags !== 0) {
      inputs = readInputs(reader)
      outputs = readOutputs(reader)
    }
  } else outputs = readOutputs(reader)
  const witnessStart = reader.offset
  const hasWitness = (flags & 1) !== 0
  if (hasWitness) {
    let empty = true
    for (let i = 0; i < inputs.length; i++) if (readWitness(reader, inputs, i)) empty = false
    if (empty) reader.fail({ field: "witness", reason: "superfluous: no input has one" })
  }
  if ((flags & ~1) !== 0) reader.fail({ field: "flag", reason: `unknown optional data (${flags})` })
  const witnessSize = reader.offset - witnessStart
  const lockTime = reader.u32("lock time")
  const bytes = reader.source.subarray(start, reader.offset)
  return new Transaction({ bytes, version, inputs, outputs, lockTime, hasWitness, witnessSize })
}

/** Reads a transaction that fills its bytes. Throws `DecodeError` as `readTransaction`, and for trailing bytes. */
export const decodeTransaction = (bytes: Bytes, witness = true): Transaction => {
  const reader = new Reader(bytes)
  const transaction = readTransaction(reader, witness)
  reader.end("transaction")
  return transaction
}

export const makeTransaction = (parts: {
  readonly version: number
  readonly inputs: ReadonlyArray<TransactionInput>
  readonly outputs: ReadonlyArray<TransactionOutput>
  readonly lockTime: number
}): Transaction => {
  const hasWitness = parts.inputs.some((input) => input.witness.length > 0)
  const writer = new Writer(1024)
  writer.u32(parts.version)
  if (hasWitness) writer.u8(0).u8(1)
  writer.compactSize(parts.inputs.length)
  for (const input of parts.inputs) writer.bytes(input.prevout).varBytes(input.scriptSig).u32(input.sequence)
  writer.compactSize(parts.outputs.length)
  for (const output of parts.outputs) writer.i64(output.value).varBytes(output.script)
  const witnessStart = writer.size
  if (hasWitness) {
    for (const { witness } of parts.inputs) {
      writer.compactSize(witness.length)
      for (const item of witness) writer.varBytes(item)
    }
  }
  const witnessSize = writer.size - witnessStart
  writer.u32(parts.lockTime)
  return new Transaction({ ...parts, bytes: writer.toBytes(), hasWitness, witnessSize })
}

export const outputSize = (output: TransactionOutput): number =>
  8 + compactSizeLength(output.script.length) + output.script.length

/** The index of the input that spends an output of another transaction, given by its txid in wire order; -1 for none. */
export const inputSpending = ({ inputs }: Transaction, txid: Bytes, vout: number): number => {
  const key = outpointKey(outpoint(txid, vout))
  return inputs.findIndex(({ prevout }) => outpointKey(prevout) === key)
}
