import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import { expiryHeight, isExpired } from "../consensus/expiry.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { CursorUnusable } from "../names/errors.ts"
import {
  blockKey,
  cursorText,
  endOf,
  type EventCursor,
  EventPhase,
  numberIn,
  readCursorText
} from "../names/events/EventCursor.ts"
import { type NameEvent, type OperationEvent, operationKind } from "../names/events/NameEvent.ts"
import type { NameEntry } from "../names/NameEntry.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { hash256 } from "../protocol/hash.ts"
import { type Height, type NameKey, nameKey } from "../protocol/keys.ts"

/** A chain of names in memory, for tests: heights, operations and reorganizations, without blocks. */

/** All rules of the main network are in force at this height. */
const FIRST_HEIGHT = 800_000

/** Smallest units in the output of a name. */
const LOCKED = 1_000_000

interface Logged {
  readonly event: NameEvent
  readonly undoes: number | undefined
  isUndone: boolean
}

export interface MemoryOperation {
  readonly name: Bytes
  readonly value: Bytes
  readonly address: Bytes
}

/** A position in the log for one reader. */
export interface LogPlace {
  next: number
  /** Operations undone before the reader saw them: it gets neither them nor their end. */
  readonly passed: Set<number>
}

const utf8 = new TextEncoder()

export class MemoryChain {
  height: Height = FIRST_HEIGHT
  readonly records = new Map<NameKey, NameEntry>()
  private readonly log: Array<Logged> = []
  /** The number of events before each cursor. */
  private readonly places = new Map<string, number>([["0", 0]])
  /** Each with its first height. */
  private branches: ReadonlyArray<{ readonly from: Height; readonly id: number }> = [{ from: 0, id: 0 }]
  private made = 0
  private appended = Deferred.unsafeMake<void>(FiberId.none)

  private readonly params: ConsensusParams

  constructor(params: ConsensusParams) {
    this.params = params
  }

  /** `undefined` if the name is expired. */
  active(name: Bytes): NameEntry | undefined {
    const record = this.records.get(nameKey(name))
    return record === undefined || isExpired(record, this.height, this.params) ? undefined : record
  }

  newTxid(): Bytes {
    this.made += 1
    return hash256(utf8.encode(`transaction ${this.made}`))
  }

  write({ address, name, value }: MemoryOperation): NameEntry {
    this.pass(1)
    const key = nameKey(name)
    const op = this.active(name) === undefined ? "name_firstupdate" : "name_update"
    const { height } = this
    const record = { name, value, height, txid: this.newTxid(), vout: 0, address, op, amount: LOCKED } as const
    const before = this.records.get(key)
    this.records.set(key, record)
    this.append({
      type: operationKind(record, before),
      record,
      before,
      ...this.placed({ phase: EventPhase.operations })
    })
    return record
  }

  pass(blocks: number): void {
    const last = this.height + blocks
    const due = [...this.records.values()]
      .map((record) => ({ record, at: expiryHeight(record.height, this.params) }))
      .filter(({ at }) => at > this.height && at <= last)
      .toSorted((a, b) => a.at - b.at)
    for (const [index, { at, record }] of due.entries()) {
      this.height = at
      this.append({ type: "expired", record, ...this.placed({ phase: EventPhase.expired, index }) })
    }
    this.height = last
  }

  passUntilExpired(record: NameEntry): void {
    this.pass(Math.max(0, expiryHeight(record.height, this.params) - this.height))
  }

  /** Connects one more block than it disconnects, on another branch without names. */
  reorganize(blocks: number): void {
    const fork = Math.max(0, this.height - blocks)
    for (let at = this.log.length - 1; at >= 0; at--) {
      const logged = this.log[at]
      if (logged === undefined || logged.isUndone || logged.event.height <= fork) continue
      const { event } = logged
      if (event.type === "undone" || event.type === "block") continue
      logged.isUndone = true
      if (event.type !== "expired" && event.type !== "expiring") this.undo(event, at)
    }
    const id = Math.max(...this.branches.map((branch) => branch.id)) + 1
    this.branches = [...this.branches.filter(({ from }) => from <= fork), { from: fork + 1, id }]
    this.height = fork
    this.pass(blocks + 1)
  }

  private undo({ before, hash, height, record: { address, name } }: OperationEvent, at: number): void {
    const key = nameKey(name)
    if (before === undefined) this.records.delete(key)
    else this.records.set(key, before)
    const cursor = endOf({ height: height - 1, hash: this.hashAt(height - 1) })
    const names = [{ cursor, name, record: before, owners: [address] }]
    this.append({ type: "undone", cursor, height, hash, names }, at)
  }

  private hashAt(height: Height): Bytes {
    const branch = this.branches.findLast(({ from }) => from <= height)
    return hash256(utf8.encode(`block ${branch?.id} ${height}`))
  }

  private placed(
    { index = 0, phase }: { readonly phase: number; readonly index?: number }
  ): { cursor: EventCursor; height: Height; hash: Bytes } {
    const hash = this.hashAt(this.height)
    const cursor = { height: this.height, number: numberIn({ phase, index }), block: blockKey(hash) }
    return { cursor, height: this.height, hash }
  }

  private append(event: NameEvent, undoes?: number): void {
    this.log.push({ event, undoes, isUndone: false })
    this.places.set(cursorText(event.cursor), this.log.length)
    this.wake()
  }

  wake(): void {
    const woken = this.appended
    this.appended = Deferred.unsafeMake<void>(FiberId.none)
    Deferred.unsafeDone(woken, Effect.void)
  }

  /** Without a cursor, a reader begins now. */
  placeOf(from: string | undefined): Effect.Effect<LogPlace, CursorUnusable> {
    return Effect.suspend(() => {
      const next = from === undefined ? this.log.length : this.places.get(from)
      if (next !== undefined) return Effect.succeed({ next, passed: new Set<number>() })
      const cursor = readCursorText(from ?? "")
      const why = cursor === undefined ? "damaged" : cursor.height > this.height ? "future" : "unknown"
      return new CursorUnusable({ cursor: from ?? "", why, oldest: "0" })
    })
  }

  events(place: LogPlace): Effect.Effect<ReadonlyArray<NameEvent>> {
    return Effect.suspend(() => {
      const events: Array<NameEvent> = []
      for (; place.next < this.log.length; place.next++) {
        const logged = this.log[place.next]
        if (logged === undefined) continue
        if (logged.isUndone) place.passed.add(place.next)
        else if (logged.undoes === undefined || !place.passed.has(logged.undoes)) events.push(logged.event)
      }
      return events.length > 0 ? Effect.succeed(events) : Effect.as(Deferred.await(this.appended), events)
    })
  }
}
