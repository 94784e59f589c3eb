import { type Bytes, grown } from "../../protocol/bytes.ts"
import { ROOT, type WireName } from "./name.ts"

/** Bits that make two bytes a pointer, and the offsets that fit beside them (RFC 1035, section 4.1.4). */
const POINTER = 0xc000
const POINTABLE = 0x4000

/** A cursor that writes DNS data. Numbers are big endian. */
export class WireWriter {
  private buffer: Uint8Array
  private length = 0
  /** Where each name that can be pointed at begins. `undefined`: names are written in full, as signatures need them. */
  private readonly places: Map<string, number> | undefined
  private readonly kept: Array<string> = []

  constructor(
    { capacity = 512, compresses = false }: { readonly capacity?: number; readonly compresses?: boolean } = {}
  ) {
    this.buffer = new Uint8Array(capacity)
    this.places = compresses ? new Map() : undefined
  }

  get size(): number {
    return this.length
  }

  private reserve(size: number): number {
    const at = this.length
    const needed = at + size
    if (needed > this.buffer.length) this.buffer = grown(this.buffer, needed)
    this.length = needed
    return at
  }

  u8(value: number): this {
    const at = this.reserve(1)
    this.buffer[at] = value
    return this
  }

  u16(value: number): this {
    const at = this.reserve(2)
    this.setU16(at, value)
    return this
  }

  u32(value: number): this {
    const at = this.reserve(4)
    this.buffer[at] = value >>> 24
    this.buffer[at + 1] = value >>> 16
    this.buffer[at + 2] = value >>> 8
    this.buffer[at + 3] = value
    return this
  }

  bytes(value: Bytes): this {
    const at = this.reserve(value.length)
    if (value.length > 32) this.buffer.set(value, at)
    else for (let i = 0; i < value.length; i++) this.buffer[at + i] = value[i] ?? 0
    return this
  }

  /** One byte per character. */
  binary(text: string): this {
    const at = this.reserve(text.length)
    for (let i = 0; i < text.length; i++) this.buffer[at + i] = text.charCodeAt(i)
    return this
  }

  /** A text of at most 255 bytes behind its length. */
  characterString(bytes: Bytes): this {
    return this.u8(bytes.length).bytes(bytes)
  }

  /**
   * A name that may end in a pointer to an earlier one (RFC 1035, section 4.1.4): an owner, or a name in the data of the
   * types of that RFC. `binary` writes all others.
   */
  name(name: WireName): this {
    const { places } = this
    if (places === undefined || name === ROOT) return this.binary(name)
    for (let at = 0;;) {
      const rest = at === 0 ? name : name.slice(at)
      const place = places.get(rest)
      if (place !== undefined) return this.binary(name.slice(0, at)).u16(POINTER | place)
      if (this.length + at < POINTABLE) {
        places.set(rest, this.length + at)
        this.kept.push(rest)
      }
      at += 1 + name.charCodeAt(at)
      if (name.charCodeAt(at) === 0) return this.binary(name)
    }
  }

  /** Lets later names point into a name that is already written, in whatever case. */
  pointInto(name: WireName, offset: number): void {
    const { places } = this
    if (places === undefined) return
    for (let at = 0; name.charCodeAt(at) > 0; at += 1 + name.charCodeAt(at)) {
      const rest = name.slice(at)
      if (places.has(rest)) return
      places.set(rest, offset + at)
      this.kept.push(rest)
    }
  }

  /** positional: per record of a message. */
  setU16(at: number, value: number): void {
    this.buffer[at] = value >>> 8
    this.buffer[at + 1] = value
  }

  /** Takes back what was written from `size` on. */
  truncate(size: number): void {
    this.length = size
    if (this.places === undefined) return
    for (let last = this.kept.at(-1); last !== undefined; last = this.kept.at(-1)) {
      if ((this.places.get(last) ?? 0) < size) return
      this.places.delete(last)
      this.kept.pop()
    }
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
    this.places?.clear()
    this.kept.length = 0
    return this
  }
}
