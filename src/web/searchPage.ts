import * as Effect from "effect/Effect"
import { grouped } from "../base/quantities.ts"
import { Chain } from "../chain/Chain.ts"
import { isExpired } from "../consensus/expiry.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import type { WrongQuery } from "../names/errors.ts"
import { type FoundNames, NameDb, type NameEntry, type NameQuery } from "../names/NameDb.ts"
import { decodeAddress, scriptOf } from "../protocol/address.ts"
import type { Network } from "../protocol/networks.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { namesMeant, readName } from "../values/readName.ts"
import { foldedText, itemSearch, SHORTEST_TEXT } from "../values/searchable.ts"
import { namesTable } from "./explorer/namesPage.ts"
import type { TransactionReader } from "./explorer/transactionData.ts"
import { type Html, html, NOTHING } from "./html.ts"
import type { PageBody } from "./layout.ts"
import { addressLink, blockLink, nameLink, type PageOfSearch, searchLink, transactionLink } from "./links.ts"
import { absent, type Moment, momentOf, notFound } from "./nameState.ts"
import { moreView, tab } from "./parts.ts"
import { type FoundPlace, placeMeant } from "./placeMeant.ts"
import { addressView, blockView, transactionView } from "./places.ts"
import { listedRecord, makeSuggestions, type Suggestions, suggestions } from "./suggestions.ts"
import { listedName, visible } from "./visible.ts"

interface FieldQuery {
  readonly query: NameQuery
  /** The text can only be a search, not a name. */
  readonly certain: boolean
}

/** Such as `ip:192.0.2.1`, `owner:` or `text:`; otherwise the text itself. `undefined` if too short. */
const queryMeant = (text: string, network: Network): FieldQuery | undefined => {
  const typed = text.trim()
  const { by, rest = "" } = itemSearch(typed) ?? {}
  if (by !== undefined && by !== "owner" && by !== "text") {
    return { query: { key: by, value: rest === "" ? undefined : rest }, certain: true }
  }
  if (by === "owner") {
    const parsed = decodeAddress(network, rest)
    if (!("error" in parsed)) return { query: { owner: scriptOf(parsed.destination) }, certain: true }
  }
  const part = by === "text" ? rest : typed
  return Array.from(foldedText(part)).length < SHORTEST_TEXT
    ? undefined
    : { query: { text: part }, certain: by === "text" }
}

interface SearchFound extends Moment {
  readonly exact: ReadonlyArray<NameEntry>
  readonly place: FoundPlace | undefined
  readonly suggestions: Suggestions
  /** `undefined` for a text that is too short, and while blocks are missing. */
  readonly saying: FoundNames | undefined
  /** Guessed only on the first page of registered names, and not for `ip:192.0.2.1`. */
  readonly guessed: boolean
}

const FOUND_ROWS = 50

const NO_SUGGESTIONS: Suggestions = { records: [], more: false }

/** What a list without rows says. An index that is not complete decides nothing. */
const noneText = ({ indexed, next }: FoundNames, expired: boolean): string => {
  if (next !== undefined) return "No names on this page; there may be more."
  const what = expired ? "expired name" : "registered name"
  return indexed < 1
    ? `No ${what} found so far.`
    : `No ${what} contains this text, in the name or in its value.`
}

const buildingNote = (indexed: number): Html =>
  html`<p class="note busy">The index of texts is being built: it has ${
    Math.floor(100 * indexed)
  } % of the names so far, and this list has none of the others.</p>`

const saying = ({ expired = false, text }: PageOfSearch, found: SearchFound): Html => {
  if (found.saying === undefined) return NOTHING
  const { indexed, next, records } = found.saying
  return html`<section class="card" aria-labelledby="saying-title"><h2 id="saying-title">Names and values with this text</h2><nav class="choices" aria-label="Which names"><ul>${
    tab("registered", { link: searchLink({ text }), isHere: !expired })
  }${tab("expired", { link: searchLink({ text, expired: true }), isHere: expired })}</ul></nav>${
    indexed < 1 && buildingNote(indexed)
  }${
    records.length === 0 ? html`<p class="empty">${noneText(found.saying, expired)}</p>` : namesTable(records, found)
  }${
    moreView({
      label: "Pages of the search",
      link: next === undefined ? undefined : searchLink({ text, expired, after: next })
    })
  }<p class="muted">Searched in names and values. For one kind of item, begin with its prefix: <code>ip:192.0.2.1</code>, or <code>ns:</code>, <code>email:</code>, <code>nostr:</code>, <code>tor:</code>, <code>owner:</code>. For any text: <code>text:</code>.</p></section>`
}

const placeItem = (place: FoundPlace): Html => {
  switch (place._tag) {
    case "Block":
      return html`<li>${
        blockView(place.height, `Block ${grouped(place.height)}`)
      }<span class="what">of the chain</span></li>`
    case "Transaction":
      return html`<li>${transactionView(place.txid)}<span class="what">a transaction</span></li>`
    case "Address":
      return html`<li>${addressView(place.address)}<span class="what">an address, with its names</span></li>`
  }
}

const missingBlock = (text: string, { params, syncing, tipHeight }: SearchFound): Html => {
  const meant = placeMeant(text, params.network)
  return meant?._tag !== "Height" ?
    NOTHING :
    html`<p>Block ${grouped(meant.height)} does not exist${syncing && " yet"}; the latest is ${
      blockView(tipHeight, grouped(tipHeight))
    }.</p>`
}

/** How the text was read, and where the name that it means can be registered. */
const readingView = (text: string): Html => {
  const read = readName(text)
  if (read._tag === "Unread") return html`<p>${visible(read.why)}</p>`
  return html`<p>Read as ${visible(read.what)}: <a href="${nameLink(read.name)}">${listedName(read.name)}</a>.</p>`
}

const meanings = (text: string, found: SearchFound): Html => {
  const { exact, guessed, place, syncing } = found
  if (!guessed) return NOTHING
  if (exact.length === 0 && place === undefined) {
    // The names that say it are the answer.
    if ((found.saying?.records.length ?? 0) > 0) return NOTHING
    return html`<section class="card" aria-labelledby="meant-title"><h2 id="meant-title">${
      syncing ? "Not known yet" : "No such name"
    }</h2>${missingBlock(text, found)}${readingView(text)}${absent(found)}</section>`
  }
  return html`<section class="card" aria-labelledby="meant-title"><h2 id="meant-title">Possible matches</h2><ul class="operations">${
    place !== undefined && placeItem(place)
  }${exact.map(listedRecord(found))}</ul></section>`
}

/** Unless the search has only one meaning. */
const searchView = (asked: PageOfSearch, found: SearchFound): Html =>
  html`<h1>Search for ${html`<bdi class="name">${visible(asked.text)}</bdi>`}</h1>
${meanings(asked.text, found)}${suggestions(found)}${saying(asked, found)}`

const placeLink = (place: FoundPlace): string => {
  switch (place._tag) {
    case "Block":
      return blockLink(place.height)
    case "Transaction":
      return transactionLink(place.txid)
    case "Address":
      return addressLink(place.address)
  }
}

const isNothing = ({ exact, guessed, place, saying }: SearchFound): boolean =>
  guessed && exact.length === 0 && place === undefined && (saying?.records.length ?? 0) === 0

/** While names or their texts are missing, a later search may find something. */
const isEarly = ({ saying, syncing }: SearchFound): boolean => syncing || saying !== undefined && saying.indexed < 1

/** `undefined` for no or several meanings. */
const onlyMeaning = ({ exact, place }: SearchFound): string | undefined => {
  const links = [...(place === undefined ? [] : [placeLink(place)]), ...exact.map(({ name }) => nameLink(name))]
  return links.length === 1 ? links[0] : undefined
}

/** Redirects to the only meaning, or makes a page. `isTransaction`: whether the node can locate a transaction. */
export const makeSearchPage = (isTransaction: TransactionReader["isKnown"]) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const answers = yield* NameAnswers
    const moment = yield* momentOf
    const beginningWith = yield* makeSuggestions
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

    /** `after`: the cursor of the preceding page of the same search. */
    const search = (
      { after, expired = false, text }: PageOfSearch
    ): Effect.Effect<SearchFound, StorageFailure | WrongQuery> =>
      Effect.gen(function*() {
        const asked = queryMeant(text, params.network)
        const now = yield* moment
        const saying = asked === undefined || answers.fromWindow()
          ? undefined
          : yield* names.find({ ...asked.query, includeExpired: expired && "only" }, {
            clock: { tipHeight: now.tipHeight, params },
            limit: FOUND_ROWS,
            cursor: after
          })
        if (after !== undefined || expired || asked?.certain === true) {
          return { ...now, exact: [], place: undefined, suggestions: NO_SUGGESTIONS, saying, guessed: false }
        }
        const meant = namesMeant(text)
        const exact: Array<NameEntry> = []
        for (const name of meant) {
          const answer = yield* answers.resolve(name)
          if (answer !== undefined) exact.push(answer.record)
        }
        const isGone = (record: NameEntry) => Number(isExpired(record, now.tipHeight, params))
        exact.sort((a, b) => isGone(a) - isGone(b))
        const place = yield* placeOf(text)
        return { ...now, exact, place, suggestions: yield* beginningWith(meant, exact), saying, guessed: true }
      })

    return (asked: PageOfSearch): Effect.Effect<string | PageBody, StorageFailure | WrongQuery> =>
      Effect.map(search(asked), (found) =>
        onlyMeaning(found) ?? {
          ...(isNothing(found) ? notFound({ syncing: isEarly(found) }) : { status: 200 }),
          title: "Search",
          searched: asked.text,
          now: found.now,
          main: searchView(asked, found)
        })
  })
