import type { Bytes } from "../../protocol/bytes.ts"
import { DecodeError, type Reader } from "../../protocol/Reader.ts"
import { compactSizeLength, Writer } from "../../protocol/Writer.ts"

export interface Codec<A> {
  /**
   * Ignores trailing bytes (reference/protocol.md 6.4). Throws `DecodeError` for an invalid payload, which is dropped
   * without penalty, and `ProtocolViolation` for one with a penalty.
   */
  readonly decode: (reader: Reader) => A
  /** In parts, so that long payloads are not copied. */
  readonly encode: (message: A) => ReadonlyArray<Bytes>
}

/**
 * Breaks a rule that honest peers keep (reference/protocol.md 6.11). The peer is disconnected; `misbehaving` also
 * discourages its address.
 */
export class ProtocolViolation extends DecodeError {
  readonly consequence: "misbehaving" | "disconnect"

  constructor(
    consequence: "misbehaving" | "disconnect",
    { field, offset, reason }: { readonly field: string; readonly offset: number; readonly reason: string }
  ) {
    super({ field, reason }, offset)
    this.name = "ProtocolViolation"
    this.consequence = consequence
  }
}

export interface CountLimit {
  readonly most: number
  readonly consequence: ProtocolViolation["consequence"]
}

export const checkCount = (
  { offset }: Reader,
  { count, field }: { readonly field: string; readonly count: number },
  { consequence, most }: CountLimit
): void => {
  if (count > most) {
    const reason = `${count} entries are above the limit of ${most}`
    throw new ProtocolViolation(consequence, { field, offset, reason })
  }
}

export const codec = <A>(
  decode: (reader: Reader) => A,
  write: (writer: Writer, message: A) => void,
  capacity = 256
): Codec<A> => ({
  decode,
  encode: (message) => {
    const writer = new Writer(capacity)
    write(writer, message)
    return [writer.written()]
  }
})

export const emptyCodec = <A>(message: A): Codec<A> => ({ decode: () => message, encode: () => [] })

/** `smallest`: bytes of the smallest entry. */
export interface ListField {
  readonly field: string
  readonly smallest: number
  readonly limit?: CountLimit
}

export const readList = <A>(
  reader: Reader,
  { field, limit, smallest }: ListField,
  read: (reader: Reader) => A
): ReadonlyArray<A> => {
  const count = reader.count(field, smallest)
  if (limit !== undefined) checkCount(reader, { field, count }, limit)
  const list = new Array<A>(count)
  for (let i = 0; i < count; i++) list[i] = read(reader)
  return list
}

/** In wire order. */
export const readHashes = (reader: Reader, field: string, limit?: CountLimit): ReadonlyArray<Bytes> =>
  readList(
    reader,
    limit === undefined ? { field, smallest: 32 } : { field, smallest: 32, limit },
    () => reader.bytes(32, field)
  )

export const writeHashes = (writer: Writer, hashes: ReadonlyArray<Bytes>): void => {
  writer.compactSize(hashes.length)
  for (const hash of hashes) writer.bytes(hash)
}

/** A CompactSize used as a number: up to 64 bits, in its shortest form. */
export const readCompactNumber = (reader: Reader, field: string): bigint => {
  const first = reader.u8(field)
  if (first < 0xfd) return BigInt(first)
  const value = first === 0xfd
    ? BigInt(reader.u16(field))
    : first === 0xfe
    ? BigInt(reader.u32(field))
    : reader.u64(field)
  const least = first === 0xfd ? 0xfdn : first === 0xfe ? 0x10000n : 0x100000000n
  if (value < least) reader.fail({ field, reason: "the number is not written in its shortest form" })
  return value
}

export const writeCompactNumber = (writer: Writer, value: bigint): void => {
  if (value <= 0xffffffffn) writer.compactSize(Number(value))
  else writer.u8(0xff).u64(value)
}

/** The only big-endian number on the wire. */
export const readPort = (reader: Reader): number => (reader.u8("port") << 8) | reader.u8("port")

export const writePort = (writer: Writer, port: number): void => {
  writer.u8(port >> 8).u8(port & 0xff)
}

/** For messages in parts. */
export const countBytes = (count: number): Uint8Array =>
  new Writer(compactSizeLength(count)).compactSize(count).written()
