import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { turnOfEventLoop } from "../../base/turns.ts"
import type { EventCursor } from "../../names/events/EventCursor.ts"
import type { LiveEvent } from "../../names/events/LiveEvent.ts"
import type { EventFailure, EventOptions, EventPage, NameEvents } from "../../names/events/NameEvents.ts"
import type { LiveReader } from "./LiveReader.ts"

export interface LiveStep {
  /** `undefined` for live events alone. */
  readonly page: EventPage | undefined
  readonly live: ReadonlyArray<LiveEvent>
}

type Reader = Pick<
  LiveReader,
  "after" | "end" | "isBefore" | "isBehind" | "isListing" | "newsWithin" | "take" | "takeTo"
>

/** Milliseconds until a subscriber looks again without a notice. */
const LONGEST_WAIT = 60_000

interface NextPage {
  readonly from: EventCursor
  readonly live: Reader
  readonly options: EventOptions
  /** Gets the live events before the page, some at a time. */
  readonly tell: (events: ReadonlyArray<LiveEvent>) => Effect.Effect<void>
}

/**
 * Reads the next page after a cursor, after reporting the live events logged until the end of that read. `undefined`
 * while waiting operations are listed, as the page would be outdated by then.
 */
export const pageAfterLive = (
  log: Pick<typeof NameEvents.Service, "page">,
  { from, live, options, tell }: NextPage
): Effect.Effect<EventPage | undefined, EventFailure> =>
  Effect.gen(function*() {
    if (live.isListing) {
      yield* tell(yield* live.take)
      return undefined
    }
    const page = yield* log.page(from, options)
    const { end } = live
    while (live.isBefore(end)) yield* tell(yield* live.takeTo(end))
    return page
  })

/** As `NameEvents.follow`, with live events between the pages. */
export const followLive = (
  log: Pick<typeof NameEvents.Service, "newsWithin" | "page">,
  live: Reader,
  { from, options }: { readonly from: EventCursor; readonly options: EventOptions }
): Stream.Stream<LiveStep, EventFailure> =>
  Stream.paginateChunkEffect(from, (place) =>
    Effect.gen(function*() {
      for (let at = place;;) {
        const changed = Effect.raceFirst(log.newsWithin(LONGEST_WAIT), live.newsWithin(LONGEST_WAIT))
        const steps: Array<LiveStep> = []
        const tell = (events: ReadonlyArray<LiveEvent>) =>
          Effect.sync(() => {
            if (events.length > 0) steps.push({ page: undefined, live: events })
          })
        const page = yield* pageAfterLive(log, { from: at, live, options, tell })
        if (page !== undefined) {
          const behind = yield* live.after(page)
          if (page.events.length + behind.length > 0) steps.push({ page, live: behind })
          at = page.next
        }
        if (steps.length > 0) return [Chunk.fromIterable(steps), Option.some(at)]
        yield* page?.isEnd === true && !live.isBehind ? changed : turnOfEventLoop
      }
    }))
