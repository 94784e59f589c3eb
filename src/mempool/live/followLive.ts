import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import type { EventCursor } from "../../names/events/EventCursor.ts"
import type { LiveEvent } from "../../names/events/LiveEvent.ts"
import type { EventFailure, EventOptions, EventPage, NameEvents } from "../../names/events/NameEvents.ts"
import type { LiveReader } from "./LiveReader.ts"

/** A page of blocks, and the live events behind it. */
export interface LiveStep {
  /** `undefined`: there are live events alone. */
  readonly page: EventPage | undefined
  readonly live: ReadonlyArray<LiveEvent>
}

type Reader = Pick<LiveReader, "after" | "isBehind" | "newsWithin" | "take">

/** Milliseconds after which a subscriber looks again, although nothing was told. */
const LONGEST_WAIT = 60_000

/** The next page behind a cursor, read when no live event comes before it; `undefined` if some do. */
export const pageAfterLive = (
  log: Pick<typeof NameEvents.Service, "page">,
  { from, live, options }: { readonly from: EventCursor; readonly live: Reader; readonly options: EventOptions }
): Effect.Effect<EventPage | undefined, EventFailure> =>
  live.isBehind
    ? Effect.succeed(undefined)
    : Effect.map(log.page(from, options), (page) => live.isBehind ? undefined : page)

const stepTo = (next: EventCursor, step: LiveStep) => [step, Option.some(next)] as const

/** As `NameEvents.follow`, with live events between the pages. */
export const followLive = (
  log: Pick<typeof NameEvents.Service, "newsWithin" | "page">,
  live: Reader,
  { from, options }: { readonly from: EventCursor; readonly options: EventOptions }
): Stream.Stream<LiveStep, EventFailure> =>
  Stream.paginateEffect(from, (place) =>
    Effect.gen(function*() {
      for (let at = place;;) {
        const changed = Effect.raceFirst(log.newsWithin(LONGEST_WAIT), live.newsWithin(LONGEST_WAIT))
        const taken = yield* live.take
        if (taken.length > 0) return stepTo(at, { page: undefined, live: taken })
        const page = yield* pageAfterLive(log, { from: at, live, options })
        if (page === undefined) {
          yield* turnOfEventLoop
          continue
        }
        const behind = yield* live.after(page)
        if (page.events.length + behind.length > 0) return stepTo(page.next, { page, live: behind })
        at = page.next
        yield* page.isEnd && !live.isBehind ? changed : turnOfEventLoop
      }
    }))
