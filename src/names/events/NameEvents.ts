import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../../base/turns.ts"
import { Chain } from "../../chain/Chain.ts"
import type { BlockNotFound, BlockUnavailable } from "../../chain/errors.ts"
import { NO_HEADER } from "../../chain/index/HeaderTree.ts"
import { nameEffects } from "../../consensus/names.ts"
import type { ConsensusParams } from "../../consensus/params.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { HeaderId, Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { CommitSignal } from "../CommitSignal.ts"
import { CursorUnusable } from "../errors.ts"
import { NameDb } from "../NameDb.ts"
import type { NameEntry } from "../NameEntry.ts"
import { recordBytes, RecordCache } from "../RecordCache.ts"
import { BEGINNING, cursorText, endOf, type EventCursor, readCursorText } from "./EventCursor.ts"
import type { NameEvent } from "./NameEvent.ts"
import type { OperationLog } from "./OperationLog.ts"
import { type EventsFrom, readEvents } from "./readEvents.ts"
import { type EventTree, HeadersByHeight, resumption } from "./resume.ts"
import { type TouchedName, undoneEvent } from "./undone.ts"

/** Some events in order, and the place after them. */
export interface EventPage {
  readonly events: ReadonlyArray<NameEvent>
  readonly next: EventCursor
  /** Whether nothing follows yet. */
  readonly isEnd: boolean
  /** The height up to which names are known. */
  readonly height: Height
}

export interface EventOptions {
  /** Whether names that are about to expire have events. */
  readonly notices: boolean
  /** Whether the end of each block is an event; by default not. */
  readonly blocks?: boolean | undefined
  /** Whether operation events include the previous record (default). Without, reading takes two thirds of the time. */
  readonly before?: boolean | undefined
  /** The approximate maximum of events per page, `PAGE_EVENTS` by default. Bytes are limited accordingly. */
  readonly most?: number | undefined
}

export type EventFailure = CursorUnusable | StorageFailure

/**
 * The log of name events from any cursor, past and new ones alike, in pages. After a reorg, a returning reader first
 * receives what was undone.
 */
export class NameEvents extends Context.Tag("svcd/NameEvents")<NameEvents, {
  readonly params: ConsensusParams
  /** The cursor after the last block of the chain, which names.db may still be approaching. */
  readonly now: Effect.Effect<EventCursor, StorageFailure>
  /** The place of a cursor's text. Fails for other texts; further faults show with the first page. */
  readonly cursor: (text: string) => Effect.Effect<EventCursor, CursorUnusable>
  /** The available events after a cursor, without waiting for more. */
  readonly page: (from: EventCursor, options: EventOptions) => Effect.Effect<EventPage, EventFailure>
  /** Ends when names change after the call. */
  readonly news: () => Effect.Effect<void>
  /** The same with a time limit. Returns whether names changed. */
  readonly newsWithin: (milliseconds: number) => Effect.Effect<boolean>
  /** The events after a cursor, then each new one. */
  readonly follow: (from: EventCursor, options: EventOptions) => Stream.Stream<EventPage, EventFailure>
}>() {}

export interface NameEventsParts {
  readonly params: ConsensusParams
  readonly tree: EventTree
  readonly readLog: <A>(use: (log: OperationLog) => A) => Effect.Effect<A, StorageFailure>
  readonly commits: Pick<CommitSignal, "behind" | "count" | "next">
  readonly touchedBy: (
    hash: Bytes,
    height: Height
  ) => Effect.Effect<ReadonlyArray<TouchedName>, BlockNotFound | BlockUnavailable | StorageFailure>
}

/** Pages shared by readers at the same place, mostly the end, and their approximate bytes together. */
const KEPT_PAGES = 4
const KEPT_BYTES = 16 * 1024 * 1024

/** Approximate memory of an event besides its records and names. */
const EVENT_BYTES = 400

const sizeOfRecord = (record: NameEntry | undefined): number => record === undefined ? 0 : recordBytes(record)

const sizeOfEvent = (event: NameEvent): number => {
  switch (event.type) {
    case "block":
      return EVENT_BYTES
    case "expired":
    case "expiring":
      return EVENT_BYTES + sizeOfRecord(event.record)
    case "undone":
      return event.names.reduce(
        (sum, { name, owners, record }) =>
          owners.reduce((bytes, { length }) => bytes + length, sum + EVENT_BYTES + name.length + sizeOfRecord(record)),
        EVENT_BYTES
      )
    default:
      return EVENT_BYTES + sizeOfRecord(event.record) + sizeOfRecord(event.before)
  }
}

/** Approximate memory of a page. */
const sizeOfPage = ({ events }: EventPage): number => events.reduce((sum, event) => sum + sizeOfEvent(event), 0)

const NOTHING = { events: [], isEnd: true } as const

/** A block to undo, whose names must be read before the events that undo it. */
interface StaleBlock {
  readonly hash: Bytes
  readonly height: Height
}

export const makeNameEvents = (parts: NameEventsParts): typeof NameEvents.Service => {
  const { commits, params, readLog, touchedBy, tree } = parts
  const headers = new HeadersByHeight(tree)

  /** Where a reader continues in a state of the names; `undefined` if the tree does not know their last block. */
  const placeIn = (log: OperationLog, from: EventCursor) => {
    const tip = log.last === undefined ? NO_HEADER : tree.find(log.last.hash)
    if (tip === NO_HEADER) return undefined
    return { tip, resumes: resumption(from, { tree, headers, tip, beginning: log.beginning }) }
  }

  const unusable = (from: EventCursor, why: CursorUnusable["why"], height?: Height) =>
    new CursorUnusable({ cursor: cursorText(from), why, oldest: cursorText(BEGINNING), height })

  /** The page of a chain that has the cursor's block. */
  const pageOn = (
    log: OperationLog,
    tip: HeaderId,
    asked: EventsFrom
  ): EventPage => {
    const hashAt = (height: Height): Bytes => tree.hash(tree.ancestor(tip, height)).slice()
    const timeAt = (height: Height): number => tree.time(tree.ancestor(tip, height))
    return { ...readEvents(log, { params, hashAt, timeAt }, asked), height: tree.height(tip) }
  }

  const undoing = (
    from: EventCursor,
    { hash, height }: StaleBlock,
    options: EventOptions
  ): Effect.Effect<EventPage, EventFailure> =>
    Effect.flatMap(
      Effect.mapError(
        touchedBy(hash, height),
        (failure) =>
          failure._tag === "BlockNotFound" || failure._tag === "BlockUnavailable" ? unusable(from, "pruned") : failure
      ),
      (touched) =>
        Effect.flatten(readLog((log): Effect.Effect<EventPage, EventFailure> => {
          const place = placeIn(log, from)
          // Another reorg came meanwhile.
          if (place === undefined || place.resumes.type !== "undo") return page(from, options)
          const { base, block } = place.resumes
          const parent = tree.parent(block)
          const event = undoneEvent(log, {
            touched,
            params,
            from,
            at: { hash, height },
            parent: { hash: tree.hash(parent).slice(), height: height - 1 },
            base
          })
          return Effect.succeed({ events: [event], next: event.cursor, isEnd: false, height: tree.height(place.tip) })
        }))
    )

  const read = (from: EventCursor, options: EventOptions): Effect.Effect<EventPage, EventFailure> =>
    Effect.flatten(readLog((log): Effect.Effect<EventPage, EventFailure> => {
      const place = placeIn(log, from)
      const nothing = { ...NOTHING, next: from, height: log.last?.height ?? -1 }
      if (place === undefined) return Effect.succeed(nothing)
      const { resumes, tip } = place
      switch (resumes.type) {
        case "on":
          return Effect.succeed(pageOn(log, tip, { ...options, from }))
        case "ahead":
          return Effect.succeed(nothing)
        case "undo":
          return undoing(from, { hash: tree.hash(resumes.block).slice(), height: from.height }, options)
        case "future":
          return unusable(from, "future", resumes.highest)
        case "early":
        case "unknown":
          return unusable(from, resumes.type)
      }
    }))

  const kept = new RecordCache<EventPage>(KEPT_PAGES, { bytes: KEPT_BYTES, sizeOf: sizeOfPage })
  let keptOf = -1

  const page = (from: EventCursor, options: EventOptions): Effect.Effect<EventPage, EventFailure> =>
    Effect.suspend(() => {
      if (keptOf !== commits.count) kept.clear()
      keptOf = commits.count
      const { before = true, blocks = false, most, notices } = options
      const key = `${cursorText(from)} ${notices} ${blocks} ${before} ${most}`
      const known = kept.get(key)
      if (known !== undefined) return Effect.succeed(known)
      const asked = commits.count
      return Effect.tap(read(from, options), (found) =>
        Effect.sync(() => {
          if (asked === commits.count) kept.put(key, found)
        }))
    })

  const news = (): Effect.Effect<void> => commits.next()

  const follow = (from: EventCursor, options: EventOptions): Stream.Stream<EventPage, EventFailure> =>
    Stream.paginateEffect(from, (place) =>
      Effect.gen(function*() {
        for (let at = place;;) {
          const changed = news()
          const found = yield* page(at, options)
          if (found.events.length > 0) return [found, Option.some(found.next)] as const
          at = found.next
          yield* found.isEnd ? changed : turnOfEventLoop
        }
      }))

  return {
    params,
    now: readLog(({ last }) => {
      const tip = tree.tip()
      // While names.db is rewritten, its last block is an old one.
      if (tip !== NO_HEADER && tree.height(tip) > (last?.height ?? -1)) {
        return endOf({ height: tree.height(tip), hash: tree.hash(tip).slice() })
      }
      return last === undefined ? BEGINNING : endOf(last)
    }),
    cursor: (text) => {
      const found = readCursorText(text)
      return found === undefined
        ? new CursorUnusable({ cursor: text, why: "damaged", oldest: cursorText(BEGINNING) })
        : Effect.succeed(found)
    },
    page,
    news,
    newsWithin: (milliseconds) => commits.behind(commits.count, { milliseconds }),
    follow
  }
}

export const layer: Layer.Layer<NameEvents, never, Chain | NameDb> = Layer.effect(
  NameEvents,
  Effect.gen(function*() {
    const { block: readBlock, params, tree } = yield* Chain
    const { commits, readLog } = yield* NameDb
    return makeNameEvents({
      params,
      tree,
      readLog,
      commits: yield* commits,
      touchedBy: (hash, height) =>
        Effect.map(readBlock(hash), (block) =>
          nameEffects(block, height, params).map(({ address, name }) => ({
            name: name.slice(),
            owner: address.slice()
          })))
    })
  })
)
