import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Scope from "effect/Scope"
import { concerning, ExpiringNames } from "../../alerts/ExpiringNames.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import type { PageAnswer, PageHandler, PageRequest, PageStream } from "../../http/Pages.ts"
import { pageAfterLive } from "../../mempool/live/followLive.ts"
import { LiveEvents } from "../../mempool/live/LiveEvents.ts"
import type { LiveReader } from "../../mempool/live/LiveReader.ts"
import { cursorText, type EventCursor, mayCome } from "../../names/events/EventCursor.ts"
import {
  allFiltered,
  wantsAllNames,
  wantsAllOwners,
  wantsBlocks,
  wantsNotices
} from "../../names/events/EventFilter.ts"
import type { LiveEvent } from "../../names/events/LiveEvent.ts"
import type { NameEvent } from "../../names/events/NameEvent.ts"
import { type EventFailure, type EventPage, NameEvents } from "../../names/events/NameEvents.ts"
import { AnswerOptions } from "../../rpc/AnswerOptions.ts"
import { encodeJson, type JsonValue } from "../../rpc/json/encodeJson.ts"
import type { Phase } from "../../rpc/Lifecycle.ts"
import type { ShapeContext } from "../../rpc/shapes/context.ts"
import { liveEventText } from "../../rpc/shapes/liveEvent.ts"
import { nameEventText } from "../../rpc/shapes/nameEvent.ts"
import { type EventQuery, readEventQuery } from "./eventQuery.ts"
import { isCalendar } from "./expiryPage.ts"

/** Server-Sent Events, or one JSON object per line. */
export interface EventForm {
  readonly type: string
  // positional: runs for each event
  readonly event: (json: string, cursor: EventCursor) => string
  /** Keeps the connection open, and moves the reader's cursor past unwanted events. */
  readonly position: (cursor: EventCursor) => string
  /** Keeps the reader's cursor: a live event, or the end of a stream, whose error the next request reports. */
  readonly placeless: (json: string) => string
}

/** Without `data` a browser stores the id, and reports no event. */
export const serverSentEvents: EventForm = {
  type: "text/event-stream; charset=utf-8",
  event: (json, cursor) => `id: ${cursorText(cursor)}\ndata: ${json}\n\n`,
  position: (cursor) => `: position\nid: ${cursorText(cursor)}\n\n`,
  placeless: (json) => `data: ${json}\n\n`
}

export const jsonLines: EventForm = {
  type: "application/x-ndjson",
  event: (json) => `${json}\n`,
  position: (cursor) => `${encodeJson({ type: "position", cursor: cursorText(cursor) })}\n`,
  placeless: (json) => `${json}\n`
}

/** `GET /events`: name events from a cursor on (docs/events.md). */

/** Milliseconds without an event after which the reader gets its position. */
const HEARTBEAT = 15_000

const NO_BYTES = new Uint8Array(0)

const json = (status: number, value: JsonValue, headers: Readonly<Record<string, string>> = {}): PageAnswer => ({
  status,
  headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
  body: `${encodeJson(value)}\n`
})

const refused = (failure: EventFailure, syncing: boolean): PageAnswer =>
  failure._tag === "CursorUnusable"
    ? mayCome(failure, { syncing })
      ? json(503, { error: failure.message, why: failure.why }, { "Retry-After": "10" })
      : json(410, { error: failure.message, why: failure.why, oldest: failure.oldest })
    : json(503, { error: "names cannot be read at the moment; see the node's log" }, {
      "Retry-After": "10"
    })

const logged = (failure: EventFailure): Effect.Effect<void> =>
  failure._tag === "CursorUnusable"
    ? Effect.void
    : Effect.annotateLogs(Effect.logError("events cannot be read", { reason: failure.message }), "subsystem", "names")

/** Events per page of a stream: only their text is in memory while a slow reader catches up. */
const STREAM_EVENTS = 100

/** Shared texts for many readers: of a page, and of single events. Keyed by how they are written. */
const pageTexts = new WeakMap<EventPage, Map<string, Uint8Array>>()
const eventTexts = new WeakMap<NameEvent | LiveEvent, Map<string, string>>()

const remembered = <K extends object, A>(cache: WeakMap<K, Map<string, A>>, of: K): Map<string, A> => {
  const known = cache.get(of)
  if (known !== undefined) return known
  const made = new Map<string, A>()
  cache.set(of, made)
  return made
}

const encodingsOf = ({ bytes, nameEncoding, valueEncoding }: EventQuery["context"]): string =>
  bytes === true ? "bytes" : `${nameEncoding} ${valueEncoding}`

/** Other parts of the filter apply afterwards. The record before is read where it is written or compared. */
const readsOf = ({ context, filter }: EventQuery) => ({
  notices: wantsNotices(filter),
  blocks: wantsBlocks(filter),
  before: context.bytes !== true || !wantsAllOwners(filter)
})

const isServed: PageHandler["serves"] = ({ path }) => path === "/events"

const isServedLater: PageHandler["serves"] = (request) => isServed(request) || isCalendar(request)

/** Events of wallets, of watched names and of pending operations need their own rights beside those of public names. */
const needsOf = ({ query }: PageRequest): ReadonlyArray<string> => [
  ...query.has("mine") || query.has("watched") ? ["name_expiring"] : [],
  ...query.getAll("types").some((types) => types.includes("pending")) ? ["name_pending"] : []
]

/** While the node starts, readers must come back: without events it would look like a node that has none. */
export const eventsStarting = (phase: () => Phase): PageHandler => ({
  serves: isServedLater,
  authenticated: true,
  answer: () =>
    Effect.sync(() => {
      const now = phase()
      const step = now._tag === "WarmUp" ? now.step : "starting"
      return json(503, { error: `the node is starting: ${step}` }, { "Retry-After": "5" })
    })
})

type PageServices = ExpiringNames | LiveEvents | NameEvents | AnswerOptions | SyncStatus

const textFor = <E extends NameEvent | LiveEvent>(
  { context }: EventQuery,
  event: E,
  write: (context: EventQuery["context"], event: E) => string
): string => {
  const key = encodingsOf(context)
  const texts = remembered(eventTexts, event)
  const known = texts.get(key)
  if (known !== undefined) return known
  const text = write(context, event)
  texts.set(key, text)
  return text
}

const wantedOf = ({ filter }: EventQuery, { events }: EventPage): ReadonlyArray<NameEvent> =>
  allFiltered(filter, events)

export const eventsPage: Effect.Effect<PageHandler, never, PageServices> = Effect.gen(function*() {
  const log = yield* NameEvents
  const moments = yield* LiveEvents
  const subjects = yield* ExpiringNames
  const { syncing } = yield* SyncStatus
  const { nameEncoding, valueEncoding } = yield* AnswerOptions
  const { params } = log
  const settings: ShapeContext = { network: params.network, nameEncoding, valueEncoding }

  const textOf = (query: EventQuery, event: NameEvent): string =>
    textFor(query, event, (context) => nameEventText({ ...context, params }, event))

  /** The wanted events of a page. Readers of all names share the bytes. */
  const piecesOf = (query: EventQuery, form: EventForm, page: EventPage): Uint8Array => {
    if (!wantsAllNames(query.filter)) {
      return Buffer.from(wantedOf(query, page).map((event) => form.event(textOf(query, event), event.cursor)).join(""))
    }
    const { kinds } = query.filter
    const wanted = kinds === undefined ? "default" : [...new Set(kinds)].sort().join(" ")
    const key = `${form.type} ${encodingsOf(query.context)} ${query.filter.isMine === undefined} ${wanted}`
    const texts = remembered(pageTexts, page)
    const known = texts.get(key)
    if (known !== undefined) return known
    const context = { ...query.context, params }
    let text = ""
    for (const event of wantedOf(query, page)) text += form.event(nameEventText(context, event), event.cursor)
    const bytes = Buffer.from(text)
    texts.set(key, bytes)
    return bytes
  }

  /** Live events do not move the reader's cursor. */
  const telling = (query: EventQuery, form: EventForm, write: Write) => (events: ReadonlyArray<LiveEvent>) =>
    events.length === 0
      ? Effect.void
      : write(events.map((event) => form.placeless(textFor(query, event, liveEventText))).join(""))

  const readerOf = ({ filter, live }: EventQuery): Effect.Effect<LiveReader | undefined, never, Scope.Scope> =>
    live.size === 0 ? Effect.succeed(undefined) : moments.open({ kinds: live, filter })

  const streamOf = (query: EventQuery, form: EventForm, begin: EventCursor): PageStream => ({
    write: (write) =>
      Effect.gen(function*() {
        const live = yield* readerOf(query)
        const tell = telling(query, form, write)
        yield* write(form.position(begin))
        const options = { ...readsOf(query), most: STREAM_EVENTS }
        let written = yield* Clock.currentTimeMillis
        for (let at = begin;;) {
          const left = Math.max(1, written + HEARTBEAT - (yield* Clock.currentTimeMillis))
          const changed = live === undefined
            ? log.newsWithin(left)
            : Effect.raceFirst(log.newsWithin(left), live.newsWithin(left))
          const page = live === undefined
            ? yield* log.page(at, options)
            : yield* pageAfterLive(log, { from: at, live, options, tell })
          const piece = page === undefined || page.events.length === 0 ? NO_BYTES : piecesOf(query, form, page)
          at = page?.next ?? at
          if (piece.length > 0) {
            yield* write(piece)
            written = yield* Clock.currentTimeMillis
          } else if ((yield* Clock.currentTimeMillis) >= written + HEARTBEAT) {
            // Even while the reader catches up past unwanted events.
            yield* write(form.position(at))
            written = yield* Clock.currentTimeMillis
          }
          if (live !== undefined && page !== undefined) yield* tell(yield* live.after(page))
          yield* page?.isEnd === true && live?.isBehind !== true ? changed : turnOfEventLoop
        }
      }).pipe(
        Effect.scoped,
        Effect.catchAll((failure) =>
          Effect.zipRight(
            logged(failure),
            write(form.placeless(encodeJson({ type: "error", error: failure.message })))
          )
        )
      )
  })

  /** The available events, or those that come while the caller waits. */
  const pageOf = (query: EventQuery, begin: EventCursor, seconds: number) =>
    Effect.gen(function*() {
      const found: Array<NameEvent> = []
      let at = begin
      let isEnd = false
      const gather = Effect.gen(function*() {
        while (found.length < query.limit) {
          const news = log.news()
          const page = yield* log.page(at, readsOf(query))
          const wanted = wantedOf(query, page)
          const taken = wanted.slice(0, query.limit - found.length)
          found.push(...taken)
          const last = taken.at(-1)
          at = taken.length < wanted.length && last !== undefined ? last.cursor : page.next
          isEnd = page.isEnd && taken.length === wanted.length
          if (isEnd && (found.length > 0 || seconds === 0)) return
          yield* isEnd ? news : turnOfEventLoop
        }
      })
      yield* seconds === 0 ? gather : Effect.timeoutOption(gather, `${seconds} seconds`)
      const events = found.map((event) => textOf(query, event)).join(",")
      return `{"events":[${events}],"cursor":"${cursorText(at)}","end":${isEnd}}\n`
    })

  const begin = ({ from }: EventQuery, lastEventId: string | undefined) => {
    const text = lastEventId ?? from
    return text === undefined ? log.now : log.cursor(text)
  }

  const answer = ({ acceptsLines, lastEventId, query, seesWallets }: PageRequest): Effect.Effect<PageAnswer> =>
    Effect.gen(function*() {
      const read = readEventQuery(query, settings)
      if (Either.isLeft(read)) return json(400, { error: read.left })
      // A full copy has the chain's view.
      const isMine = seesWallets && read.right.context.bytes !== true ? subjects.isMine : undefined
      const asked = { ...read.right, filter: { ...concerning(read.right.filter, read.right, subjects), isMine } }
      const refusal = asked.live.size === 0 ? undefined : moments.refusal()
      if (refusal !== undefined) return json(400, { error: `types: ${refusal}` })
      const at = yield* begin(asked, lastEventId)
      // An unusable cursor has its own status, before the answer begins.
      yield* log.page(at, readsOf(asked))
      const { wait } = asked
      if (wait !== undefined) {
        return {
          status: 200,
          headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
          body: {
            write: (write: Write) =>
              Effect.catchAll(
                Effect.flatMap(pageOf(asked, at, wait), write),
                (failure) => Effect.zipRight(logged(failure), write(`${encodeJson({ error: failure.message })}\n`))
              )
          }
        }
      }
      const form = acceptsLines ? jsonLines : serverSentEvents
      return {
        status: 200,
        headers: { "Content-Type": form.type, "Cache-Control": "no-store", "X-Accel-Buffering": "no" },
        body: streamOf(asked, form, at)
      }
    }).pipe(
      Effect.catchAll((failure) =>
        Effect.zipRight(logged(failure), Effect.map(syncing, (missing) => refused(failure, missing)))
      )
    )

  return { serves: isServed, authenticated: true, forReaders: true, needs: needsOf, answer }
})

type Write = (text: string | Uint8Array) => Effect.Effect<void>
