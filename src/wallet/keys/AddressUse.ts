/** The use of a chain's indexes, and which the seed phrase recovers: each within reach of the last confirmed one. */

/** Unused addresses in a row that a recovery from the seed phrase, or an old copy of the file, checks per chain. */
export const WORDS_REACH = 1_000

/** Unsent drafts cycle through this many change addresses: the gap that BIP 44 asks of other wallets. */
const DRAFTS = 20

/** `found`: the next index within reach; `again`: otherwise one given out and still unused. */
export type WhichIndex = "found" | "again"

export interface AddressUseOptions {
  readonly start: number
  /** The first index neither given out nor used. */
  readonly next: number
  /** Reach of the seed phrase; `undefined` for a chain that it does not recover. */
  readonly reach: number | undefined
}

export class AddressUse {
  next: number
  private readonly start: number
  private readonly reach: number | undefined
  /** The end of the confirmed indexes within reach. */
  private found: number
  /** Confirmed indexes out of reach. */
  private readonly unfound = new Set<number>()
  private readonly used = new Set<number>()
  /** Promised to a transaction that may never be sent; free again after a restart. */
  private readonly reserved = new Set<number>()
  private drafts = 0

  constructor({ next, reach, start }: AddressUseOptions) {
    this.start = start
    this.next = next
    this.reach = reach
    this.found = start
  }

  /** The end of the indexes within reach. */
  get wordsEnd(): number {
    return this.found + (this.reach ?? Number.POSITIVE_INFINITY)
  }

  /** How many more indexes are within reach; negative: how many are beyond it. */
  get left(): number {
    return this.wordsEnd - this.next
  }

  /** How many free indexes remain below `end`. */
  freeBelow(end: number): number {
    const promised = [...this.reserved].filter((index) => index >= this.next && index < end).length
    return Math.max(0, end - this.next - promised)
  }

  /** The number of confirmed indexes out of reach. */
  get lost(): number {
    return this.unfound.size
  }

  markUsed(index: number, inBlock: boolean): void {
    this.next = Math.max(this.next, index + 1)
    this.used.add(index)
    this.reserved.delete(index)
    if (!inBlock || index < Math.max(this.start, this.found) || this.unfound.has(index)) return
    this.unfound.add(index)
    if (index >= this.wordsEnd) return
    for (const each of [...this.unfound].sort((a, b) => a - b)) {
      if (each >= this.wordsEnd) return
      this.found = Math.max(this.found, each + 1)
      this.unfound.delete(each)
    }
  }

  /** Forgets confirmations, not use: `markUsed` adds again what blocks still pay to. */
  forgetBlocks(): void {
    this.found = this.start
    this.unfound.clear()
  }

  /** `undefined` if the next index is out of reach. */
  offer(which: WhichIndex): number | undefined {
    const index = this.free(0)
    if (index < this.wordsEnd) return index
    return which === "again" ? this.again() : undefined
  }

  /** An index for a draft that may never be sent: the next in turn below `end`. Nothing is taken. */
  offerDraft(end: number): number {
    const turns = Math.max(1, Math.min(DRAFTS, end - this.next))
    const index = this.free(this.drafts++ % turns)
    return index < this.wordsEnd ? index : this.again()
  }

  private free(skipped: number): number {
    let index = this.next
    for (let left = skipped; left > 0 || this.reserved.has(index); index++) if (!this.reserved.has(index)) left--
    return index
  }

  /** Given out but unused indexes in turn: a reused address is better than a lost coin. */
  private again(): number {
    const last = this.wordsEnd - 1
    const free = Array.from({ length: last + 1 - this.start }, (_, at) => this.start + at)
      .filter((index) => !this.used.has(index) && !this.reserved.has(index))
    return free[this.drafts++ % Math.max(1, free.length)] ?? last
  }

  take(index: number): void {
    this.next = Math.max(this.next, index + 1)
  }

  /** The result releases the index, unless the transaction was sent. */
  reserve(index: number): () => void {
    this.reserved.add(index)
    return () => void this.reserved.delete(index)
  }
}
