import type { NameClaim } from "../../consensus/view.ts"
import type { Height, NameKey } from "../../protocol/keys.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"

const LEAST_PLACES = 64

/** Measured bytes of an entry besides its name: the map slot, the string's head, its share of the arrays. */
const ENTRY_BYTES = 128

const NO_CLAIM = -1

/** The end of a list. No entry has this place. */
const NONE = 0

/** Marks an entry that is in no list. */
const UNLISTED = -1

/** A copy for places 0 to `count` - 1. */
const longer = (numbers: Int32Array, count: number): Int32Array<ArrayBuffer> => {
  const grown = new Int32Array(count)
  grown.set(numbers)
  return grown
}

/**
 * Name claims in arrays of numbers and bytes. As objects with an outpoint each, they took twice the memory, and the
 * garbage collector followed each of them. An entry can also say that a name has no claim. Its place, the index in the
 * arrays, does not change until `clear`. Entries that differ from stored claims form a list per height, because names
 * expire by height.
 */
export class ClaimTable {
  private readonly places = new Map<NameKey, number>()
  private readonly names: Array<NameKey | undefined> = [undefined]
  private nameBytes = 0
  private heights = new Int32Array(LEAST_PLACES)
  private outpoints = Buffer.alloc(LEAST_PLACES * OUTPOINT_SIZE)
  /** The neighbours in the list of a height; `UNLISTED` if the entry equals the stored claim. */
  private before = new Int32Array(LEAST_PLACES)
  private after = new Int32Array(LEAST_PLACES)
  /** The first place of each list. */
  private readonly unstored = new Map<Height, number>()

  /** Bytes in use. */
  get bytes(): number {
    return ENTRY_BYTES * this.places.size + this.nameBytes
  }

  has(name: NameKey): boolean {
    return this.places.has(name)
  }

  /** The claim of a name; `undefined` without a claim or entry. */
  get(name: NameKey): NameClaim | undefined {
    return this.claimAt(this.places.get(name) ?? NONE)
  }

  /** Adds the stored claim of a name without an entry. */
  add(name: NameKey, claim: NameClaim | undefined): void {
    this.write(this.placeOf(name), claim)
  }

  /** Adds or replaces an entry that differs from the stored claim. */
  change(name: NameKey, claim: NameClaim | undefined): void {
    const place = this.placeOf(name)
    if (this.isListed(place)) this.unlink(place)
    this.write(place, claim)
    this.link(place)
  }

  hasChanged(name: NameKey): boolean {
    return this.isListed(this.places.get(name) ?? NONE)
  }

  /** The entries that differ from the stored claims. */
  *changes(): Iterable<readonly [name: NameKey, claim: NameClaim | undefined]> {
    for (const height of this.unstored.keys()) yield* this.changedAt(height)
  }

  /** The changed claims with a height. */
  *claimsAt(height: Height): Iterable<readonly [name: NameKey, claim: NameClaim]> {
    for (const [name, claim] of this.changedAt(height)) if (claim !== undefined) yield [name, claim]
  }

  settle(): void {
    for (const height of this.unstored.keys()) {
      for (const place of this.listOf(height)) this.before[place] = UNLISTED
    }
    this.unstored.clear()
  }

  clear(): void {
    this.unstored.clear()
    this.places.clear()
    this.names.length = 1
    this.nameBytes = 0
    this.resize(LEAST_PLACES)
  }

  private placeOf(name: NameKey): number {
    const known = this.places.get(name)
    if (known !== undefined) return known
    const place = this.names.length
    if (place === this.heights.length) this.resize(2 * place)
    this.places.set(name, place)
    this.names.push(name)
    this.nameBytes += name.length
    this.before[place] = UNLISTED
    return place
  }

  private resize(count: number): void {
    const [kept, outpoints] = [Math.min(count, this.names.length), Buffer.alloc(count * OUTPOINT_SIZE)]
    this.outpoints.copy(outpoints, 0, 0, kept * OUTPOINT_SIZE)
    this.outpoints = outpoints
    this.heights = longer(this.heights.subarray(0, kept), count)
    this.before = longer(this.before.subarray(0, kept), count)
    this.after = longer(this.after.subarray(0, kept), count)
  }

  private claimAt(place: number): NameClaim | undefined {
    const height = place === NONE ? NO_CLAIM : this.heights[place] ?? NO_CLAIM
    if (height === NO_CLAIM) return undefined
    return { height, outpoint: this.outpoints.toString("latin1", place * OUTPOINT_SIZE, (place + 1) * OUTPOINT_SIZE) }
  }

  private write(place: number, claim: NameClaim | undefined): void {
    this.heights[place] = claim?.height ?? NO_CLAIM
    if (claim !== undefined) this.outpoints.write(claim.outpoint, place * OUTPOINT_SIZE, "latin1")
  }

  private *changedAt(height: Height): Iterable<readonly [name: NameKey, claim: NameClaim | undefined]> {
    for (const place of this.listOf(height)) {
      const name = this.names[place]
      if (name !== undefined) yield [name, this.claimAt(place)]
    }
  }

  /** The places of the changed entries with a height. */
  private *listOf(height: Height): Iterable<number> {
    for (let place = this.unstored.get(height) ?? NONE; place !== NONE; place = this.after[place] ?? NONE) yield place
  }

  private isListed(place: number): boolean {
    return place !== NONE && this.before[place] !== UNLISTED
  }

  /** Puts an entry first in the list of its height. */
  private link(place: number): void {
    const height = this.heights[place] ?? NO_CLAIM
    const next = this.unstored.get(height) ?? NONE
    this.before[place] = NONE
    this.after[place] = next
    this.before[next] = place
    this.unstored.set(height, place)
  }

  private unlink(place: number): void {
    const [before, after] = [this.before[place] ?? NONE, this.after[place] ?? NONE]
    this.before[after] = before
    if (before !== NONE) this.after[before] = after
    else if (after !== NONE) this.unstored.set(this.heights[place] ?? NO_CLAIM, after)
    else this.unstored.delete(this.heights[place] ?? NO_CLAIM)
  }
}
