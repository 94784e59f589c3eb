import { expirationDepth } from "../consensus/expiry.ts"
import type { NameEntry } from "../names/NameDb.ts"
import { addressOf } from "../protocol/address.ts"
import { type Bytes, displayHash, equal, toHex } from "../protocol/bytes.ts"
import { addressScript } from "../protocol/nameOperation.ts"
import { bitDomainOf, classify, encodeText, type NameClass } from "../protocol/nameText.ts"
import type { Network } from "../protocol/networks.ts"
import { JsonObject } from "../rpc/json/json.ts"
import { parseJson } from "../rpc/json/readJson.ts"
import { ago, amountText, count, counted, day, distance, shortHash } from "./format.ts"
import { type Html, html, NOTHING } from "./html.ts"
import { nameLink, searchLink } from "./links.ts"
import { lintView } from "./lintView.ts"
import type {
  HistoryRow,
  Moment,
  NameFound,
  NameMissing,
  PendingOperation,
  SearchFound,
  Suggestions
} from "./nameData.ts"
import { firstOf, listedName, visible, wholeName } from "./visible.ts"

/** Depth of nested arrays and objects that are still indented. */
const MAX_DEPTH = 24

/** Longest text that is indented, in characters; the rules allow a value some thousand. */
const MAX_LENGTH = 16_384

const INDENT = "  "

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs

/** Puts every member and item on a line of its own. The tokens stay unchanged. */
const indent = (text: string): string | undefined => {
  const tokens = text.match(TOKENS) ?? []
  let out = ""
  let depth = 0
  for (const [at, token] of tokens.entries()) {
    const opens = token === "{" || token === "["
    const closes = token === "}" || token === "]"
    const before = tokens[at - 1] ?? ""
    const isFirst = before === "{" || before === "["
    if (closes) depth--
    if (closes ? !isFirst : isFirst || before === ",") out += `\n${INDENT.repeat(depth)}`
    if (opens && ++depth > MAX_DEPTH) return undefined
    out += token === ":" ? ": " : token
  }
  return out
}

/**
 * Formats a JSON object or array: indented, and otherwise unchanged, with its numbers, escapes and repeated members.
 * `undefined` for any other text, or one that is too long or too deep.
 */
export const indentedJson = (text: string): string | undefined => {
  if (text.length > MAX_LENGTH) return undefined
  const json = parseJson(text)
  return json instanceof JsonObject || Array.isArray(json) ? indent(text) : undefined
}

/** The values of names: arbitrary bytes that any payer can put into the chain. */

/** Characters of a value that are shown at first, and on request. */
const SHOWN = 4_000
const SHOWN_IN_FULL = 65_536

/** Characters of a value in a list, and behind "more" there. */
const LISTED = 60
const LISTED_IN_FULL = 2_000

/** Hexadecimal in groups of four bytes, between which lines can break. */
const hexGroups = (bytes: Bytes): string => toHex(bytes).replaceAll(/.{8}(?=.)/g, "$& ")

/** The kind of a value, and its text for display. */
const read = (value: Bytes): { readonly kind: string; readonly text: string } => {
  const text = encodeText(value, "utf8")
  if (text === undefined) return { kind: "not text, in hexadecimal", text: hexGroups(value.subarray(0, SHOWN_IN_FULL)) }
  const json = indentedJson(text)
  return json === undefined ? { kind: "text", text } : { kind: "JSON", text: json }
}

/** The value on the page of its name. `fullLink` is the page that shows all of it. */
const valueView = (value: Bytes, full: boolean, fullLink: string): Html => {
  if (value.length === 0) return html`<p class="empty">The value is empty.</p>`
  const { kind, text } = read(value)
  const limit = full ? SHOWN_IN_FULL : SHOWN
  const shown = firstOf(text, limit)
  return html`<pre class="value" tabindex="0" aria-label="Value">${visible(shown, true)}${shown !== text && "…"}</pre>
<p class="muted">${counted(value.length, "byte")}, ${kind}${
    shown !== text && (full
      ? html`; the first ${count(limit)} characters. <code>name_show</code> returns the rest.`
      : html`. <a href="${fullLink}">Show all of it</a>`)
  }</p>`
}

/** The value in a row of a list: one line, and more on request. `key` identifies the row. */
const listedValue = (value: Bytes, key: string): Html => {
  if (value.length === 0) return html`<span class="muted">empty</span>`
  const text = encodeText(value, "utf8") ?? `0x${toHex(value.subarray(0, LISTED_IN_FULL / 2))}`
  const start = firstOf(text, LISTED)
  if (start === text) return html`<code class="break">${visible(text)}</code>`
  const more = firstOf(text, LISTED_IN_FULL)
  const cut = more !== text || 2 * value.length > LISTED_IN_FULL && encodeText(value, "utf8") === undefined
  return html`<details data-key="${key}"><summary><code class="break">${
    visible(start)
  }…</code></summary><pre class="value">${visible(more, true)}${cut && "…"}</pre></details>`
}

/** The pages about names, as HTML. */

/** Blocks until a name expires; zero or less for an expired one. */
const blocksLeft = ({ height }: NameEntry, { params, tipHeight }: Moment): number =>
  height + expirationDepth(tipHeight, params) - tipHeight

/** Whether a name expires soon: within a month, or within a sixth of its lifetime if that is shorter. */
const expiresSoon = (left: number, { params, tipHeight }: Moment): boolean =>
  left <= Math.min(4_320, expirationDepth(tipHeight, params) / 6)

const stateBadge = (record: NameEntry, moment: Moment): Html => {
  const left = blocksLeft(record, moment)
  if (left <= 0) return html`<span class="badge attention">expired</span>`
  return expiresSoon(left, moment)
    ? html`<span class="badge busy">expires soon</span>`
    : html`<span class="badge good">active</span>`
}

const KINDS: Readonly<Record<NameClass, string>> = {
  "domain": "Domain",
  "domain-data": "Data of a domain",
  "identity": "Identity",
  "identity-data": "Data of an identity",
  "nonstandard": "Name"
}

const kindOf = (name: Bytes): Html => {
  const domain = bitDomainOf(name)
  return domain === undefined ? html`${KINDS[classify(name)]}` : html`Domain <b>${visible(domain)}</b>`
}

const ownerOf = (network: Network, script: Bytes): Html => {
  const address = addressOf(network, addressScript(script))
  return address === undefined
    ? html`<span class="muted">a script without an address</span>`
    : html`<code>${address}</code>`
}

const expiry = (record: NameEntry, moment: Moment): Html => {
  const left = blocksLeft(record, moment)
  const at = moment.tipHeight + left
  if (left <= 0) {
    return html`${left === 0 ? "with the last block" : `${counted(-left, "block")} ago`}, at block ${
      count(at)
    }. The name can be registered again.`
  }
  const seconds = left * moment.params.targetSpacing
  // There is no date while the network makes blocks on demand, or while the tip is old.
  const date = moment.params.noRetargeting || moment.syncing
    ? ""
    : `, about ${day(moment.now + seconds)} (${distance(seconds)})`
  return html`in ${counted(left, "block")}, at block ${count(at)}${date}`
}

const row = (label: string, value: Html): Html => html`<div><dt>${label}</dt><dd>${value}</dd></div>`

const isPlain = (name: Bytes): boolean => encodeText(name, "ascii") !== undefined

/** Bytes of a name above which its heading is set smaller. */
const LONG_NAME = 40

const heading = (name: Bytes, badge: Html): Html =>
  html`<header class="name-head"><p class="muted">${kindOf(name)}</p><h1 class="${
    name.length > LONG_NAME ? "long" : "short"
  }">${wholeName(name)} ${badge}</h1></header>`

/** Bytes of a name that are shown in hexadecimal. */
const HEX_BYTES = 512

const nameHex = (name: Bytes): Html =>
  html`<code class="break">${toHex(name.subarray(0, HEX_BYTES))}${name.length > HEX_BYTES && "…"}</code>`

const record = (found: NameFound): Html => {
  const { record, total } = found
  const time = found.page === 1 ? found.history[0]?.time : undefined
  const left = blocksLeft(record, found)
  return html`<section class="card" aria-labelledby="record-title"><h2 id="record-title">Record</h2>
<dl class="record">
${row(left <= 0 ? "Expired" : "Expires", expiry(record, found))}
${row("Owner", ownerOf(found.params.network, record.address))}
${
    row(
      record.op === "name_firstupdate" ? "Registered" : "Last update",
      html`block ${count(record.height)}${time !== undefined && html`, ${ago(time, { now: found.now })}`}`
    )
  }
${row("Transaction", html`<code class="break">${displayHash(record.txid)}</code>, output ${record.vout}`)}
${row("Locked", html`${amountText(record.amount)}`)}
${row("Operations", html`${count(total)}`)}
${!isPlain(record.name) && row("Bytes", nameHex(record.name))}
</dl></section>`
}

const WAITING = { name_firstupdate: "Registration", name_update: "Update" } as const

const pendingRow = (now: number) => ({ op, time, txid, value }: PendingOperation, at: number): Html =>
  html`<li><span><span class="badge busy">pending</span> ${WAITING[op]}, seen ${ago(time, { now })}, ${
    shortHash(displayHash(txid))
  }</span>${listedValue(value, `pending-${at}`)}</li>`

const pending = (operations: ReadonlyArray<PendingOperation>, now: number): Html =>
  operations.length === 0 ? NOTHING : html`<section class="card" aria-labelledby="pending-title">
<h2 id="pending-title">Waiting for a block</h2>
<ul class="operations">${operations.map(pendingRow(now))}</ul></section>`

/** The effect of an operation, compared to the one before. */
const deed = ({ before, entry }: HistoryRow): string => {
  if (entry.op === "name_firstupdate") return before === undefined ? "registered" : "registered again"
  if (before === undefined) return "updated"
  const sameOwner = equal(entry.address, before.address)
  if (!equal(entry.value, before.value)) return sameOwner ? "updated" : "updated, new address"
  return sameOwner ? "renewed" : "moved to a new address"
}

const historyRow = ({ now, params }: Moment) => (each: HistoryRow, at: number): Html => {
  const { entry, time } = each
  return html`<tr>
<th scope="row">${count(entry.height)}</th>
<td data-label="Time">${time === undefined ? "–" : ago(time, { now })}</td>
<td data-label="">${deed(each)}</td>
<td data-label="Value" class="value-cell broad">${listedValue(entry.value, `value-${at}`)}</td>
<td data-label="Owner" class="owner-cell broad">${ownerOf(params.network, entry.address)}</td>
<td data-label="Transaction" class="broad">${shortHash(displayHash(entry.txid))}</td>
</tr>`
}

const pager = ({ page, pages, record: { name } }: NameFound): Html =>
  pages <= 1 ?
    NOTHING :
    html`<nav class="pager" aria-label="Pages of the history">${
      page > 1 && html`<a rel="prev" href="${nameLink(name, { page: page - 1 })}">Newer</a>`
    }<span>Page ${count(page)} of ${count(pages)}</span>${
      page < pages && html`<a rel="next" href="${nameLink(name, { page: page + 1 })}">Older</a>`
    }</nav>`

const history = (found: NameFound): Html =>
  html`<section class="card" aria-labelledby="history-title"><h2 id="history-title">History</h2>
<table class="stack history">
<thead><tr><th scope="col">Height</th><th scope="col">Time</th><th scope="col">Operation</th><th scope="col">Value</th><th scope="col">Owner</th><th scope="col">Transaction</th></tr></thead>
<tbody>${found.history.map(historyRow(found))}</tbody>
</table>${pager(found)}</section>`

const behind = ({ syncing, tipHeight }: Moment): Html =>
  syncing
    ? html`<p class="note busy">The node is still syncing: what follows is as of block ${count(tipHeight)}.</p>`
    : NOTHING

/** A name that is, or was, registered. */
export const nameView = (found: NameFound, full: boolean): Html => {
  const { record: { name, value } } = found
  return html`${behind(found)}${heading(name, stateBadge(found.record, found))}
<section class="card" aria-labelledby="value-title"><h2 id="value-title">Value</h2>${
    valueView(value, full, nameLink(name, { full: true }))
  }</section>
${pending(found.pending, found.now)}${record(found)}${lintView(name, value)}${history(found)}`
}

const listedRecord = (moment: Moment) => (record: NameEntry): Html =>
  html`<li><a href="${nameLink(record.name)}">${listedName(record.name)}</a><span class="what">${
    stateBadge(record, moment)
  } <span>last changed at block ${count(record.height)}</span></span></li>`

const suggestions = (found: Moment & { readonly suggestions: Suggestions }): Html =>
  found.suggestions.records.length === 0 ? NOTHING : html`<section class="card" aria-labelledby="like-title">
<h2 id="like-title">Names that begin like this</h2>
<ul class="operations">${found.suggestions.records.map(listedRecord(found))}</ul>${
    found.suggestions.more && html`<p class="muted">There are more: type more letters.</p>`
  }</section>`

const absent = (moment: Moment): Html =>
  moment.syncing
    ? html`<p>No block up to ${
      count(moment.tipHeight)
    } registers this name. The node is still syncing: it may be in a later one.</p>`
    : html`<p>No block up to ${count(moment.tipHeight)} registers this name.</p>`

export const missingView = (name: Bytes, missing: NameMissing): Html =>
  html`${heading(name, html`<span class="badge">${missing.syncing ? "not known yet" : "not registered"}</span>`)}
<section class="card">${absent(missing)}</section>${pending(missing.pending, missing.now)}${suggestions(missing)}`

const foundRecord = (moment: Moment) => (record: NameEntry): Html =>
  html`<li><a href="${nameLink(record.name)}">${listedName(record.name)}</a><span class="what">${
    stateBadge(record, moment)
  } <code class="break">${
    visible(firstOf(encodeText(record.value, "utf8") ?? toHex(record.value), LISTED_FOUND))
  }</code></span></li>`

/** Characters of a value among the names that a search found. */
const LISTED_FOUND = 100

const saying = (text: string, found: SearchFound): Html => {
  if (found.saying === undefined) return NOTHING
  const { indexed, next, records } = found.saying
  const none = found.guessed ? NOTHING : html`<p>No name on this page.</p>`
  return html`<section class="card" aria-labelledby="saying-title"><h2 id="saying-title">Names that say it</h2>${
    indexed < 1 &&
    html`<p class="note busy">The search index is being built: it has ${
      Math.floor(100 * indexed)
    } % of the names so far.</p>`
  }${records.length === 0 ? none : html`<ul class="operations">${records.map(foundRecord(found))}</ul>`}${
    next !== undefined &&
    html`<nav class="pager" aria-label="Pages of the search"><a rel="next" href="${
      searchLink({ text, after: next })
    }">More</a></nav>`
  }<p class="muted">Searched in names and values. <code>ip:192.0.2.1</code>, <code>ns:</code>, <code>email:</code>, <code>nostr:</code>, <code>tor:</code> and <code>owner:</code> search for one thing, <code>text:</code> for any text.</p></section>`
}

/** The result of a search, unless it is a single name. */
export const searchView = (text: string, found: SearchFound): Html =>
  html`<h1>Search for ${html`<bdi class="name">${visible(text)}</bdi>`}</h1>
${
    !found.guessed
      ? NOTHING
      : found.exact.length === 0
      ? html`<section class="card"><h2>${found.syncing ? "Not known yet" : "No such name"}</h2>${
        absent(found)
      }</section>`
      : html`<section class="card"><h2>Names</h2><ul class="operations">${
        found.exact.map(listedRecord(found))
      }</ul></section>`
  }${suggestions(found)}${saying(text, found)}`
