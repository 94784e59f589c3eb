import * as Effect from "effect/Effect"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { Chain } from "../../chain/Chain.ts"
import { expirationDepth } from "../../consensus/expiry.ts"
import { MAX_NAME_LENGTH } from "../../consensus/names.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import type { WrongQuery } from "../../names/errors.ts"
import { type FoundNames, NameDb, type NameEntry, type NameQuery } from "../../names/NameDb.ts"
import { decodeAddress, scriptOf } from "../../protocol/address.ts"
import { type Bytes, toHex } from "../../protocol/bytes.ts"
import { decodeText } from "../../protocol/nameText.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { type Html, html } from "../html.ts"
import type { PageBody } from "../layout.ts"
import { addressLink, nameLink, namesLink } from "../links.ts"
import { behind, type Moment, momentOf, shortExpiry } from "../nameState.ts"
import { headingView, moreView, row, tab } from "../parts.ts"
import { blockView } from "../places.ts"
import type { NameList, NameOrder, Wanted } from "../routes.ts"
import { shortValue } from "../valueView.ts"
import { listedName, visible } from "../visible.ts"
import { makeAddressCoins } from "./addressCoins.ts"
import { scriptKind } from "./scriptWords.ts"

/** Lists of all names in an order, and of one owner's. */

interface NamesListed extends Moment {
  readonly list: NameList
  /** `undefined` while the node has only the last blocks. */
  readonly found: FoundNames | undefined
}

interface AddressFound extends Moment {
  readonly address: string
  readonly script: Bytes
  readonly expired: boolean
  readonly coins: Html
  /** `undefined` while the node has only the last blocks. */
  readonly found: FoundNames | undefined
}

/** Per page. */
const LISTED_NAMES = 50

/** Milliseconds after which a page ends, full or not. */
const WITHIN_MS = 25

const queryOf = ({ expired, order, prefix }: NameList, { params, tipHeight }: Moment): NameQuery | undefined => {
  const begin = decodeText(prefix, "utf8")
  if (begin === undefined) return undefined
  switch (order) {
    case "name":
      return { prefix: begin, includeExpired: expired }
    case "changed":
      return { prefix: begin, includeExpired: expired, newestFirst: true }
    case "expiring":
      return { prefix: begin, expiresWithin: expirationDepth(tipHeight, params) }
  }
}

const LIGHT =
  html`<p>The node has only recent blocks so far. It lists names when it has the whole chain; a single name it can look up now.</p>`

const nameRow = (moment: Moment) => (record: NameEntry): Html =>
  html`<tr>
<th scope="row"><a href="${nameLink(record.name)}">${listedName(record.name)}</a></th>
<td class="value-cell wide">${shortValue(record.value)}</td>
<td class="number wide">${blockView(record.height, grouped(record.height))}</td>
<td class="number">${shortExpiry(record, moment)}</td>
</tr>`

export const namesTable = (records: ReadonlyArray<NameEntry>, moment: Moment): Html =>
  html`<table class="brief names"><caption class="out">Names with their values and expiry</caption>
<thead><tr><th scope="col">Name</th><th scope="col" class="wide">Value</th><th scope="col" class="number wide">Changed in block</th><th scope="col" class="number">Expires</th></tr></thead>
<tbody>${records.map(nameRow(moment))}</tbody>
</table>`

const found = ({ next, records }: FoundNames, moment: Moment, more: (after: string) => string): Html =>
  html`${
    records.length === 0
      ? html`<p class="empty">${next === undefined ? "No names." : "No names on this page; there may be more."}</p>`
      : namesTable(records, moment)
  }${moreView({ label: "Pages of the names", link: next === undefined ? undefined : more(next) })}`

const ORDERS: Readonly<Record<NameOrder, string>> = {
  name: "by name",
  changed: "last changed first",
  expiring: "first to expire first"
}

const NAMESPACES = [["", "All names"], ["d/", "Domains d/"], ["id/", "Identities id/"]] as const

/** Order and namespace are links; only another prefix needs a form. */
const choices = (list: NameList): Html => {
  const { expired, order, prefix } = list
  const orders = Object.entries(ORDERS).flatMap(([key, text]) =>
    key === "name" || key === "changed" || key === "expiring"
      ? [tab(text, { link: namesLink({ order: key, prefix, expired }), isHere: key === order })]
      : []
  )
  return html`<nav class="choices" aria-label="Which names"><ul>${
    NAMESPACES.map(([begin, text]) =>
      tab(text, { link: namesLink({ order, prefix: begin, expired }), isHere: begin === prefix })
    )
  }</ul><ul>${orders}</ul><ul>${
    order !== "expiring" &&
    tab("with expired ones", { link: namesLink({ order, prefix, expired: !expired }), isHere: expired })
  }</ul></nav>
<form class="filter" action="./names" method="get"><label for="prefix">Names that begin with</label><input id="prefix" name="prefix" value="${prefix}" maxlength="${MAX_NAME_LENGTH}" autocomplete="off" autocapitalize="none" spellcheck="false">${
    order !== "name" && html`<input type="hidden" name="order" value="${order}">`
  }${expired && html`<input type="hidden" name="expired" value="1">`}<button type="submit">Show</button></form>`
}

export const namesPage = (listed: NamesListed): Html => {
  const { list, params, syncing, tipHeight } = listed
  // In the first blocks of the chain, names had another term.
  const term = expirationDepth(syncing ? Number.MAX_SAFE_INTEGER : tipHeight, params)
  return html`${behind(listed)}<h1>Names</h1>${choices(list)}<section id="names" class="card" aria-label="Names">${
    listed.found === undefined ? LIGHT : found(listed.found, listed, (after) => namesLink({ ...list, after }))
  }</section><p class="muted">A name expires ${
    quantityOf(term, "block")
  } after its last change, unless its owner renews it.</p>`
}

const addressNames = ({ address, expired, ...listed }: AddressFound): Html =>
  html`<section class="card" aria-labelledby="names-title"><h2 id="names-title">${
    expired ? "Names that it owned until they expired" : "Names that it owns"
  }</h2><nav class="choices" aria-label="Which names"><ul>${
    tab("registered", { link: addressLink(address), isHere: !expired })
  }${tab("expired", { link: addressLink(address, { expired: true }), isHere: expired })}</ul></nav>${
    listed.found === undefined
      ? LIGHT
      : found(listed.found, listed, (after) => addressLink(address, { after, expired }))
  }</section>`

const addressPage = (listed: AddressFound): Html => {
  const { address, coins, script } = listed
  return html`${behind(listed)}${headingView("Address", html`<span class="hash long">${address}</span>`)}
${addressNames(listed)}${coins}
<section class="card" aria-labelledby="script-title"><h2 id="script-title">Script</h2><dl class="record">
${row("Type", html`${scriptKind(script)}`)}
${row("Bytes", html`<code class="break">${toHex(script)}</code>`)}
</dl></section>`
}

type Failure = StorageFailure | WrongQuery

type AddressWanted = Extract<Wanted, { readonly _tag: "Address" }>

export const makeNamesPages = Effect.gen(function*() {
  const { params } = yield* Chain
  const names = yield* NameDb
  const answers = yield* NameAnswers
  const coinsOf = yield* makeAddressCoins
  const readMoment = yield* momentOf

  const find = (asked: NameQuery, cursor: string | undefined, { tipHeight }: Moment) =>
    answers.fromWindow()
      ? Effect.succeed(undefined)
      : names.find(asked, { clock: { tipHeight, params }, limit: LISTED_NAMES, cursor, within: WITHIN_MS })

  const list = ({ list }: { readonly list: NameList }): Effect.Effect<PageBody, Failure> =>
    Effect.gen(function*() {
      const moment = yield* readMoment
      const asked = queryOf(list, moment)
      const nothing: FoundNames = { records: [], next: undefined, indexed: 1 }
      const found = asked === undefined ? nothing : yield* find(asked, list.after, moment)
      const main = namesPage({ ...moment, list, found })
      return { status: 200, title: "Names", at: namesLink(list), now: moment.now, main }
    })

  const address = ({ after, coins, expired, page, text }: AddressWanted): Effect.Effect<PageBody, Failure> =>
    Effect.gen(function*() {
      const moment = yield* readMoment
      const at = addressLink(text, { after, expired, coins, page })
      const decoded = decodeAddress(params.network, text)
      if ("error" in decoded) {
        const main = html`<section class="card"><h1>Not an address</h1><p>${visible(decoded.error)}</p></section>`
        return { status: 404, title: "Not an address", at, now: moment.now, main }
      }
      const script = scriptOf(decoded.destination)
      const found = yield* find({ owner: script, includeExpired: expired && "only" }, after, moment)
      const shown = yield* coinsOf({ address: text, script, coins, page })
      const main = addressPage({ ...moment, address: text, script, expired, coins: shown, found })
      return { status: 200, title: "Address", at, now: moment.now, main }
    })

  return { list, address }
})
