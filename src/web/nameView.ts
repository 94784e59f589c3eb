import { grouped } from "../base/quantities.ts"
import type { NameEntry } from "../names/NameDb.ts"
import { blocksToExpiry } from "../names/NameEntry.ts"
import { amountText } from "../protocol/amount.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import { operationWord } from "../protocol/operationWord.ts"
import { ago, dated } from "./format.ts"
import { type Html, html, NOTHING } from "./html.ts"
import { nameEventsLink, nameLink } from "./links.ts"
import { lintView } from "./lintView.ts"
import type { HistoryRow, Moment, NameFound, NameMissing, PendingOperation, Suggestions } from "./nameData.ts"
import { expiry, kindOfName, ownerOf, stateBadge } from "./nameState.ts"
import { pagesView, row } from "./parts.ts"
import { blockView, shortTransaction, transactionView } from "./places.ts"
import { listedValue, valueView } from "./valueView.ts"
import { listedName, wholeName } from "./visible.ts"

/** The pages about one name, as HTML. The ids of the sections show the script what to replace. */

const isPlain = (name: Bytes): boolean => encodeText(name, "ascii") !== undefined

/** Bytes of a name above which its heading is set smaller. */
const LONG_NAME = 40

const heading = (name: Bytes, badge: Html): Html =>
  html`<header class="name-head"><p class="muted">${kindOfName(name)}</p><h1 class="${
    name.length > LONG_NAME ? "long" : "short"
  }">${wholeName(name)} ${badge}</h1></header>`

/** Bytes of a name that are shown in hexadecimal. */
const HEX_BYTES = 512

const nameHex = (name: Bytes): Html =>
  html`<code class="break">${toHex(name.subarray(0, HEX_BYTES))}${name.length > HEX_BYTES && "…"}</code>`

const record = (found: NameFound): Html => {
  const { record, total } = found
  const last = found.page === 1 ? found.history[0] : undefined
  const time = last?.time
  const left = blocksToExpiry(record, found)
  return html`<section id="record" class="card" aria-labelledby="record-title"><h2 id="record-title">Record</h2>
<dl class="record">
${row(left <= 0 ? "Expired" : "Expires", expiry(record, found))}
${row("Owner", ownerOf(found.params.network, record.address))}
${
    row(
      "Last operation",
      html`${last === undefined ? "" : `${deed(last, found.params)}, `}${blockView(record.height)}${
        time !== undefined && html`, ${dated(time, { now: found.now })}`
      }`
    )
  }
${
    row(
      "Transaction",
      html`${transactionView(record.txid, { block: record.height })}, output ${record.vout}`
    )
  }
${row(left <= 0 ? "Was locked" : "Locked", html`${amountText(record.amount)}`)}
${row("Operations", html`${grouped(total)}, <a href="${nameEventsLink(record.name)}">follow its changes</a>`)}
${!isPlain(record.name) && row("Bytes", nameHex(record.name))}
</dl></section>`
}

const pendingRow = (now: number) => ({ time, txid, value, word }: PendingOperation, at: number): Html =>
  html`<li><span><span class="badge busy">pending</span> ${word}, seen ${ago(time, { now })}, ${
    shortTransaction(txid)
  }</span>${listedValue(value, `pending-${at}`)}</li>`

const pending = (operations: ReadonlyArray<PendingOperation>, now: number): Html =>
  operations.length === 0 ? NOTHING : html`<section id="pending" class="card" aria-labelledby="pending-title">
<h2 id="pending-title">Waiting for a block</h2>
<ul class="operations">${operations.map(pendingRow(now))}</ul></section>`

/** What an operation did. The addresses are in a column of their own. */
const deed = ({ before, entry }: HistoryRow, { network }: Moment["params"]): string =>
  operationWord(network, entry, before)

const historyRow = ({ now, params }: Moment) => (each: HistoryRow, at: number): Html => {
  const { entry, time } = each
  return html`<tr>
<th scope="row">${blockView(entry.height, grouped(entry.height))}</th>
<td data-label="Time">${time === undefined ? "–" : dated(time, { now })}</td>
<td data-label="Operation">${deed(each, params)}</td>
<td data-label="Value" class="value-cell broad">${listedValue(entry.value, `value-${at}`)}</td>
<td data-label="Owner" class="owner-cell broad">${ownerOf(params.network, entry.address)}</td>
<td data-label="Transaction" class="broad">${shortTransaction(entry.txid, { block: entry.height })}</td>
</tr>`
}

const pager = ({ page, pages, record: { name } }: NameFound): Html =>
  pagesView(
    { page, pages, label: "Pages of the history", words: ["Newer", "Older"] },
    (page) => nameLink(name, { page })
  )

const history = (found: NameFound): Html =>
  html`<section id="history" class="card" aria-labelledby="history-title"><h2 id="history-title">History</h2>
<table class="stack history"><caption class="out">Operations on this name, the newest first</caption>
<thead><tr><th scope="col">Height</th><th scope="col">Time</th><th scope="col">Operation</th><th scope="col">Value</th><th scope="col">Owner</th><th scope="col">Transaction</th></tr></thead>
<tbody>${found.history.map(historyRow(found))}</tbody>
</table>${pager(found)}</section>`

export const behind = ({ syncing, tipHeight }: Moment): Html =>
  syncing
    ? html`<p class="note busy">The node is still syncing: what follows is as of block ${grouped(tipHeight)}.</p>`
    : NOTHING

/** A name that is, or was, registered. */
export const nameView = (found: NameFound, full: boolean): Html => {
  const { record: { name, value } } = found
  return html`${behind(found)}${heading(name, stateBadge(found.record, found))}
<section id="value" class="card" aria-labelledby="value-title"><h2 id="value-title">Value</h2>${
    valueView(value, full, nameLink(name, { full: true }))
  }</section>
${lintView(name, value)}${pending(found.pending, found.now)}${record(found)}${history(found)}`
}

export const listedRecord = (moment: Moment) => (record: NameEntry): Html =>
  html`<li><a href="${nameLink(record.name)}">${listedName(record.name)}</a><span class="what">${
    stateBadge(record, moment)
  } <span>last changed at block ${grouped(record.height)}</span></span></li>`

export const suggestions = (found: Moment & { readonly suggestions: Suggestions }): Html =>
  found.suggestions.records.length === 0 ? NOTHING : html`<section class="card" aria-labelledby="like-title">
<h2 id="like-title">Names that begin like this</h2>
<ul class="operations">${found.suggestions.records.map(listedRecord(found))}</ul>${
    found.suggestions.more && html`<p class="muted">There are more: type more letters.</p>`
  }</section>`

export const absent = (moment: Moment): Html =>
  moment.syncing
    ? html`<p>No block up to ${
      grouped(moment.tipHeight)
    } registers this name. The node is still syncing: it may be in a later one.</p>`
    : html`<p>No block up to ${grouped(moment.tipHeight)} registers this name.</p>`

export const missingView = (name: Bytes, missing: NameMissing): Html =>
  html`${heading(name, html`<span class="badge">${missing.syncing ? "not known yet" : "not registered"}</span>`)}
<section class="card">${absent(missing)}</section>${pending(missing.pending, missing.now)}${suggestions(missing)}`
