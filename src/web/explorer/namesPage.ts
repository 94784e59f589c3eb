import { grouped, quantityOf } from "../../base/quantities.ts"
import { expirationDepth } from "../../consensus/expiry.ts"
import type { FoundNames, NameEntry } from "../../names/NameDb.ts"
import { toHex } from "../../protocol/bytes.ts"
import { type Html, html } from "../html.ts"
import { addressLink, nameLink, namesLink } from "../links.ts"
import type { Moment } from "../nameData.ts"
import { shortExpiry } from "../nameState.ts"
import { headingView, moreView, row, tab } from "../parts.ts"
import { blockView } from "../places.ts"
import type { NameList, NameOrder } from "../routes.ts"
import { shortValue } from "../valueView.ts"
import { listedName } from "../visible.ts"
import type { AddressFound, NamesListed } from "./namesData.ts"
import { scriptKind } from "./scriptWords.ts"

/** Lists of names as HTML. */

const LIGHT =
  html`<p>The node has only the last blocks so far. It lists names when it has the whole chain; a single name it can look up now.</p>`

const nameRow = (moment: Moment) => (record: NameEntry): Html =>
  html`<tr>
<th scope="row"><a href="${nameLink(record.name)}">${listedName(record.name)}</a></th>
<td data-label="" class="value-cell broad">${shortValue(record.value)}</td>
<td data-label="Changed" class="number">${blockView(record.height, grouped(record.height))}</td>
<td data-label="Expires" class="number">${shortExpiry(record, moment)}</td>
</tr>`

/** Names with their values, and until when they live. */
export const namesTable = (records: ReadonlyArray<NameEntry>, moment: Moment): Html =>
  html`<table class="stack names"><caption class="out">Names with their values and expiry</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Value</th><th scope="col" class="number">Changed</th><th scope="col" class="number">Expires</th></tr></thead>
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

/** The order and the namespace are links; only another beginning of names needs a form. */
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
<form class="filter" action="./names" method="get"><label for="prefix">Names that begin with</label><input id="prefix" name="prefix" value="${prefix}" maxlength="255" autocomplete="off" autocapitalize="none" spellcheck="false">${
    order !== "name" && html`<input type="hidden" name="order" value="${order}">`
  }${expired && html`<input type="hidden" name="expired" value="1">`}<button type="submit">Show</button></form>`
}

export const namesPage = (listed: NamesListed): Html => {
  const { list, params, syncing, tipHeight } = listed
  // The first blocks of the chain had another term than the names of today.
  const term = expirationDepth(syncing ? Number.MAX_SAFE_INTEGER : tipHeight, params)
  return html`<h1>Names</h1>${choices(list)}<section id="names" class="card" aria-label="Names">${
    listed.found === undefined ? LIGHT : found(listed.found, listed, (after) => namesLink({ ...list, after }))
  }</section><p class="muted">A name expires ${
    quantityOf(term, "block")
  } after its last change, unless its owner renews it.</p>`
}

export const addressPage = (listed: AddressFound): Html => {
  const { address, script } = listed
  return html`${headingView("Address", html`<span class="hash long">${address}</span>`)}
<section class="card" aria-labelledby="names-title"><h2 id="names-title">Names that it owns</h2>${
    listed.found === undefined ? LIGHT : found(listed.found, listed, (after) => addressLink(address, { after }))
  }</section>
<section class="card" aria-labelledby="script-title"><h2 id="script-title">Script</h2><dl class="record">
${row("Form", html`${scriptKind(script)}`)}
${row("Bytes", html`<code class="break">${toHex(script)}</code>`)}
</dl></section>
<section class="card" aria-labelledby="coins-title"><h2 id="coins-title">Coins</h2><p class="muted">The node has no index of the coins of addresses. <code>scantxoutset</code> finds the coins that are there now, and a wallet keeps a list of its own.</p></section>`
}
