import type { Bytes } from "../protocol/bytes.ts"
import { sipHashHalves, type SipKey } from "./siphash.ts"

const GENERATIONS = 3

const holds = (filter: Uint8Array, places: ReadonlyArray<number>): boolean =>
  places.every((place) => ((filter[place >>> 3] ?? 0) & (1 << (place & 7))) !== 0)

/**
 * Remembers the last entries in fixed memory: three Bloom filters of half the capacity each. A full newest one empties
 * the oldest, so the filter knows at least `capacity` entries, and at most half as many more. `falsePositives` is a
 * rate; without the key, false positives cannot be predicted.
 */
export class RollingFilter {
  private readonly key: SipKey
  private readonly perGeneration: number
  private readonly bits: number
  private readonly hashes: number
  private generations: Array<Uint8Array> | undefined
  private newest = 0
  private held = 0

  constructor(options: { readonly capacity: number; readonly falsePositives: number; readonly key: SipKey }) {
    this.key = options.key
    this.perGeneration = Math.ceil(options.capacity / 2)
    const bitsPerEntry = -Math.log(options.falsePositives / GENERATIONS) / Math.LN2 ** 2
    this.bits = Math.ceil(this.perGeneration * bitsPerEntry)
    this.hashes = Math.max(1, Math.round(bitsPerEntry * Math.LN2))
  }

  has(entry: Bytes): boolean {
    const places = this.places(entry)
    return this.generations?.some((filter) => holds(filter, places)) ?? false
  }

  add(entry: Bytes): void {
    const places = this.places(entry)
    this.generations ??= Array.from({ length: GENERATIONS }, () => new Uint8Array(Math.ceil(this.bits / 8)))
    let filter = this.generations[this.newest]
    if (filter === undefined || holds(filter, places)) return
    if (this.held >= this.perGeneration) {
      this.newest = (this.newest + 1) % GENERATIONS
      filter = this.generations[this.newest] ?? filter
      filter.fill(0)
      this.held = 0
    }
    for (const place of places) filter[place >>> 3] = (filter[place >>> 3] ?? 0) | (1 << (place & 7))
    this.held++
  }

  clear(): void {
    this.generations = undefined
    this.newest = 0
    this.held = 0
  }

  /**
   * The bits of an entry, from two halves of one hash. The step grows: a step with a factor in common with the size
   * would set few bits (Dillinger, Manolios: "Bloom filters in probabilistic verification").
   */
  private places(entry: Bytes): Array<number> {
    const { bits, hashes, key } = this
    const [a, b] = sipHashHalves(key, entry)
    const places = new Array<number>(hashes)
    for (let i = 0, at = a % bits, step = b % bits; i < hashes; i++) {
      places[i] = at
      at = (at + step) % bits
      step = (step + i + 1) % bits
    }
    return places
  }
}
