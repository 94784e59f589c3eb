import { type Bytes, grown } from "./bytes.ts"

export const compactSizeLength = (value: number): number =>
  value < 0xfd ? 1 : value <= 0xffff ? 3 : value <= 0xffffffff ? 5 : 9

/** A buffer that grows as bytes are written. */
export abstract class ByteWriter {
  protected buffer: Uint8Array
  protected view: DataView
  protected length = 0

  constructor(capacity: number) {
    this.buffer = new Uint8Array(capacity)
    this.view = new DataView(this.buffer.buffer)
  }

  get size(): number {
    return this.length
  }

  protected reserve(size: number): number {
    const at = this.length
    const needed = at + size
    if (needed > this.buffer.length) {
      const larger = grown(this.buffer, needed)
      this.buffer = larger
      this.view = new DataView(larger.buffer)
    }
    this.length = needed
    return at
  }

  u8(value: number): this {
    const at = this.reserve(1)
    this.buffer[at] = value
    return this
  }

  bytes(value: Bytes): this {
    const at = this.reserve(value.length)
    this.buffer.set(value, at)
    return this
  }

  /** One byte per character. */
  binary(text: string): this {
    const at = this.reserve(text.length)
    for (let i = 0; i < text.length; i++) this.buffer[at + i] = text.charCodeAt(i)
    return this
  }

  /** A view of the written bytes. The next write may invalidate it. */
  written(): Uint8Array {
    return this.buffer.subarray(0, this.length)
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    return this.buffer.slice(0, this.length)
  }

  clear(): this {
    this.length = 0
    return this
  }
}

/** Numbers are little endian. */
export class Writer extends ByteWriter {
  constructor(capacity = 256) {
    super(capacity)
  }

  u16(value: number): this {
    const at = this.reserve(2)
    this.view.setUint16(at, value, true)
    return this
  }

  u32(value: number): this {
    const at = this.reserve(4)
    this.view.setUint32(at, value, true)
    return this
  }

  i32(value: number): this {
    const at = this.reserve(4)
    this.view.setInt32(at, value, true)
    return this
  }

  /** A signed 64-bit number from a safe integer. Throws `RangeError` for any other number. */
  i64(value: number): this {
    if (!Number.isInteger(value)) throw new RangeError(`${value} is not an integer`)
    const at = this.reserve(8)
    const high = Math.floor(value / 0x100000000)
    this.view.setUint32(at, value - high * 0x100000000, true)
    this.view.setInt32(at + 4, high, true)
    return this
  }

  u64(value: bigint): this {
    const at = this.reserve(8)
    this.view.setBigUint64(at, value, true)
    return this
  }

  compactSize(value: number): this {
    if (value < 0xfd) return this.u8(value)
    if (value <= 0xffff) return this.u8(0xfd).u16(value)
    if (value <= 0xffffffff) return this.u8(0xfe).u32(value)
    return this.u8(0xff).i64(value)
  }

  varBytes(value: Bytes): this {
    return this.compactSize(value.length).bytes(value)
  }

  /** Copies the written bytes to `at`. Cheaper than a view for a few bytes. */
  copyInto(into: Uint8Array, at: number): void {
    for (let i = 0; i < this.length; i++) into[at + i] = this.buffer[i] ?? 0
  }
}
