import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { domainToASCII } from "node:url"
import { unixTime } from "../base/clock.ts"
import { Chain } from "../chain/Chain.ts"
import type { ConsensusParams } from "../consensus/params.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import { Mempool } from "../mempool/Mempool.ts"
import type { WrongQuery } from "../names/errors.ts"
import { NameDb, type NameEntry, type NameHistoryEntry } from "../names/NameDb.ts"
import { type Bytes, fromHex } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import type { NameSetting } from "../protocol/nameOperation.ts"
import { decodeText } from "../protocol/nameText.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { queryMeant } from "./findData.ts"
import type { PageOfSearch } from "./links.ts"

/** The possible meanings of a text in the search field. */

const HEX = /^0x((?:[0-9a-f]{2})+)$/i

/** The host of an address, without port and path. */
const HOST = /^(?:[a-z][a-z0-9+.-]*:\/\/)?([^/?#:\s]+\.bit)\.?(?::\d+)?(?:[/?#].*)?$/i

/** The label of a domain: the last one before `.bit`. */
const domainLabel = (host: string): string => host.slice(0, -".bit".length).split(".").pop() ?? ""

const ASCII = /^[\0-\x7f]*$/

/** A label as names have it: in lower case, with letters beyond ASCII in the encoding of DNS. */
const asciiLabel = (label: string): string => {
  const lower = label.toLowerCase()
  if (ASCII.test(lower)) return lower
  // The conversion would make an IP address of a label that looks like a number.
  const host = domainToASCII(`${lower}.bit`)
  return host.endsWith(".bit") ? host.slice(0, -".bit".length) : lower
}

const guesses = (typed: string): ReadonlyArray<string> => {
  const host = HOST.exec(typed)?.[1]
  if (host !== undefined) return [`d/${asciiLabel(domainLabel(host))}`]
  if (typed.includes("/")) return [typed.toLowerCase()]
  return [`d/${asciiLabel(typed)}`, `id/${typed.toLowerCase()}`]
}

/**
 * The names that a text may mean, the likeliest first: the text itself; hex bytes behind `0x`; the domain of
 * `example.bit`, of a host below it or of an address there; without a namespace, the domain and the identity.
 */
export const namesMeant = (text: string): ReadonlyArray<Bytes> => {
  const typed = text.trim()
  const hex = HEX.exec(typed)?.[1]
  const candidates = [text, typed, ...guesses(typed)].map((each) => decodeText(each, "utf8"))
  const found = new Map<NameKey, Bytes>()
  for (const name of [...candidates, hex === undefined ? undefined : fromHex(hex)]) {
    if (name !== undefined && name.length > 0 && !found.has(nameKey(name))) found.set(nameKey(name), name)
  }
  return [...found.values()]
}

export interface PendingOperation {
  readonly op: NameSetting["op"]
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

/** A page of the names that say what was searched for. */
export interface Saying {
  readonly records: ReadonlyArray<NameEntry>
  /** The cursor of the next page. */
  readonly next: string | undefined
  /** Which part of the names is searched, from 0 to 1. */
  readonly indexed: number
}

export interface SearchFound extends Moment {
  /** Names that the text may mean. */
  readonly exact: ReadonlyArray<NameEntry>
  readonly suggestions: Suggestions
  /** `undefined` for a text that is too short to search for, and while the whole chain is not there. */
  readonly saying: Saying | undefined
  /** Whether names that the text may mean were looked for: only on the first page, and not for `ip:192.0.2.1`. */
  readonly guessed: boolean
}

/** Operations on a page of history, and unconfirmed operations. */
const HISTORY_ROWS = 20
const PENDING_ROWS = 10

/** Suggested names, in total and for each meaning of a text. */
const SUGGESTIONS = 20

/** Names on a page of a search. */
const FOUND_ROWS = 50
const SUGGESTIONS_EACH = 10

export interface NameReader {
  /** `undefined` for a page behind the last. */
  readonly name: (
    name: Bytes,
    page: number
  ) => Effect.Effect<NameFound | NameMissing | undefined, StorageFailure>
  /** `after`: the cursor of the page before, of the same search; `undefined` for the first page. */
  readonly search: (page: PageOfSearch) => Effect.Effect<SearchFound, StorageFailure | WrongQuery>
}

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
    const { params } = chain

    /** The moment of the name index: it may be ahead of a chain that is being rebuilt. */
    const moment: Effect.Effect<Moment, StorageFailure> = Effect.gen(function*() {
      return {
        now: yield* unixTime,
        tipHeight: yield* answers.height,
        params,
        syncing: !(yield* answers.complete)
      }
    })

    const pendingOn = (name: Bytes): ReadonlyArray<PendingOperation> =>
      pool.pending(nameKey(name)).slice(0, PENDING_ROWS).flatMap(({ name: made, time, transaction }) => {
        const operation = made?.script.operation
        return operation === undefined || operation.op === "name_new"
          ? []
          : [{ op: operation.op, value: operation.value, txid: transaction.txid, time }]
      })

    /** Names that begin with one of the texts, each once, without known ones. */
    const beginningWith = (prefixes: ReadonlyArray<Bytes>, known: ReadonlyArray<NameEntry>) =>
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
        return { ...(yield* moment), pending: pendingOn(name), suggestions }
      })

    /** A window has the newest operation alone. */
    const inWindow = (record: NameEntry): Effect.Effect<NameFound, StorageFailure> =>
      Effect.map(moment, (now) => ({
        ...now,
        record,
        history: [{ entry: { ...record, rand: undefined }, time: undefined, before: undefined }],
        total: 1,
        page: 1,
        pages: 1,
        pending: pendingOn(record.name)
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
          pending: pendingOn(name)
        }
      }).pipe(Effect.catchTag("NameNotFound", () => missing(name)))

    const search: NameReader["search"] = ({ after, text }) =>
      Effect.gen(function*() {
        const asked = queryMeant(text, params.network)
        const now = yield* moment
        const saying: Saying | undefined = asked === undefined || answers.fromWindow()
          ? undefined
          : yield* names.find({ ...asked.query, includeExpired: true }, {
            clock: { tipHeight: now.tipHeight, params },
            limit: FOUND_ROWS,
            cursor: after
          })
        if (after !== undefined || asked?.certain === true) {
          return { ...now, exact: [], suggestions: { records: [], more: false }, saying, guessed: false }
        }
        const meant = namesMeant(text)
        const exact: Array<NameEntry> = []
        for (const name of meant) {
          const answer = yield* answers.resolve(name)
          if (answer !== undefined) exact.push(answer.record)
        }
        return { ...now, exact, suggestions: yield* beginningWith(meant, exact), saying, guessed: true }
      })

    return { name: found, search }
  }
)
