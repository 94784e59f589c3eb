import { blocksToExpiry, type NameClock, type NameEntry } from "../names/NameEntry.ts"
import { type Bytes, compare, fromHex, toHex } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"

/** A name's record as shown in lists. */
export type ExpiringRecord = Pick<NameEntry, "name" | "value" | "height" | "txid" | "vout" | "address">

export interface ExpiringName {
  readonly record: ExpiringRecord
  /** Blocks until it expires, 1 or more. */
  readonly left: number
}

/** The place after a name in expiry order. */
export interface ExpiringPlace {
  readonly height: Height
  readonly name: Bytes
}

/** The first to expire first, then by name bytes. */
export const byExpiry = (a: ExpiringPlace, b: ExpiringPlace): number => a.height - b.height || compare(a.name, b.name)

const CURSOR = /^1\.(\d{1,9})\.((?:[0-9a-f]{2})*)$/

/** Characters of a cursor. A coinbase can write long names, which such a cursor cannot contain. */
const LONGEST_CURSOR = 3_000_000

export const placeText = ({ height, name }: ExpiringPlace): string => `1.${height}.${toHex(name)}`

export const readPlace = (text: string): ExpiringPlace | undefined => {
  const [, height, hex] = (text.length > LONGEST_CURSOR ? null : CURSOR.exec(text)) ?? []
  const name = hex === undefined ? undefined : fromHex(hex)
  return name === undefined ? undefined : { height: Number(height), name }
}

export interface ExpiringRange {
  readonly clock: NameClock
  /** Blocks within which the names expire. */
  readonly blocks: number
  readonly after: ExpiringPlace | undefined
}

/** Whether a record is active, expires within the range and follows its place. */
export const isWithin = ({ after, blocks, clock }: ExpiringRange, record: ExpiringRecord): boolean => {
  const left = blocksToExpiry(record, clock)
  return left > 0 && left <= blocks && (after === undefined || byExpiry(record, after) > 0)
}

/** Keeps the first records of a range, however many are added. */
export class FirstToExpire {
  private readonly range: ExpiringRange
  private readonly limit: number
  private kept: Array<ExpiringRecord> = []
  private more = false

  constructor(range: ExpiringRange, limit: number) {
    this.range = range
    this.limit = limit
  }

  private trim(): void {
    this.kept.sort(byExpiry)
    if (this.kept.length <= this.limit) return
    this.kept = this.kept.slice(0, this.limit)
    this.more = true
  }

  add(record: ExpiringRecord): void {
    if (!isWithin(this.range, record)) return
    this.kept.push(record)
    if (this.kept.length > 4 * this.limit + 100) this.trim()
  }

  /** Whether there is more than a page, so that further records in order change nothing. */
  get isFull(): boolean {
    return this.kept.length > this.limit
  }

  page(): { readonly names: ReadonlyArray<ExpiringName>; readonly next: string | undefined } {
    this.trim()
    const last = this.kept.at(-1)
    return {
      names: this.kept.map((record) => ({ record, left: blocksToExpiry(record, this.range.clock) })),
      next: this.more && last !== undefined ? placeText(last) : undefined
    }
  }
}
