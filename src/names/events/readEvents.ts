import { expiringUpdateHeights } from "../../consensus/expiry.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { Height, UnixTime } from "../../protocol/keys.ts"
import { firstOperationAt, type NameEntry } from "../NameEntry.ts"
import { blockKey, type EventCursor, EventPhase, indexOf, numberIn, phaseOf } from "./EventCursor.ts"
import { type NameEvent, noticesOf, type Placed } from "./NameEvent.ts"
import type { LoggedOperation, OperationLog, OperationRange, OperationsWanted } from "./OperationLog.ts"

// Events of the best chain, from the operations in chain order. An event is a function of the operations alone, so past
// and new blocks are treated alike. Everything is synchronous: a page is from one state.

/** Approximate events per page, which ends after the block or operation that reaches it. */
export const PAGE_EVENTS = 1_000

/** Blocks per page. Each takes some microseconds even without an event. */
const PAGE_BLOCKS = 1_000

/** Approximate bytes of names and values per possible event of a page. */
const BYTES_PER_EVENT = 1_024

export interface EventChain {
  readonly params: ConsensusParams
  /** The hash, in wire order, of a block of the chain that ends with the log's last block. */
  readonly hashAt: (height: Height) => Bytes
  readonly timeAt: (height: Height) => UnixTime
}

export interface EventsFrom {
  readonly from: EventCursor
  /** Whether names that are about to expire have events. */
  readonly notices: boolean
  /** Whether the end of each block is an event. */
  readonly blocks?: boolean | undefined
  /** Whether operation events include the previous record; by default they do. */
  readonly before?: boolean | undefined
  /** The approximate maximum of events. Bytes are limited accordingly. */
  readonly most?: number | undefined
}

export interface EventList {
  readonly events: ReadonlyArray<NameEvent>
  /** After the last event, or the last block read. */
  readonly next: EventCursor
  /** Whether nothing follows. */
  readonly isEnd: boolean
}

/** The update height of names that are expired from a height on but not before. */
export const expiredFrom = (height: Height, params: ConsensusParams): Height | undefined => {
  const range = height === 0 ? undefined : expiringUpdateHeights(height - 1, params)
  return range === undefined || range.from !== range.to ? undefined : range.from
}

/** The operations from a number on, read from the log some at a time. */
class OperationsAhead {
  private readonly log: OperationLog
  private readonly wanted: OperationsWanted
  private readonly to: number
  private from: number
  private read: ReadonlyArray<LoggedOperation> = []
  private at = 0

  constructor(log: OperationLog, { from, to }: OperationRange, wanted: OperationsWanted) {
    this.log = log
    this.wanted = wanted
    this.from = from
    this.to = to
  }

  /** The next operation, without taking it. */
  peek(): LoggedOperation | undefined {
    if (this.at === this.read.length && this.from < this.to) {
      this.read = this.log.operations({ from: this.from, to: this.to }, this.wanted)
      this.at = 0
      this.from = this.read.length < this.wanted.limit ? this.to : (this.read.at(-1)?.id ?? this.to) + 1
    }
    return this.read[this.at]
  }

  take(): void {
    this.at++
  }
}

/** The first operation with an event after a cursor. */
const firstBehind = ({ height, number }: EventCursor): number => {
  const phase = phaseOf(number)
  if (phase < EventPhase.operations) return firstOperationAt(height)
  return phase > EventPhase.operations ? firstOperationAt(height + 1) : firstOperationAt(height) + indexOf(number) + 1
}

const FIRST_OPERATION = numberIn({ phase: EventPhase.operations, index: 0 })

/** The number after all events of a block. */
const END = numberIn({ phase: EventPhase.end, index: 0 })

interface BlockAt {
  readonly height: Height
  /** Wire order. */
  readonly hash: Bytes
  /** The part of its hash that cursors have. */
  readonly key: string
  /** The number after which the events of the block are wanted; -1 for all. */
  readonly after: number
}

/** Collects the events of one block after another, until it has enough. */
class EventCollector {
  readonly events: Array<NameEvent> = []
  private readonly log: OperationLog
  private readonly chain: EventChain
  private readonly ahead: OperationsAhead
  private readonly notices: ReadonlyArray<number>
  private readonly most: number
  private readonly blocks: boolean
  private bytes = 0

  constructor(log: OperationLog, chain: EventChain, { ahead, blocks, most, notices }: {
    readonly ahead: OperationsAhead
    readonly most: number
    readonly notices: boolean
    readonly blocks: boolean
  }) {
    this.log = log
    this.chain = chain
    this.ahead = ahead
    this.most = most
    this.blocks = blocks
    this.notices = notices ? noticesOf(chain.params) : []
  }

  private get isFull(): boolean {
    return this.events.length >= this.most || this.bytes >= this.most * BYTES_PER_EVENT
  }

  private add(event: NameEvent, { name, value }: NameEntry): void {
    this.bytes += name.length + value.length
    this.events.push(event)
  }

  private place({ hash, height, key }: BlockAt, number: number): Placed {
    return { cursor: { height, number, block: key }, height, hash }
  }

  /** The names whose last operation below a number is in the block at a height. */
  private aged(updated: Height, asOf: number) {
    return this.log.newest({ from: firstOperationAt(updated), to: firstOperationAt(updated + 1) }, asOf)
  }

  /** Adds the events of a block. If they do not all fit, adds what fits and returns false. */
  addBlock(block: BlockAt): boolean {
    return this.expired(block) && this.operations(block) && this.expiring(block) && this.end(block)
  }

  private expired(block: BlockAt): boolean {
    const updated = expiredFrom(block.height, this.chain.params)
    if (updated === undefined) return true
    for (const { id, record } of this.aged(updated, firstOperationAt(block.height))) {
      const number = numberIn({ phase: EventPhase.expired, index: indexOf(id) })
      if (number <= block.after) continue
      if (this.isFull) return false
      this.add({ ...this.place(block, number), type: "expired", record }, record)
    }
    return true
  }

  private operations(block: BlockAt): boolean {
    const end = firstOperationAt(block.height + 1)
    for (;;) {
      // Before the next operation, as looking at it may read as many as a page has.
      if (this.isFull) return false
      const next = this.ahead.peek()
      if (next === undefined || next.id >= end) return true
      const { before, id, kind, record } = next
      const { hash, height, key } = block
      const cursor = { height, number: FIRST_OPERATION + indexOf(id), block: key }
      // Without copying an object, as this runs for each event.
      this.add({ cursor, height, hash, type: kind, record, before }, record)
      this.ahead.take()
    }
  }

  private expiring(block: BlockAt): boolean {
    for (const [i, blocks] of this.notices.entries()) {
      const updated = expiredFrom(block.height + blocks, this.chain.params)
      if (updated === undefined || updated >= block.height) continue
      for (const { id, record } of this.aged(updated, firstOperationAt(block.height + 1))) {
        const number = numberIn({ phase: EventPhase.notices + i, index: indexOf(id) })
        if (number <= block.after) continue
        if (this.isFull) return false
        this.add({ ...this.place(block, number), type: "expiring", record, blocks }, record)
      }
    }
    return true
  }

  private end(block: BlockAt): boolean {
    if (!this.blocks || END <= block.after) return true
    if (this.isFull) return false
    this.events.push({ ...this.place(block, END), type: "block", time: this.chain.timeAt(block.height) })
    return true
  }
}

/** Reads a page of events after a cursor of the chain. */
export const readEvents = (
  log: OperationLog,
  chain: EventChain,
  { before = true, blocks = false, from, most = PAGE_EVENTS, notices }: EventsFrom
): EventList => {
  const last = log.last?.height ?? -1
  const first = Math.max(0, from.height)
  const range = { from: firstBehind(from), to: firstOperationAt(last + 1) }
  const ahead = new OperationsAhead(log, range, { limit: most, before })
  const collector = new EventCollector(log, chain, { ahead, most, notices, blocks })
  // Up to the beginning, the order of operations within a block is specific to this log.
  const beginning = log.beginning < 0 ? "" : blockKey(chain.hashAt(log.beginning))
  let next = from
  for (let height = first; height <= last; height++) {
    if (height === first + PAGE_BLOCKS) return { events: collector.events, next, isEnd: false }
    const hash = chain.hashAt(height)
    const key = height < log.beginning ? beginning : blockKey(hash)
    if (!collector.addBlock({ height, hash, key, after: height === from.height ? from.number : -1 })) {
      return { events: collector.events, next: collector.events.at(-1)?.cursor ?? next, isEnd: false }
    }
    next = endIn({ height, key })
  }
  return { events: collector.events, next, isEnd: true }
}

const endIn = ({ height, key }: Pick<BlockAt, "height" | "key">): EventCursor => ({
  height,
  number: END,
  block: key
})
