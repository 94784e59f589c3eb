import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import type { PageAnswer, PageHandler, PageRequest, PageStream } from "../../http/Pages.ts"
import { cursorText, type EventCursor } from "../../names/events/EventCursor.ts"
import { filtered, wantsNotices } from "../../names/events/EventFilter.ts"
import type { NameEvent } from "../../names/events/NameEvent.ts"
import { type EventFailure, type EventPage, NameEvents } from "../../names/events/NameEvents.ts"
import { encodeJson, type JsonValue } from "../../rpc/json/encodeJson.ts"
import type { Phase } from "../../rpc/Lifecycle.ts"
import { NodeOptions } from "../../rpc/NodeOptions.ts"
import { type EventContext, nameEventJson } from "../../rpc/shapes/nameEvent.ts"
import { type EventForm, jsonLines, serverSentEvents } from "./eventForms.ts"
import { type EventQuery, readEventQuery } from "./eventQuery.ts"

/** `GET /events`: what happens to names, from a cursor on (docs/events.md). */

/** Time without an event after which the reader gets its position. */
const HEARTBEAT = Duration.seconds(15)

/** Characters of events that are written at a time, about. */
const PIECE = 65_536

const json = (status: number, value: JsonValue, headers: Readonly<Record<string, string>> = {}): PageAnswer => ({
  status,
  headers: { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers },
  body: `${encodeJson(value)}\n`
})

const refused = (failure: EventFailure): PageAnswer =>
  failure._tag === "CursorUnusable"
    ? json(410, { error: failure.message, why: failure.why, oldest: failure.oldest })
    : json(503, { error: "the names cannot be read at the moment; the log of the node says why" }, {
      "Retry-After": "10"
    })

const logged = (failure: EventFailure): Effect.Effect<void> =>
  failure._tag === "CursorUnusable"
    ? Effect.void
    : Effect.annotateLogs(Effect.logError("events cannot be read", { reason: failure.message }), "subsystem", "names")

/** The texts of events in the node's own encodings: readers at the tip get the same ones. */
const texts = new WeakMap<NameEvent, string>()

const isServed: PageHandler["serves"] = ({ path }) => path === "/events"

/** The answer while the node is starting. A reader comes back: without events the node would look like one that has none. */
export const eventsStarting = (phase: () => Phase): PageHandler => ({
  serves: isServed,
  authenticated: true,
  answer: () =>
    Effect.sync(() => {
      const now = phase()
      const step = now._tag === "WarmUp" ? now.step : "starting"
      return json(503, { error: `the node starts: ${step}` }, { "Retry-After": "5" })
    })
})

export const eventsPage: Effect.Effect<PageHandler, never, NameEvents | NodeOptions> = Effect.gen(function*() {
  const log = yield* NameEvents
  const { nameEncoding, valueEncoding } = yield* NodeOptions
  const { params } = log
  const settings: EventContext = { network: params.network, nameEncoding, valueEncoding, params }

  const textOf = ({ context }: EventQuery, event: NameEvent): string => {
    if (context.nameEncoding !== nameEncoding || context.valueEncoding !== valueEncoding) {
      return encodeJson(nameEventJson({ ...context, params }, event))
    }
    const known = texts.get(event)
    if (known !== undefined) return known
    const text = encodeJson(nameEventJson(settings, event))
    texts.set(event, text)
    return text
  }

  const wantedOf = ({ filter }: EventQuery, { events }: EventPage): ReadonlyArray<NameEvent> =>
    events.flatMap((event) => filtered(filter, event) ?? [])

  /** Writes the events of a page, piece by piece. */
  const writePage = (query: EventQuery, form: EventForm, page: EventPage) => (write: Write): Effect.Effect<void> => {
    const wanted = wantedOf(query, page)
    const from = (at: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        let text = ""
        let next = at
        for (; next < wanted.length && text.length < PIECE; next++) {
          const event = wanted[next]
          if (event !== undefined) text += form.event(textOf(query, event), event.cursor)
        }
        return next === at ? Effect.void : Effect.flatMap(write(text), () => from(next))
      })
    return from(0)
  }

  /** The reader's next page, at once or when there is one. `undefined`: there was none for some time. */
  const nextPage = (query: EventQuery, at: EventCursor, changed: Effect.Effect<void>) =>
    Effect.timeoutTo(Effect.zipRight(changed, log.page(at, { notices: wantsNotices(query.filter) })), {
      duration: HEARTBEAT,
      onSuccess: (page): EventPage | undefined => page,
      onTimeout: () => undefined
    })

  const streamOf = (query: EventQuery, form: EventForm, begin: EventCursor): PageStream => ({
    write: (write) =>
      Effect.gen(function*() {
        yield* write(form.position(begin))
        let written = yield* Clock.currentTimeMillis
        let changed: Effect.Effect<void> = Effect.void
        for (let at = begin;;) {
          const news = log.news()
          const page = yield* nextPage(query, at, changed)
          if (page !== undefined) {
            yield* writePage(query, form, page)(write)
            at = page.next
            changed = page.isEnd ? news : turnOfEventLoop
          }
          const now = yield* Clock.currentTimeMillis
          if (page !== undefined && wantedOf(query, page).length > 0) written = now
          if (page !== undefined && now - written < Duration.toMillis(HEARTBEAT)) continue
          // Also while the reader catches up past events that it does not want.
          yield* write(form.position(at))
          written = now
        }
      }).pipe(
        Effect.catchAll((failure) =>
          Effect.zipRight(
            logged(failure),
            write(form.failure(encodeJson({ type: "error", error: failure.message })))
          )
        )
      )
  })

  /** One page: the events that there are, or those that come while the caller waits. */
  const pageOf = (query: EventQuery, begin: EventCursor, seconds: number) =>
    Effect.gen(function*() {
      const found: Array<NameEvent> = []
      let at = begin
      let isEnd = false
      const gather = Effect.gen(function*() {
        while (found.length < query.limit) {
          const news = log.news()
          const page = yield* log.page(at, { notices: wantsNotices(query.filter) })
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

  const answer = ({ acceptsLines, lastEventId, query }: PageRequest): Effect.Effect<PageAnswer> =>
    Effect.gen(function*() {
      const read = readEventQuery(query, settings)
      if (Either.isLeft(read)) return json(400, { error: read.left })
      const asked = read.right
      const at = yield* begin(asked, lastEventId)
      // A cursor that cannot be used has a status of its own, before the answer begins.
      yield* log.page(at, { notices: wantsNotices(asked.filter) })
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
    }).pipe(Effect.catchAll((failure) => Effect.as(logged(failure), refused(failure))))

  return { serves: isServed, authenticated: true, answer }
})

type Write = (text: string) => Effect.Effect<void>
