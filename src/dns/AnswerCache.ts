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

/** The part of the cache that is forgotten at once, since finding the oldest entry of a Map costs more than removing it. */
const FORGOTTEN = 16

/** Names whose last change is remembered. With more, the cache begins again. */
const MOST_CHANGES = 50_000

interface Entry {
  readonly kept: KeptAnswer
  readonly bytes: number
  /** Whether someone asked for it since its last turn to be forgotten. */
  isAsked: boolean
}

/**
 * Answers by question within a number of bytes. The oldest are forgotten first, except those asked for in the meantime.
 * A changed name costs nothing but a note: whoever finds an answer older than a change of one of its names does not use
 * it.
 */
export class AnswerCache {
  private readonly entries = new Map<string, Entry>()
  private held = 0
  private readonly changes = new Map<NameKey, number>()
  private beginning = 0
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get bytes(): number {
    return this.held
  }

  /** The answer, if it holds now. */
  get(key: string, { height, mayDeny }: ZoneMoment): KeptAnswer | undefined {
    const entry = this.entries.get(key)
    if (entry === undefined) return undefined
    const { kept } = entry
    if (!this.isFresh(kept) || (kept.denies && !mayDeny)) return undefined
    if (height !== undefined && (height < kept.from || height >= kept.to)) return undefined
    entry.isAsked = true
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
    this.held -= this.entries.get(key)?.bytes ?? 0
    const bytes = ENTRY_BYTES + key.length + kept.body.bytes.length + kept.sources.length * SOURCE_BYTES
    this.entries.set(key, { kept, bytes, isAsked: false })
    this.held += bytes
    if (this.held > this.limit) this.forget(this.limit - this.limit / FORGOTTEN)
  }

  /** Forgets answers until there are no more bytes than wanted. One that was asked for gets another turn. */
  private forget(wanted: number): void {
    for (const [key, entry] of this.entries) {
      if (this.held <= wanted) return
      this.entries.delete(key)
      if (entry.isAsked) {
        entry.isAsked = false
        this.entries.set(key, entry)
      } else this.held -= entry.bytes
    }
  }

  /** Notes the names of a change. */
  change(touched: Touched, moment: number): void {
    if (touched === "all" || this.changes.size + touched.size > MOST_CHANGES) return this.clear(moment)
    for (const name of touched.keys()) this.changes.set(name, moment)
  }

  /** Drops all, and whatever is being made of names from before this change. */
  clear(moment: number): void {
    this.entries.clear()
    this.held = 0
    this.changes.clear()
    this.beginning = moment
  }
}
