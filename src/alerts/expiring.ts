import { blocksToExpiry, type NameClock, type NameEntry } from "../names/NameEntry.ts"
import { type Bytes, compare, fromHex, toHex } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"

/** Lists of names that expire soon. */

/** The record of a name, as far as lists show it. */
export type ExpiringRecord = Pick<NameEntry, "name" | "value" | "height" | "txid" | "vout" | "address">

export interface ExpiringName {
  readonly record: ExpiringRecord
  /** Blocks until it expires, 1 or more. */
  readonly left: number
}

/** The place behind a name in the order of expiry. */
export interface ExpiringPlace {
  readonly height: Height
  readonly name: Bytes
}

/** The first to expire first, then by the bytes of the names. */
export const byExpiry = (a: ExpiringPlace, b: ExpiringPlace): number => a.height - b.height || compare(a.name, b.name)

const CURSOR = /^1\.(\d{1,9})\.((?:[0-9a-f]{2})*)$/

/** Characters of a cursor: a coinbase can write long names, and none of them is listed by such a cursor. */
const LONGEST_CURSOR = 3_000_000

export const placeText = ({ height, name }: ExpiringPlace): string => `1.${height}.${toHex(name)}`

/** Reads a place; `undefined` for any other text. */
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

/** Whether a record is active, expires within the range and is behind its place. */
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

  /** Whether there are more than a page: of records in order, the others change nothing. */
  get isFull(): boolean {
    return this.kept.length > this.limit
  }

  /** The records, and the cursor of the next page if there is one. */
  page(): { readonly names: ReadonlyArray<ExpiringName>; readonly next: string | undefined } {
    this.trim()
    const last = this.kept.at(-1)
    return {
      names: this.kept.map((record) => ({ record, left: blocksToExpiry(record, this.range.clock) })),
      next: this.more && last !== undefined ? placeText(last) : undefined
    }
  }
}
