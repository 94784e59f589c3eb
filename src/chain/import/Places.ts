import { type HeaderId, headerId } from "../../protocol/keys.ts"

/** Where a record is: the number of its source, and its bytes there. */
export interface RecordPlace {
  readonly file: number
  readonly offset: number
  readonly size: number
}

const LEAST = 1024

/**
 * Block records by header, 16 bytes each: a map of objects would take six times the memory during the import of a long
 * chain.
 */
export class Places {
  private files = new Uint32Array(LEAST)
  private offsets = new Float64Array(LEAST)
  /** 0 for no record. */
  private sizes = new Uint32Array(LEAST)
  private count = 0

  get size(): number {
    return this.count
  }

  get(id: HeaderId): RecordPlace | undefined {
    const size = this.sizes[id] ?? 0
    return size === 0 ? undefined : { file: this.files[id] ?? 0, offset: this.offsets[id] ?? 0, size }
  }

  /** Sets the record of a header without one. It has at least the bytes of the header. */
  set(id: HeaderId, { file, offset, size }: RecordPlace): void {
    if (id >= this.sizes.length) this.grow(id)
    this.files[id] = file
    this.offsets[id] = offset
    this.sizes[id] = size
    this.count++
  }

  /** The headers with a record, in order. */
  ids(): Array<HeaderId> {
    const ids: Array<HeaderId> = []
    for (let id = 0; id < this.sizes.length; id++) if (this.sizes[id] !== 0) ids.push(headerId(id))
    return ids
  }

  private grow(id: HeaderId): void {
    const length = Math.max(id + 1, 2 * this.sizes.length)
    const before = { files: this.files, offsets: this.offsets, sizes: this.sizes }
    this.files = new Uint32Array(length)
    this.offsets = new Float64Array(length)
    this.sizes = new Uint32Array(length)
    this.files.set(before.files)
    this.offsets.set(before.offsets)
    this.sizes.set(before.sizes)
  }
}
