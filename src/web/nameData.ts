import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { unixTime } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import { Mempool } from "../mempool/Mempool.ts"
import { NameDb, type NameEntry, type NameHistoryEntry } from "../names/NameDb.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { nameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { makeDeeds } from "./deeds.ts"

/** The data of the pages about single names. */

export interface PendingOperation {
  /** What it will have done. */
  readonly word: string
  readonly value: Bytes
  readonly txid: Bytes
  /** Time of arrival, seconds since 1970. */
  readonly time: number
}

/** An operation on a name, with the one before it. */
export interface HistoryRow {
  readonly entry: NameHistoryEntry
  /** Of its block, seconds since 1970; `undefined` while the chain lacks the block. */
  readonly time: number | undefined
  /** The operation before, if any. */
  readonly before: NameHistoryEntry | undefined
}

/** The moment, and the rules, for which the state of names is shown. */
export interface Moment {
  /** Seconds since 1970. */
  readonly now: number
  readonly tipHeight: number
  readonly params: ConsensusParams
  /** Whether names are behind the tip: a name that is missing or expired here may exist all the same. */
  readonly syncing: boolean
}

/** A name with all data of its page. */
export interface NameFound extends Moment {
  readonly record: NameEntry
  readonly history: ReadonlyArray<HistoryRow>
  /** Number of operations in the whole history. */
  readonly total: number
  readonly page: number
  readonly pages: number
  readonly pending: ReadonlyArray<PendingOperation>
}

/** Some of the names that begin like the requested one. */
export interface Suggestions {
  readonly records: ReadonlyArray<NameEntry>
  /** Whether there are more. */
  readonly more: boolean
}

/** The data of the page of an unregistered name. */
export interface NameMissing extends Moment {
  readonly pending: ReadonlyArray<PendingOperation>
  readonly suggestions: Suggestions
}

/** Operations on a page of history, and unconfirmed operations. */
const HISTORY_ROWS = 20
const PENDING_ROWS = 10

/** Suggested names, in total and for each meaning of a text. */
const SUGGESTIONS = 20

const SUGGESTIONS_EACH = 10

export interface NameReader {
  /** `undefined` for a page behind the last. */
  readonly name: (
    name: Bytes,
    page: number
  ) => Effect.Effect<NameFound | NameMissing | undefined, StorageFailure>
  /** Names that begin with one of the texts, each once, without known ones. */
  readonly beginningWith: (
    prefixes: ReadonlyArray<Bytes>,
    known: ReadonlyArray<NameEntry>
  ) => Effect.Effect<Suggestions, StorageFailure>
}

/** Makes the effect that reads the moment of the name index: it may be ahead of a chain that is being rebuilt. */
export const momentOf: Effect.Effect<Effect.Effect<Moment, StorageFailure>, never, Chain | NameAnswers> = Effect.gen(
  function*() {
    const { params } = yield* Chain
    const answers = yield* NameAnswers
    return Effect.gen(function*() {
      return {
        now: yield* unixTime,
        tipHeight: yield* answers.height,
        params,
        syncing: !(yield* answers.complete)
      }
    })
  }
)

/** Makes the reader of names for their pages. */
export const makeNameReader: Effect.Effect<
  NameReader,
  never,
  Chain | Mempool | NameAnswers | NameDb
> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const pool = yield* Mempool
    const answers = yield* NameAnswers

    const deeds = yield* makeDeeds
    const moment = yield* momentOf

    const pendingOn = (name: Bytes): Effect.Effect<ReadonlyArray<PendingOperation>> =>
      Effect.map(
        Effect.forEach(pool.pending(nameKey(name)).slice(0, PENDING_ROWS), (entry) =>
          Effect.map(deeds.waiting(entry), (worded) => {
            const { operation, word } = worded ?? {}
            return operation === undefined || operation.op === "name_new" || word === undefined
              ? []
              : [{ word, value: operation.value, txid: entry.transaction.txid, time: entry.time }]
          })),
        (found) =>
          found.flat()
      )

    const beginningWith: NameReader["beginningWith"] = (prefixes, known) =>
      Effect.gen(function*() {
        const seen = new Set(known.map(({ name }) => nameKey(name)))
        const records: Array<NameEntry> = []
        let more = false
        for (const prefix of prefixes) {
          // The prefix itself may be a found name, and one more shows whether there are others.
          const some = Chunk.toReadonlyArray(
            yield* Stream.runCollect(answers.scanByPrefix({ prefix, count: SUGGESTIONS_EACH + 2 }))
          ).map(({ record }) => record).filter(({ name }) => !seen.has(nameKey(name)))
          const taken = some.slice(0, Math.min(SUGGESTIONS_EACH, SUGGESTIONS - records.length))
          if (taken.length < some.length) more = true
          for (const record of taken) {
            records.push(record)
            seen.add(nameKey(record.name))
          }
        }
        return { records, more } satisfies Suggestions
      })

    const rowsOf = (entries: ReadonlyArray<NameHistoryEntry>) =>
      Effect.forEach(
        entries.slice(0, HISTORY_ROWS),
        (entry, at) =>
          Effect.map(chain.headerAt(entry.height), (info) => ({
            entry,
            time: info?.header.time,
            before: entries[at + 1]
          }))
      )

    const missing = (name: Bytes): Effect.Effect<NameMissing, StorageFailure> =>
      Effect.gen(function*() {
        const suggestions = yield* beginningWith(name.length === 0 ? [] : [name], [])
        return { ...(yield* moment), pending: yield* pendingOn(name), suggestions }
      })

    /** The page of a window shows the newest operation alone: those before it are incomplete, and have no times. */
    const inWindow = (record: NameEntry): Effect.Effect<NameFound, StorageFailure> =>
      Effect.map(Effect.all([moment, pendingOn(record.name)]), ([now, pending]) => ({
        ...now,
        record,
        history: [{ entry: { ...record, rand: undefined }, time: undefined, before: undefined }],
        total: 1,
        page: 1,
        pages: 1,
        pending
      }))

    const found = (name: Bytes, page: number): Effect.Effect<NameFound | NameMissing | undefined, StorageFailure> =>
      Effect.gen(function*() {
        const answer = yield* answers.resolve(name)
        if (answer === undefined) return yield* missing(name)
        const { record } = answer
        if (answers.fromWindow()) return page === 1 ? yield* inWindow(record) : undefined
        // One more, which shows what the last of them changed.
        const { entries, total } = yield* names.historyPage(name, {
          skip: (page - 1) * HISTORY_ROWS,
          count: HISTORY_ROWS + 1
        })
        if (entries.length === 0) return undefined
        return {
          ...(yield* moment),
          record,
          history: yield* rowsOf(entries),
          total,
          page,
          pages: Math.ceil(total / HISTORY_ROWS),
          pending: yield* pendingOn(name)
        }
      }).pipe(Effect.catchTag("NameNotFound", () => missing(name)))

    return { name: found, beginningWith }
  }
)
