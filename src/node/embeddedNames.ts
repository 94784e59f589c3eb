import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { concerning, ExpiringNames } from "../alerts/ExpiringNames.ts"
import { monotonic } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import { makeAnswering } from "../client/answering.ts"
import { wantedChanges, withoutLive } from "../client/changeFilter.ts"
import { changesOf } from "../client/changes.ts"
import { type ChangesFailure, InvalidRequest, type ReadFailure, type ResolveFailure } from "../client/errors.ts"
import { FOUND_AT_ONCE, pagesOfNames, stillIndexing, wantedNames } from "../client/findNames.ts"
import { liveChangesOf } from "../client/liveChanges.ts"
import type { ChangeFilter, FindFilter, ListFilter, LiveChange, LiveFilter, ResolveOptions } from "../client/options.ts"
import { isTooWeak, notSynced, requiring } from "../client/readiness.ts"
import { recordAt } from "../client/record.ts"
import { type Freshness, freshnessOf, type NameChange, type NameRecord } from "../client/records.ts"
import { listing, nameBytes } from "../client/text.ts"
import { isExpired } from "../consensus/expiry.ts"
import type { NameAnswer, NameAnswers } from "../light/NameAnswers.ts"
import type { ProofLevel } from "../light/proof.ts"
import type { SyncReport } from "../light/syncReport.ts"
import { followLive, type LiveStep } from "../mempool/live/followLive.ts"
import { LiveEvents } from "../mempool/live/LiveEvents.ts"
import { filtered, wantsNotices } from "../names/events/EventFilter.ts"
import { type EventFailure, type EventPage, NameEvents } from "../names/events/NameEvents.ts"
import { NameDb } from "../names/NameDb.ts"
import type { NameQuery } from "../names/search/nameQuery.ts"
import { type Bytes, EMPTY } from "../protocol/bytes.ts"
import { type Height, nameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { findScanned } from "./scannedNames.ts"

/** Milliseconds for which the sync state is reused: it changes only with blocks and peers. */
const SYNC_AGE = 50

const NO_OPTIONS: ResolveOptions = {}

export interface EmbeddedNamesParts {
  readonly answers: typeof NameAnswers.Service
  readonly report: Effect.Effect<SyncReport>
  readonly requireProof: ProofLevel | undefined
}

export const make = ({ answers, report, requireProof }: EmbeddedNamesParts) =>
  Effect.gen(function*() {
    const { params } = yield* Chain
    const events = yield* NameEvents
    const moments = yield* LiveEvents
    const subjects = yield* ExpiringNames
    const names = yield* NameDb

    const { answer, freshness: sameFreshness, textOf, tooWeak } = makeAnswering({ params, report })
    let lately: { readonly synced: boolean; readonly until: number } | undefined

    const freshnessFor = (proof = answers.proofOfAbsence()): Effect.Effect<Freshness, StorageFailure> =>
      Effect.gen(function*() {
        const synced = yield* answers.complete
        lately = { synced, until: monotonic() + SYNC_AGE }
        return sameFreshness(yield* answers.height, synced, proof)
      })

    const isGone = (found: NameAnswer | undefined, { height }: Freshness): boolean =>
      found === undefined || isExpired(found.record, height, params)

    const looked = (bytes: Bytes, options: ResolveOptions): Effect.Effect<NameRecord, ResolveFailure> =>
      Effect.gen(function*() {
        const question = Effect.gen(function*() {
          const found = yield* answers.resolve(bytes)
          return { found, asOf: yield* freshnessFor(found?.proof) }
        })
        const { asOf, found } = yield* answers.ask(question, ({ asOf, found }) => isGone(found, asOf)).pipe(
          Effect.catchTag("NamesIncomplete", () =>
            Effect.map(freshnessFor(), (asOf) => ({ found: undefined, asOf: freshnessOf({ ...asOf, synced: false }) })))
        )
        return yield* answer(bytes, found?.record, asOf, options)
      })

    /** Synchronous if record, height and sync state are in memory; that path has no generator and no span. */
    const resolveName = (name: string, given = NO_OPTIONS): Effect.Effect<NameRecord, ResolveFailure> => {
      const encoded = nameBytes(name)
      if (Either.isLeft(encoded)) {
        return encoded.left
      }
      const bytes = encoded.right
      const options = requiring(given, { requireProof })
      const found = answers.atOnce(nameKey(bytes))
      return found?.record === undefined || lately === undefined || monotonic() > lately.until
        ? looked(bytes, options)
        : answer(bytes, found.record, sameFreshness(found.tipHeight, lately.synced, "full"), options)
    }

    const listNames = (filter: ListFilter = {}): Effect.Effect<ReadonlyArray<NameRecord>, ReadFailure> =>
      Effect.gen(function*() {
        const { most, options: given, prefix } = yield* listing(filter)
        if (most === 0) {
          return []
        }
        const options = requiring(given, { requireProof })
        const asOf = yield* freshnessFor()
        const found = yield* answers.scan({ prefix }).pipe(
          Stream.mapConcat(({ proof, record }) => {
            const fixed = textOf(record)
            const shown = fixed === undefined ? undefined : recordAt(fixed, freshnessOf({ ...asOf, proof }), params)
            return shown === undefined || shown.expired ? [] : [shown]
          }),
          Stream.take(most),
          Stream.runCollect,
          Effect.map(Chunk.toReadonlyArray)
        )
        const weak = found.find((record) =>
          isTooWeak(record.asOf, options)
        )
        if (weak !== undefined) return yield* tooWeak(weak.asOf, options)
        // An empty list is not final while blocks are missing. A window then lacks any names.
        if (!asOf.synced && (found.length === 0 || answers.fromWindow())) return yield* tooWeak(asOf, {})
        return found
      })

    const foundInIndexes = (query: NameQuery, options: ResolveOptions): Stream.Stream<NameRecord, ReadFailure> =>
      pagesOfNames((cursor) =>
        Effect.gen(function*() {
          const asOf = yield* freshnessFor("full")
          const page = { clock: { tipHeight: asOf.height, params }, limit: FOUND_AT_ONCE, cursor }
          const { indexed, next, records } = yield* Effect.catchTag(
            names.find(query, page),
            "WrongQuery",
            ({ reason }) => new InvalidRequest({ field: "filter", reason })
          )
          if (isTooWeak(asOf, options)) return yield* tooWeak(asOf, options)
          const found = records.flatMap((record) => {
            const fixed = textOf(record)
            return fixed === undefined ? [] : [recordAt(fixed, asOf, params)]
          })
          const isPartial = indexed < 1
          if (!isPartial && asOf.synced) return { records: found, next, missing: undefined, isPartial }
          const missing = isPartial ? stillIndexing(asOf, indexed) : notSynced(asOf, yield* report)
          return { records: found, next, missing, isPartial }
        })
      )

    const findNames = ({ requireProof: asked, ...filter }: FindFilter): Stream.Stream<NameRecord, ReadFailure> =>
      Stream.unwrap(Effect.gen(function*() {
        const { query } = yield* wantedNames(filter, params.network)
        const options = requiring({ requireProof: asked }, { requireProof })
        if (!answers.fromWindow()) return foundInIndexes(query, options)
        const asOf = yield* freshnessFor()
        if (!asOf.synced) return yield* tooWeak(asOf, {})
        const refuse = (weak: Freshness) => tooWeak(weak, options)
        const scan = answers.scanByPrefix({ prefix: query.prefix ?? EMPTY })
        return findScanned(scan, { query, params, asOf, atEnd: freshnessFor(), options, refuse })
      }))

    /** While a window answers, the log is that of the chain behind it, which connects old blocks. */
    const changes = (
      given: ChangeFilter | LiveFilter = {}
    ): Stream.Stream<NameChange | LiveChange, ChangesFailure> =>
      Stream.unwrapScoped(Effect.gen(function*() {
        const wanted = yield* wantedChanges(given, params.network)
        const refusal = moments.refusal()
        if (refusal !== undefined) yield* withoutLive(wanted, refusal)
        const filter = { ...concerning(wanted.filter, wanted, subjects), isMine: subjects.isMine }
        const from = wanted.from === undefined ? yield* events.now : yield* events.cursor(wanted.from)
        const options = { notices: wantsNotices(wanted.filter) }

        const changesIn = (page: EventPage): Effect.Effect<ReadonlyArray<NameChange>, StorageFailure> =>
          Effect.map(answers.fromWindow() ? Effect.succeed(false) : answers.complete, (complete) => {
            const asOf = (height: Height): Freshness =>
              freshnessOf({ height, synced: complete && height >= page.height, proof: "full" })
            return page.events.flatMap((event) => {
              const told = filtered(filter, event)
              return told === undefined || told.type === "block" ? [] : changesOf({ params, asOf }, told)
            })
          })

        const pages: Stream.Stream<LiveStep, EventFailure> = wanted.live.size === 0
          ? Stream.map(events.follow(from, options), (page) => ({ page, live: [] }))
          : followLive(events, yield* moments.open({ kinds: wanted.live, filter }), { from, options })
        return Stream.mapConcatEffect(pages, ({ live, page }) =>
          Effect.map(page === undefined ? Effect.succeed([]) : changesIn(page), (changes) => [
            ...changes,
            ...live.flatMap((event) =>
              liveChangesOf(params.network, event)
            )
          ]))
      }))

    const freshness = Effect.flatMap(report, ({ proof }) => freshnessFor(proof))
    return { resolveName, listNames, findNames, changes, freshness }
  })
