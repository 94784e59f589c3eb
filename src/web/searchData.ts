import * as Effect from "effect/Effect"
import { Chain } from "../chain/Chain.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import type { WrongQuery } from "../names/errors.ts"
import { type FoundNames, NameDb, type NameEntry } from "../names/NameDb.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { queryMeant } from "./findData.ts"
import type { PageOfSearch } from "./links.ts"
import { type Moment, momentOf, type NameReader, type Suggestions } from "./nameData.ts"
import { namesMeant } from "./namesMeant.ts"
import { type FoundPlace, placeMeant } from "./placesMeant.ts"

/** The data of the pages of a search. */

export interface SearchFound extends Moment {
  /** Names that the text may mean. */
  readonly exact: ReadonlyArray<NameEntry>
  /** The block, transaction or address that the text may mean. */
  readonly place: FoundPlace | undefined
  readonly suggestions: Suggestions
  /** Names that say the text; `undefined` for one that is too short, and while the whole chain is not there. */
  readonly saying: FoundNames | undefined
  /** Whether the meaning of the text was guessed: only on the first page, and not for `ip:192.0.2.1`. */
  readonly guessed: boolean
}

/** Names on a page of a search. */
const FOUND_ROWS = 50

const NO_SUGGESTIONS: Suggestions = { records: [], more: false }

export interface SearchParts {
  readonly beginningWith: NameReader["beginningWith"]
  /** Whether the node knows where a transaction is. */
  readonly isTransaction: (txid: Bytes) => Effect.Effect<boolean, StorageFailure>
}

/** `after`: the cursor of the page before, of the same search; `undefined` for the first page. */
export type Searcher = (page: PageOfSearch) => Effect.Effect<SearchFound, StorageFailure | WrongQuery>

export const makeSearcher = (
  { beginningWith, isTransaction }: SearchParts
): Effect.Effect<Searcher, never, Chain | NameAnswers | NameDb> =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const answers = yield* NameAnswers
    const moment = yield* momentOf
    const { params } = chain

    const placeOf = (text: string): Effect.Effect<FoundPlace | undefined, StorageFailure> =>
      Effect.gen(function*() {
        const meant = placeMeant(text, params.network)
        switch (meant?._tag) {
          case "Height": {
            const info = yield* chain.headerAt(meant.height)
            return info === undefined ? undefined : { _tag: "Block", height: info.height, hash: info.hash }
          }
          case "Hash": {
            const info = yield* Effect.orElseSucceed(chain.header(meant.hash), () => undefined)
            if (info !== undefined) return { _tag: "Block", height: info.height, hash: info.hash }
            return (yield* isTransaction(meant.hash)) ? { _tag: "Transaction", txid: meant.hash } : undefined
          }
        }
        return meant
      })

    return ({ after, text }) =>
      Effect.gen(function*() {
        const asked = queryMeant(text, params.network)
        const now = yield* moment
        const saying = asked === undefined || answers.fromWindow()
          ? undefined
          : yield* names.find({ ...asked.query, includeExpired: true }, {
            clock: { tipHeight: now.tipHeight, params },
            limit: FOUND_ROWS,
            cursor: after
          })
        if (after !== undefined || asked?.certain === true) {
          return { ...now, exact: [], place: undefined, suggestions: NO_SUGGESTIONS, saying, guessed: false }
        }
        const meant = namesMeant(text)
        const exact: Array<NameEntry> = []
        for (const name of meant) {
          const answer = yield* answers.resolve(name)
          if (answer !== undefined) exact.push(answer.record)
        }
        const place = yield* placeOf(text)
        return { ...now, exact, place, suggestions: yield* beginningWith(meant, exact), saying, guessed: true }
      })
  })
