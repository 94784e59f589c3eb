import type { Touched } from "../names/CommitSignal.ts"
import type { Height, NameKey } from "../protocol/keys.ts"
import type { RcodeName } from "./wire/codes.ts"
import type { ResponseBody } from "./wire/response.ts"

/** An answer as it goes out, apart from what each query adds. */
export interface KeptAnswer {
  readonly body: ResponseBody
  readonly rcode: RcodeName
  /** Whether limits of values left something out. */
  readonly isCut: boolean
  /** Whether it says of a name that it is missing, which holds only while names are complete. */
  readonly denies: boolean
  /** Whether other servers may know more: an alias that leads outside, or a referral. */
  readonly isOpen: boolean
  /** The bytes at the end of the body that hold SOA, whose serial changes with each tip; 0 without. */
  readonly soaBytes: number
  /** The serial in them. */
  soaSerial: number
  readonly sources: ReadonlyArray<NameKey>
  /** The number of changes before the names were read. */
  readonly moment: number
  /** The heights of the tip at which the answer holds. */
  readonly from: Height
  readonly to: Height
}

/** Where the names stand. */
export interface ZoneMoment {
  /** The height of the tip; `undefined` if it does not matter, -1 if it is not known. */
  readonly height: Height | undefined
  readonly mayDeny: boolean
}

/** Map entry, key, objects and Buffer of an answer, measured on Node 24. */
const ENTRY_BYTES = 700
const SOURCE_BYTES = 60

/** Names whose last change is remembered. With more, the cache begins again. */
const MOST_CHANGES = 50_000

/**
 * Answers by question, in two generations within a number of bytes: those that nobody asks for while the younger one
 * fills are forgotten. A changed name costs nothing but a note: whoever finds an answer older than a change of one of
 * its names does not use it.
 */
export class AnswerCache {
  private young = new Map<string, KeptAnswer>()
  private old = new Map<string, KeptAnswer>()
  private youngBytes = 0
  private oldBytes = 0
  private readonly changes = new Map<NameKey, number>()
  private beginning = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get bytes(): number {
    return this.youngBytes + this.oldBytes
  }

  /** The answer, if it holds now. */
  get(key: string, { height, mayDeny }: ZoneMoment): KeptAnswer | undefined {
    const young = this.young.get(key)
    const kept = young ?? this.old.get(key)
    if (kept === undefined || !this.isFresh(kept) || (kept.denies && !mayDeny)) return undefined
    if (height !== undefined && (height < kept.from || height >= kept.to)) return undefined
    if (young === undefined) this.put(key, kept)
    return kept
  }

  private isFresh({ moment, sources }: KeptAnswer): boolean {
    if (moment < this.beginning) return false
    if (this.changes.size === 0) return true
    for (const source of sources) if ((this.changes.get(source) ?? 0) > moment) return false
    return true
  }

  /** An answer from before a change of its names is not kept. */
  put(key: string, kept: KeptAnswer): void {
    if (!this.isFresh(kept)) return
    const before = this.young.get(key)
    if (before !== undefined) this.youngBytes -= this.sizeOf(key, before)
    this.young.set(key, kept)
    this.youngBytes += this.sizeOf(key, kept)
    if (this.youngBytes <= this.limit / 2) return
    this.old = this.young
    this.oldBytes = this.youngBytes
    this.young = new Map()
    this.youngBytes = 0
  }

  private sizeOf(key: string, { body, sources }: KeptAnswer): number {
    return ENTRY_BYTES + key.length + body.bytes.length + sources.length * SOURCE_BYTES
  }

  /** Notes the names of a change. */
  change(touched: Touched, moment: number): void {
    if (touched === "all" || this.changes.size + touched.size > MOST_CHANGES) return this.clear(moment)
    for (const name of touched.keys()) this.changes.set(name, moment)
  }

  /** Drops all, and whatever is being made of names from before this change. */
  clear(moment: number): void {
    this.young.clear()
    this.old.clear()
    this.youngBytes = 0
    this.oldBytes = 0
    this.changes.clear()
    this.beginning = moment
  }
}
