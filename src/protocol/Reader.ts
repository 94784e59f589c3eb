import { type Bytes, EMPTY } from "./bytes.ts"

/** Largest CompactSize for a length (protocol): 32 MiB, as upstream `serialize.h`, `MAX_SIZE`. */
export const MAX_SIZE = 0x02000000

/** `truncated`: bytes are missing. The next two are about a CompactSize, and `malformed` is all else. */
export type DecodeKind = "truncated" | "not shortest" | "too large" | "malformed"

interface DecodeFault {
  readonly field: string
  readonly reason: string
  readonly kind?: DecodeKind
}

/** The only error of the protocol code: bytes in an unexpected format. */
export class DecodeError extends Error {
  readonly _tag = "DecodeError"
  readonly field: string
  readonly offset: number
  readonly reason: string
  readonly kind: DecodeKind

  constructor({ field, kind = "malformed", reason }: DecodeFault, offset: number) {
    super(`${field} at byte ${offset}: ${reason}`)
    this.name = "DecodeError"
    this.field = field
    this.offset = offset
    this.reason = reason
    this.kind = kind
  }
}

/** Handles a `DecodeError` of the reading, and no other error. */
export const decodedOr = <A, B>(read: () => A, otherwise: (error: DecodeError) => B): A | B => {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return otherwise(error)
    throw error
  }
}

/** `undefined` for bytes in an unexpected format. */
export const decodedIf = <A>(read: () => A): A | undefined => decodedOr(read, () => undefined)

/** Each read takes the name of its field for the message of the `DecodeError` past the end. `bytes` returns views. */
export class Reader {
  readonly source: Bytes
  offset: number
  private readonly view: DataView

  constructor(source: Bytes, offset = 0) {
    this.source = source
    this.offset = offset
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  }

  get remaining(): number {
    return this.source.length - this.offset
  }

  fail(fault: DecodeFault): never {
    throw new DecodeError(fault, this.offset)
  }

  private take(size: number, field: string): number {
    const at = this.offset
    if (size > this.source.length - at) {
      this.fail({ field, reason: `needs ${size} bytes, ${this.source.length - at} are left`, kind: "truncated" })
    }
    this.offset = at + size
    return at
  }

  u8(field: string): number {
    return this.view.getUint8(this.take(1, field))
  }

  u16(field: string): number {
    return this.view.getUint16(this.take(2, field), true)
  }

  u32(field: string): number {
    return this.view.getUint32(this.take(4, field), true)
  }

  i32(field: string): number {
    return this.view.getInt32(this.take(4, field), true)
  }

  /** A signed 64-bit number as a double: exact up to 2^53, beyond that right in sign and magnitude. */
  i64(field: string): number {
    const at = this.take(8, field)
    return this.view.getInt32(at + 4, true) * 0x100000000 + this.view.getUint32(at, true)
  }

  u64(field: string): bigint {
    return this.view.getBigUint64(this.take(8, field), true)
  }

  /** A view of the next `size` bytes; a shared one for size 0, as a witness may have millions of empty items. */
  bytes(size: number, field: string): Uint8Array {
    if (size === 0) return EMPTY
    const at = this.take(size, field)
    return this.source.subarray(at, at + size)
  }

  skip(size: number, field: string): void {
    this.take(size, field)
  }

  private aboveLimit(field: string, { limit, value }: { readonly value: number; readonly limit: number }): never {
    this.fail({ field, reason: `${value} is above the limit of ${limit}`, kind: "too large" })
  }

  /** A CompactSize of at most `limit`, in its shortest form. */
  compactSize(field: string, limit = MAX_SIZE): number {
    const first = this.u8(field)
    if (first < 0xfd) {
      if (first > limit) this.aboveLimit(field, { value: first, limit })
      return first
    }
    const value = first === 0xfd ? this.u16(field) : first === 0xfe ? this.u32(field) : Number(this.u64(field))
    const least = first === 0xfd ? 0xfd : first === 0xfe ? 0x10000 : 0x100000000
    if (value < least) {
      this.fail({ field, reason: "the size is not written in its shortest form", kind: "not shortest" })
    }
    if (value > limit) this.aboveLimit(field, { value, limit })
    return value
  }

  /** The number of entries. Refused at once if entries of `smallest` bytes do not fit into the rest. */
  count(field: string, smallest: number): number {
    const count = this.compactSize(field)
    if (count * smallest > this.remaining) {
      const reason = `${count} entries do not fit into the ${this.remaining} bytes left`
      this.fail({ field, reason, kind: "truncated" })
    }
    return count
  }

  varBytes(field: string): Uint8Array {
    return this.bytes(this.compactSize(field), field)
  }

  /** Throws `DecodeError` if unread bytes are left. */
  end(field: string): void {
    if (this.remaining > 0) this.fail({ field, reason: `${this.remaining} unexpected bytes follow` })
  }
}
