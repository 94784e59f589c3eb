/**
 * Which indexes of a chain are given out, reserved or used, and which of them the recovery words find: each one within
 * the reach of the last one before it that a block pays to.
 */

/** The number of unused addresses of each chain in a row that the recovery words, and old copies of the file, look at. */
export const WORDS_REACH = 1_000

/** Drafts that are handed out unsent take the next change addresses in turn: the gap that BIP 44 asks other wallets for. */
const DRAFTS = 20

/** What may be given out: the next index if the words find it; `again`: or else one that was given out and is unused. */
export type WhichIndex = "found" | "again"

export interface AddressUseOptions {
  readonly start: number
  /** The first index that is neither given out nor used. */
  readonly next: number
  /** The reach of the words; `undefined` for a chain that they do not bring back. */
  readonly reach: number | undefined
}

export class AddressUse {
  /** The first index that is neither given out nor used. */
  next: number
  private readonly start: number
  private readonly reach: number | undefined
  /** The index after the last one that the words find in a block. */
  private found: number
  /** Indexes in blocks that the words do not find. */
  private readonly unfound = new Set<number>()
  /** Indexes in transactions. */
  private readonly used = new Set<number>()
  /** Indexes that are promised to a transaction which may never be sent. They are free again after a restart. */
  private readonly reserved = new Set<number>()
  private drafts = 0

  constructor({ next, reach, start }: AddressUseOptions) {
    this.start = start
    this.next = next
    this.reach = reach
    this.found = start
  }

  /** The index after the last one that the words find now. */
  get wordsEnd(): number {
    return this.found + (this.reach ?? Number.POSITIVE_INFINITY)
  }

  /** How many indexes can still be given out before the words do not find them; negative: how many are beyond. */
  get left(): number {
    return this.wordsEnd - this.next
  }

  /** How many indexes below `end` can still be given out. */
  freeBelow(end: number): number {
    const promised = [...this.reserved].filter((index) => index >= this.next && index < end).length
    return Math.max(0, end - this.next - promised)
  }

  /** The number of indexes in blocks that the words do not find. */
  get lost(): number {
    return this.unfound.size
  }

  /** Notes that a transaction pays to an index. */
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

  /** Forgets which indexes blocks pay to. They stay used: `markUsed` notes again those that blocks still pay to. */
  forgetBlocks(): void {
    this.found = this.start
    this.unfound.clear()
  }

  /** The index to give out; `undefined` if the words would not find it. */
  offer(which: WhichIndex): number | undefined {
    const index = this.free(0)
    if (index < this.wordsEnd) return index
    return which === "again" ? this.again() : undefined
  }

  /** The index for a draft that may never be sent: the next ones in turn, below `end`, none of which is taken. */
  offerDraft(end: number): number {
    const turns = Math.max(1, Math.min(DRAFTS, end - this.next))
    const index = this.free(this.drafts++ % turns)
    return index < this.wordsEnd ? index : this.again()
  }

  /** The index after `skipped` free ones. */
  private free(skipped: number): number {
    let index = this.next
    for (let left = skipped; left > 0 || this.reserved.has(index); index++) if (!this.reserved.has(index)) left--
    return index
  }

  /** An index that was given out and not used, in turn: an address that serves twice is better than a lost coin. */
  private again(): number {
    const last = this.wordsEnd - 1
    const free = Array.from({ length: last + 1 - this.start }, (_, at) => this.start + at)
      .filter((index) => !this.used.has(index) && !this.reserved.has(index))
    return free[this.drafts++ % Math.max(1, free.length)] ?? last
  }

  /** Takes an index for good. */
  take(index: number): void {
    this.next = Math.max(this.next, index + 1)
  }

  /** Promises an index to a transaction. The result makes it free again, unless the transaction was sent. */
  reserve(index: number): () => void {
    this.reserved.add(index)
    return () => void this.reserved.delete(index)
  }
}
