import type { Bytes } from "../../protocol/bytes.ts"
import { ByteWriter } from "../../protocol/Writer.ts"
import { ROOT, type WireName } from "./name.ts"

/** Bits that make two bytes a pointer, and the offsets that fit beside them (RFC 1035, section 4.1.4). */
const POINTER = 0xc000
const POINTABLE = 0x4000

/** A cursor that writes DNS data. Numbers are big endian. */
export class WireWriter extends ByteWriter {
  /** Where each name that can be pointed at begins. `undefined`: names are written in full, as signatures need them. */
  private places: Map<string, number> | undefined

  constructor(
    { capacity = 512, compresses = false }: { readonly capacity?: number; readonly compresses?: boolean } = {}
  ) {
    super(capacity)
    this.places = compresses ? new Map() : undefined
  }

  u16(value: number): this {
    const at = this.reserve(2)
    this.setU16(at, value)
    return this
  }

  u32(value: number): this {
    const at = this.reserve(4)
    this.view.setUint32(at, value)
    return this
  }

  override bytes(value: Bytes): this {
    const at = this.reserve(value.length)
    if (value.length > 32) this.buffer.set(value, at)
    else for (let i = 0; i < value.length; i++) this.buffer[at + i] = value[i] ?? 0
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
      if (this.length + at < POINTABLE) places.set(rest, this.length + at)
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
    for (const [name, place] of this.places ?? []) if (place >= size) this.places?.delete(name)
  }

  override clear(): this {
    // A cleared Map leaves its table to the old generation of the heap, with all names in it.
    if (this.places !== undefined) this.places = new Map()
    return super.clear()
  }
}
