import type { PgClient } from "@effect/sql-pg/PgClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { wantedChanges, withoutLive } from "../client/changeFilter.ts"
import { changesOf } from "../client/changes.ts"
import type { ChangesFailure, DatabaseUnavailable } from "../client/errors.ts"
import type { ChangeFilter, LiveFilter } from "../client/options.ts"
import { type Freshness, freshnessOf, type NameChange } from "../client/records.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { CursorUnusable } from "../names/errors.ts"
import { BEGINNING, cursorText, type EventCursor, readCursorText } from "../names/events/EventCursor.ts"
import { filtered, wantsNotices } from "../names/events/EventFilter.ts"
import type { EventPage } from "../names/events/NameEvents.ts"
import type { PgEvents } from "./pgEvents.ts"
import { channelOf } from "./schema.ts"

/** Past and new name changes from an export, with the daemon's cursors. */

export interface PgChangesParts {
  readonly client: PgClient
  readonly events: PgEvents
  readonly schema: string
  readonly report: Effect.Effect<SyncReport, DatabaseUnavailable>
  readonly read: <A, E>(
    effect: Effect.Effect<A, E | SqlError>
  ) => Effect.Effect<A, Exclude<E, SqlError> | DatabaseUnavailable>
}

/**
 * Milliseconds between checks of the tables: replicas pass no notifications on, and a connection can break unnoticed.
 */
const INTERVAL = 1_000

const NO_MEMPOOL = "an export has only what is in blocks: ask a client over the daemon"

/** Completes for all waiting subscribers when the tables change. */
const newsOf = ({ client, events, read, schema }: PgChangesParts) =>
  Effect.gen(function*() {
    let next = yield* Deferred.make<void>()
    let subscribers = 0
    const tell = Effect.suspend(() => {
      const told = next
      return Effect.zipRight(
        Effect.map(Deferred.make<void>(), (made) => {
          next = made
        }),
        Deferred.succeed(told, undefined)
      )
    })
    // Without LISTEN, as on a replica, polling the tables is enough.
    yield* Effect.forkScoped(Effect.ignore(Stream.runForEach(client.listen(channelOf(schema)), () => tell)))
    let known = ""
    const look = Effect.gen(function*() {
      yield* Effect.sleep(INTERVAL)
      if (subscribers === 0) return
      const now = yield* Effect.option(read<string, never>(events.version))
      // The next read of a subscriber reports a server that does not answer.
      if (Option.isSome(now) && now.value === known) return
      known = Option.getOrElse(now, () => "")
      yield* tell
    })
    yield* Effect.forkScoped(Effect.forever(look))
    return {
      /** Completes when the tables change after the call. */
      news: (): Effect.Effect<void> => {
        const waited = next
        return Effect.acquireUseRelease(
          Effect.sync(() => void subscribers++),
          () => Deferred.await(waited),
          () => Effect.sync(() => void subscribers--)
        )
      }
    }
  })

export const pgChanges = (
  parts: PgChangesParts
): Effect.Effect<
  (filter?: ChangeFilter | LiveFilter) => Stream.Stream<NameChange, ChangesFailure>,
  never,
  Scope.Scope
> =>
  Effect.map(newsOf(parts), ({ news }) => {
    const { events, read, report } = parts
    const { params } = events

    const beginOf = (from: string | undefined): Effect.Effect<EventCursor, CursorUnusable | DatabaseUnavailable> => {
      if (from === undefined) return read<EventCursor, never>(events.now)
      const place = readCursorText(from)
      return place === undefined
        ? new CursorUnusable({ cursor: from, why: "damaged", oldest: cursorText(BEGINNING) })
        : Effect.succeed(place)
    }

    const follow = (
      begin: EventCursor,
      notices: boolean
    ): Stream.Stream<EventPage, CursorUnusable | DatabaseUnavailable> =>
      Stream.paginateEffect(begin, (place) =>
        Effect.gen(function*() {
          for (let at = place;;) {
            const changed = news()
            const page = yield* read<EventPage, CursorUnusable>(events.page(at, { notices }))
            if (page.events.length > 0) return [page, Option.some(page.next)] as const
            at = page.next
            if (page.isEnd) yield* changed
          }
        }))

    return (filter = {}) =>
      Stream.unwrap(Effect.gen(function*() {
        const wanted = yield* wantedChanges(filter, params.network)
        yield* withoutLive(wanted, NO_MEMPOOL)
        const begin = yield* beginOf(wanted.from)
        return follow(begin, wantsNotices(wanted.filter)).pipe(
          Stream.mapConcatEffect((page) =>
            Effect.map(report, ({ height, proof, synced }) => {
              const asOf = (at: number): Freshness => freshnessOf({ height: at, synced: synced && at >= height, proof })
              return page.events.flatMap((event) => {
                const told = filtered(wanted.filter, event)
                return told === undefined || told.type === "block" ? [] : changesOf({ params, asOf }, told)
              })
            })
          )
        )
      }))
  })
