import * as Effect from "effect/Effect"
import { grouped } from "../base/quantities.ts"
import { shellWord } from "../base/safeText.ts"
import { Chain } from "../chain/Chain.ts"
import { MAX_NAME_LENGTH } from "../consensus/names.ts"
import { NameAnswers } from "../light/NameAnswers.ts"
import { Mempool } from "../mempool/Mempool.ts"
import { NameDb, type NameEntry } from "../names/NameDb.ts"
import { blocksToExpiry } from "../names/NameEntry.ts"
import { amountText } from "../protocol/amount.ts"
import { type Bytes, toHex } from "../protocol/bytes.ts"
import { nameKey } from "../protocol/keys.ts"
import { encodeText } from "../protocol/nameText.ts"
import { changeText, deedOfChange } from "../protocol/operationWord.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { nameFault } from "../values/nameFault.ts"
import { makeDeeds, type WaitingSetting } from "./deeds.ts"
import { ago, dated } from "./format.ts"
import { type Html, html, NOTHING } from "./html.ts"
import type { PageBody } from "./layout.ts"
import { nameEventsLink, nameLink, registerLink, transactionLink } from "./links.ts"
import { programsView } from "./lintView.ts"
import {
  absent,
  behind,
  kindOfName,
  type Moment,
  momentOf,
  notFound,
  ownerOf,
  standingView,
  stateBadge
} from "./nameState.ts"
import { pagesView, row } from "./parts.ts"
import { blockView, shortTransaction, transactionView } from "./places.ts"
import type { Wanted } from "./routes.ts"
import { makeSuggestions, type Suggestions, suggestions } from "./suggestions.ts"
import { listedValue, valueView } from "./valueView.ts"
import { isVisible, titleName, wholeName } from "./visible.ts"

/** The section ids tell the script what to replace. */

interface HistoryRow {
  readonly entry: NameEntry
  /** Time of its block, in seconds since 1970; `undefined` while the chain lacks the block. */
  readonly time: number | undefined
  readonly before: NameEntry | undefined
}

interface NameFound extends Moment {
  readonly record: NameEntry
  readonly history: ReadonlyArray<HistoryRow>
  readonly total: number
  readonly page: number
  readonly pages: number
  readonly pending: ReadonlyArray<WaitingSetting>
}

interface NameMissing extends Moment {
  readonly pending: ReadonlyArray<WaitingSetting>
  readonly suggestions: Suggestions
}

/** Operations per page of history, and unconfirmed operations. */
const HISTORY_ROWS = 20
const PENDING_ROWS = 10

const isPlain = (name: Bytes): boolean => encodeText(name, "ascii") !== undefined

const LONG_NAME = 40

const heading = (name: Bytes, badge: Html): Html =>
  html`<header class="name-head"><p class="muted">${kindOfName(name)}</p><h1 class="${
    name.length > LONG_NAME ? "long" : "short"
  }">${wholeName(name)} ${badge}</h1></header>`

const isGone = ({ record, ...moment }: NameFound): boolean => blocksToExpiry(record, moment) <= 0

const HEX_BYTES = 512

const nameHex = (name: Bytes): Html =>
  html`<code class="break">${toHex(name.subarray(0, HEX_BYTES))}${name.length > HEX_BYTES && "…"}</code>`

/** Who owns it since which change. */
const owner = (found: NameFound): Html => {
  const { now, page, params, record } = found
  const last = page === 1 ? found.history[0] : undefined
  return html`<dl class="record">
${row(isGone(found) ? "Last owner" : "Owner", ownerOf(params.network, record.address))}
${
    row(
      "Last change",
      html`${last === undefined ? "" : `${deed(last)}, `}${blockView(record.height)}${
        last?.time !== undefined && html`, ${dated(last.time, { now })}`
      }`
    )
  }
</dl>`
}

const record = (found: NameFound): Html => {
  const { record, total } = found
  return html`<section id="record" class="card" aria-labelledby="record-title"><h2 id="record-title">Record</h2>
<dl class="record">
${
    row(
      "Transaction",
      html`${transactionView(record.txid, { block: record.height })}, output ${record.vout}`
    )
  }
${row(isGone(found) ? "Was locked" : "Locked", html`${amountText(record.amount)}`)}
${row("Changes", html`${grouped(total)}, <a href="${nameEventsLink(record.name)}">follow them</a>`)}
${!isPlain(record.name) && row("Bytes", nameHex(record.name))}
</dl></section>`
}

const pendingRow = (now: number) => ({ entry, operation: { value }, word }: WaitingSetting, at: number): Html =>
  html`<li><span><span class="badge busy">pending</span> ${word}, seen ${ago(entry.time, { now })}, ${
    shortTransaction(entry.transaction.txid)
  }</span>${listedValue(value, `pending-${at}`)}</li>`

const pending = (operations: ReadonlyArray<WaitingSetting>, now: number): Html =>
  operations.length === 0 ? NOTHING : html`<section id="pending" class="card" aria-labelledby="pending-title">
<h2 id="pending-title">Pending</h2>
<ul class="operations">${operations.map(pendingRow(now))}</ul></section>`

/** Addresses are in their own column. */
const deed = ({ before, entry }: HistoryRow): string => changeText(deedOfChange({ record: entry, before }))

const historyRow = ({ now, params }: Moment) => (each: HistoryRow, at: number): Html => {
  const { entry, time } = each
  return html`<tr>
<th scope="row">${blockView(entry.height, grouped(entry.height))}</th>
<td class="when">${time === undefined ? "–" : dated(time, { now })}</td>
<td class="deed"><a href="${transactionLink(entry.txid, { block: entry.height })}">${deed(each)}</a></td>
<td class="value-cell wide">${listedValue(entry.value, `value-${at}`)}</td>
<td class="owner-cell wide">${ownerOf(params.network, entry.address)}</td>
</tr>`
}

const pager = ({ page, pages, record: { name } }: NameFound): Html =>
  pagesView(
    { page, pages, label: "Pages of the history", words: ["Newer", "Older"] },
    (page) => nameLink(name, { page })
  )

const history = (found: NameFound): Html =>
  html`<section id="history" class="card" aria-labelledby="history-title"><h2 id="history-title">History</h2>
<table class="brief history"><caption class="out">Operations on this name, newest first</caption>
<thead><tr><th scope="col">Block</th><th scope="col">Time</th><th scope="col">Operation</th><th scope="col" class="wide">Value</th><th scope="col" class="wide">Owner</th></tr></thead>
<tbody>${found.history.map(historyRow(found))}</tbody>
</table>${pager(found)}</section>`

/** The longest name that a command line and the desk are offered for. */
const isOffered = (name: Bytes): boolean =>
  name.length > 0 && name.length <= MAX_NAME_LENGTH && nameFault(name) === undefined

interface FreeName extends Moment {
  readonly pending: ReadonlyArray<WaitingSetting>
  readonly desk: boolean
  /** It had an owner once. */
  readonly expired: boolean
}

const FREE = { title: "Free to register", text: "Anyone can register this name now." }
const TAKEN = { title: "Being registered", text: "A registration of this name waits for a block." }

const waysView = (name: Bytes, desk: boolean): Html => {
  const text = encodeText(name, "utf8")
  return html`<ul class="ways">${
    desk && html`<li><a class="button primary" href="${registerLink(name)}">Register it in the desk</a></li>`
  }${
    text !== undefined && isVisible(text) &&
    html`<li>In a terminal: <code class="break">svcd-cli register ${shellWord(text)}</code></li>`
  }</ul>`
}

/** A name without an owner, and how to become it. */
const freeView = (name: Bytes, free: FreeName): Html => {
  const { desk, expired, pending, syncing } = free
  const isBeingTaken = pending.some(({ operation }) => operation.op === "name_firstupdate")
  const isFree = !syncing && isOffered(name)
  if (expired && !isFree) return NOTHING
  const { text, title } = isBeingTaken ? TAKEN : FREE
  return html`<section id="free" class="card" aria-labelledby="free-title"><h2 id="free-title">${
    isFree ? title : "Not registered"
  }</h2>${!expired && absent(free)}${isFree && html`<p>${text}</p>`}${
    isFree && !isBeingTaken && waysView(name, desk)
  }</section>`
}

export interface NameViewOptions {
  readonly full: boolean
  readonly desk: boolean
}

export const nameView = (found: NameFound, { desk, full }: NameViewOptions): Html => {
  const { record: { name, value } } = found
  const expired = isGone(found)
  return html`${behind(found)}${heading(name, stateBadge(found.record, found))}${
    standingView(found.record, { moment: found, more: owner(found) })
  }${pending(found.pending, found.now)}${programsView({ name, value, expired })}${
    expired && freeView(name, { ...found, desk, expired })
  }<section id="value" class="card" aria-labelledby="value-title"><h2 id="value-title">${
    expired ? "Last value" : "Value"
  }</h2>${valueView(value, full, nameLink(name, { full: true }))}</section>${record(found)}${history(found)}`
}

const missingView = (name: Bytes, missing: NameMissing, desk: boolean): Html =>
  html`${heading(name, html`<span class="badge">${missing.syncing ? "not known yet" : "not registered"}</span>`)}
${pending(missing.pending, missing.now)}${freeView(name, { ...missing, desk, expired: false })}${suggestions(missing)}`

/** `undefined` after the last page of a history. */
export const makeNamePage = ({ desk }: Pick<NameViewOptions, "desk">) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const names = yield* NameDb
    const pool = yield* Mempool
    const answers = yield* NameAnswers
    const deeds = yield* makeDeeds
    const moment = yield* momentOf
    const beginningWith = yield* makeSuggestions

    const pendingOn = (name: Bytes) => deeds.settings(pool.pending(nameKey(name)).slice(0, PENDING_ROWS))

    const missing = (name: Bytes): Effect.Effect<NameMissing, StorageFailure> =>
      Effect.gen(function*() {
        const suggestions = yield* beginningWith(name.length === 0 ? [] : [name], [])
        return { ...(yield* moment), pending: yield* pendingOn(name), suggestions }
      })

    /** A window shows only the newest operation: those before it are incomplete, and have no times. */
    const historyOf = (record: NameEntry, page: number) =>
      answers.fromWindow()
        ? Effect.succeed({ total: 1, rows: page > 1 ? [] : [{ entry: record, time: undefined, before: undefined }] })
        : Effect.gen(function*() {
          // One more, to show what the last of them changed.
          const range = { skip: (page - 1) * HISTORY_ROWS, count: HISTORY_ROWS + 1 }
          const { entries, total } = yield* names.historyPage(record.name, range)
          const rows = yield* Effect.forEach(entries.slice(0, HISTORY_ROWS), (entry, at) =>
            Effect.map(chain.headerAt(entry.height), (info): HistoryRow => ({
              entry,
              time: info?.header.time,
              before: entries[at + 1]
            })))
          return { total, rows }
        })

    const find = (name: Bytes, page: number): Effect.Effect<NameFound | NameMissing | undefined, StorageFailure> =>
      Effect.gen(function*() {
        const answer = yield* answers.resolve(name)
        if (answer === undefined) return yield* missing(name)
        const { record } = answer
        const { rows: history, total } = yield* historyOf(record, page)
        if (history.length === 0) return undefined
        const pages = Math.ceil(total / HISTORY_ROWS)
        return { ...(yield* moment), record, history, total, page, pages, pending: yield* pendingOn(name) }
      }).pipe(Effect.catchTag("NameNotFound", () => missing(name)))

    return (
      { full, name, page }: Omit<Extract<Wanted, { readonly _tag: "Name" }>, "_tag">
    ): Effect.Effect<PageBody | undefined, StorageFailure> =>
      Effect.map(find(name, page), (found) => {
        if (found === undefined) return undefined
        const common = {
          title: titleName(name),
          now: found.now,
          events: found.syncing ? undefined : nameEventsLink(name)
        }
        return "record" in found
          ? { ...common, status: 200, main: nameView(found, { desk, full }) }
          : { ...common, ...notFound(found), main: missingView(name, found, desk) }
      })
  })
