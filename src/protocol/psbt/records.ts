import { secp256k1 } from "@noble/curves/secp256k1.js"
import { binaryString, type Bytes, concat } from "../bytes.ts"
import { Reader } from "../Reader.ts"
import { isKeySized } from "../scriptOperations.ts"
import { Writer } from "../Writer.ts"
import type { Records } from "./Psbt.ts"

/** The messages are the reference node's (`psbt.h`). */

/** Caught at the end of the decoding. */
export class PsbtFault extends Error {}

/** One record. Its value is read at the first access: errors in a key come before errors in the value. */
export class PsbtRecord {
  readonly type: number
  /** The whole key, its type included. */
  readonly key: Bytes
  readonly data: Bytes
  /** `binaryString` of `key`. */
  readonly keyText: string
  private readonly reader: Reader
  private known: Bytes | undefined

  constructor(key: Bytes, reader: Reader) {
    const inKey = new Reader(key)
    this.type = inKey.compactSize("key type")
    this.key = key
    this.data = key.subarray(inKey.offset)
    this.keyText = binaryString(key)
    this.reader = reader
  }

  /** Distinguishes the record from others of its type. */
  get dataKey(): string {
    return this.keyText.slice(this.key.length - this.data.length)
  }

  get value(): Bytes {
    return this.known ??= this.reader.varBytes("value")
  }
}

export class RecordWriter {
  readonly writer = new Writer(1024)

  record(type: number, data: Bytes, value: Bytes): void {
    this.writer.compactSize(1 + data.length).u8(type).bytes(data).varBytes(value)
  }
}

export const valueBytes = (write: (writer: Writer) => void): Uint8Array => {
  const writer = new Writer(64)
  write(writer)
  return writer.toBytes()
}

export const sorted = <A>(records: Records<A>): ReadonlyArray<A> =>
  [...records].sort(([a], [b]) => a < b ? -1 : 1).map(([, record]) => record)

const SIZE_FAULT = "Size of value was not the stated size"

export const whole = <A>(value: Bytes, read: (reader: Reader) => A): A => {
  const reader = new Reader(value)
  const result = read(reader)
  if (reader.remaining > 0) throw new PsbtFault(SIZE_FAULT)
  return result
}

export const sized = (value: Bytes, size: number): Bytes => {
  if (value.length !== size) throw new PsbtFault(SIZE_FAULT)
  return value
}

/** Whether bytes are a public key: compressed, uncompressed or hybrid, and a point of the curve. */
export const isPublicKey = (key: Bytes): boolean => {
  if (!isKeySized(key)) return false
  if (key[0] !== 0x06 && key[0] !== 0x07) return secp256k1.utils.isValidPublicKey(key)
  const parityIsTrue = ((key[0] ?? 0) & 1) === ((key[64] ?? 0) & 1)
  return parityIsTrue && secp256k1.utils.isValidPublicKey(concat(Uint8Array.of(0x04), key.subarray(1)))
}

export const publicKey = (key: Bytes, message = "Invalid pubkey"): Bytes => {
  if (!isPublicKey(key)) throw new PsbtFault(message)
  return key
}
