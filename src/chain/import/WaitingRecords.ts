import { randomWords } from "../../base/entropy.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { RecordPlace } from "./Places.ts"

/** Words of a record: the key of its parent, the next record of its bucket, file, offset (low, high), size. */
const WORDS = 6
const [NEXT, FILE, LOW, HIGH, SIZE] = [1, 2, 3, 4, 5]

const WORD = 0x1_0000_0000

const LEAST = 1024

const inOrder = (a: RecordPlace, b: RecordPlace): number => a.file - b.file || a.offset - b.offset

/**
 * Places of records by the hash of their missing parent, in 28 to 32 bytes each, a tenth of a map of strings. Only 32
 * bits of a hash are kept, so records of another parent may be returned; the caller reads them again anyway.
 */
export class WaitingRecords {
  /** Records are numbered from 1; 0 ends a bucket. */
  private records = new Uint32Array((LEAST + 1) * WORDS)
  /** The first record by the low bits of a key. */
  private buckets = new Uint32Array(LEAST)
  /** The first free number; 0 for none. */
  private free = 0
  private highest = 0
  private count = 0
  /** Odd and random, so that the buckets of hashes differ from run to run. */
  private readonly multipliers = randomWords(8).map((word) => word | 1)

  get size(): number {
    return this.count
  }

  add(parent: Bytes, { file, offset, size }: RecordPlace): void {
    if (this.free === 0 && this.highest === this.buckets.length) this.grow()
    const number = this.free === 0 ? ++this.highest : this.free
    const { records } = this
    const at = number * WORDS
    if (number === this.free) this.free = records[at + NEXT] ?? 0
    records[at] = this.keyOf(parent)
    records[at + FILE] = file
    records[at + LOW] = offset % WORD
    records[at + HIGH] = Math.floor(offset / WORD)
    records[at + SIZE] = size
    this.enter(number)
    this.count++
  }

  /** Removes the records with a parent, and returns their places in file order. */
  take(parent: Bytes): ReadonlyArray<RecordPlace> {
    const { buckets, records } = this
    const key = this.keyOf(parent)
    const bucket = key & (buckets.length - 1)
    const places: Array<RecordPlace> = []
    let kept = 0
    for (let number = buckets[bucket] ?? 0, next = 0; number !== 0; number = next) {
      const at = number * WORDS
      next = records[at + NEXT] ?? 0
      if (records[at] !== key) {
        kept = number
        continue
      }
      places.push(this.place(number))
      if (kept === 0) buckets[bucket] = next
      else records[kept * WORDS + NEXT] = next
      records[at + SIZE] = 0
      records[at + NEXT] = this.free
      this.free = number
    }
    this.count -= places.length
    return places.sort(inOrder)
  }

  /** The first record in file order. */
  first(): RecordPlace | undefined {
    let first: RecordPlace | undefined
    for (let number = 1; number <= this.highest; number++) {
      if (this.records[number * WORDS + SIZE] === 0) continue
      const place = this.place(number)
      if (first === undefined || inOrder(place, first) < 0) first = place
    }
    return first
  }

  private place(number: number): RecordPlace {
    const [, , file = 0, low = 0, high = 0, size = 0] = this.records.subarray(number * WORDS, (number + 1) * WORDS)
    return { file, offset: high * WORD + low, size }
  }

  private keyOf(hash: Bytes): number {
    let key = 0
    for (let i = 0; i < this.multipliers.length; i++) {
      const at = 4 * i
      const word = (hash[at] ?? 0) | ((hash[at + 1] ?? 0) << 8) | ((hash[at + 2] ?? 0) << 16) |
        ((hash[at + 3] ?? 0) << 24)
      key = Math.imul(key ^ (key >>> 15) ^ word, this.multipliers[i] ?? 1)
    }
    return (key ^ (key >>> 16)) >>> 0
  }

  private enter(number: number): void {
    const at = number * WORDS
    const bucket = (this.records[at] ?? 0) & (this.buckets.length - 1)
    this.records[at + NEXT] = this.buckets[bucket] ?? 0
    this.buckets[bucket] = number
  }

  /** Doubles the capacity. All numbers are in use. */
  private grow(): void {
    const before = this.records
    this.buckets = new Uint32Array(2 * this.buckets.length)
    this.records = new Uint32Array((this.buckets.length + 1) * WORDS)
    this.records.set(before)
    for (let number = 1; number <= this.highest; number++) this.enter(number)
  }
}
