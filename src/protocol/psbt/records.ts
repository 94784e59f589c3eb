import { secp256k1 } from "@noble/curves/secp256k1.js"
import { binaryString, type Bytes, concat } from "../bytes.ts"
import { DecodeError, Reader } from "../Reader.ts"
import { isKeySized } from "../scriptOperations.ts"
import type { KeyOrigin, ProprietaryRecord, UnknownRecord } from "./Psbt.ts"

/** Reads the maps of a PSBT record by record. The messages are the reference node's (upstream `psbt.h`). */

/** Why bytes are not a PSBT. Caught at the end of the decoding. */
export class PsbtFault extends Error {}

/** One record. Its value is read at the first access: errors in a key come before errors in the value. */
export class PsbtRecord {
  readonly type: number
  /** The whole key, its type included. */
  readonly key: Bytes
  readonly data: Bytes
  private readonly reader: Reader
  private known: Bytes | undefined

  constructor(key: Bytes, reader: Reader) {
    const inKey = new Reader(key)
    this.type = inKey.compactSize("key type")
    this.key = key
    this.data = key.subarray(inKey.offset)
    this.reader = reader
  }

  get value(): Bytes {
    return this.known ??= this.reader.varBytes("value")
  }
}

/** Returns the key for maps that distinguishes a record from others of its type. */
export const dataKey = ({ data }: PsbtRecord): string => binaryString(data)

type MapKind = "global" | "input" | "output"

const SEPARATORS: Readonly<Record<MapKind, string>> = { global: "the global", input: "an input", output: "an output" }

/** The names of a record in messages: if it is there twice, and if its key has data. */
export interface RecordNames {
  readonly duplicate: string
  readonly name: string
}

export class RecordReader<Kind extends MapKind = MapKind> {
  private readonly reader: Reader
  readonly map: Kind
  private readonly seen = new Set<string>()

  constructor(reader: Reader, map: Kind) {
    this.reader = reader
    this.map = map
  }

  /** The next record; `undefined` at the separator. */
  next(): PsbtRecord | undefined {
    const { map, reader } = this
    if (reader.remaining === 0) throw new PsbtFault(`Separator is missing at the end of ${SEPARATORS[map]} map`)
    const key = reader.varBytes("key")
    if (key.length === 0) return undefined
    return new PsbtRecord(key, reader)
  }

  /** Throws if the map already has a record with this key. */
  once({ key }: PsbtRecord, what: string): void {
    if (this.seen.size === this.seen.add(binaryString(key)).size) {
      throw new PsbtFault(`Duplicate Key, ${what} already provided`)
    }
  }

  /** As above, for a record type without data in its key. */
  single(record: PsbtRecord, { duplicate, name }: RecordNames): Bytes {
    this.once(record, duplicate)
    if (record.key.length !== 1) throw new PsbtFault(`${name} key is more than one byte type`)
    return record.value
  }

  unknown(record: PsbtRecord, to: Map<string, UnknownRecord>): void {
    this.once(record, "key for unknown value")
    to.set(binaryString(record.key), { key: record.key, value: record.value })
  }

  proprietary(record: PsbtRecord, to: Map<string, ProprietaryRecord>): void {
    const { data, key } = record
    const reader = new Reader(data)
    const identifier = reader.varBytes("proprietary identifier")
    const subtype = reader.compactSize("proprietary subtype")
    if (to.has(binaryString(key))) throw new PsbtFault("Duplicate Key, proprietary key already found")
    to.set(binaryString(key), { identifier, subtype, key, value: record.value })
  }
}

/** Returns `undefined` for an empty script. */
export const nonEmpty = (bytes: Bytes): Bytes | undefined => bytes.length === 0 ? undefined : bytes

const SIZE_FAULT = "Size of value was not the stated size"

/** Reads one item that fills a whole value. */
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

/** 32 bytes; `undefined` for zeros. */
export const hashOrNone = (value: Bytes): Bytes | undefined =>
  sized(value, 32).every((byte) => byte === 0) ? undefined : value

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

/** The public key in the key of a record of some type. */
export const keyOfRecord = ({ data }: PsbtRecord, type: string): Bytes => {
  if (data.length !== 33 && data.length !== 65) {
    throw new PsbtFault(`Size of key was not the expected size for the type ${type}`)
  }
  return publicKey(data)
}

export const readOrigin = (value: Bytes): KeyOrigin => {
  if (value.length === 0 || value.length % 4 !== 0) throw new PsbtFault("Invalid length for HD key path")
  const reader = new Reader(value, 4)
  const path = Array.from({ length: value.length / 4 - 1 }, () => reader.u32("key path"))
  return { fingerprint: value.subarray(0, 4), path }
}

/** Upstream's words for a `DecodeError` of `Reader`. */
const upstreamReason = ({ message, reason }: DecodeError): string => {
  if (/^needs |entries do not fit/.test(reason)) return "SpanReader::read(): end of data"
  if (reason.includes("shortest form")) return "non-canonical ReadCompactSize()"
  return reason.includes("above the limit") ? "ReadCompactSize(): size too large" : message
}

/** Returns the reason of a decoding error, as upstream's exception shows it. Rethrows any other error. */
export const whyUnreadable = (error: unknown): string => {
  if (error instanceof PsbtFault) return `${error.message}: iostream error`
  if (error instanceof DecodeError) return `${upstreamReason(error)}: iostream error`
  throw error
}
