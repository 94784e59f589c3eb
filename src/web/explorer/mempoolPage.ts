import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { grouped, quantityOf, sizeText } from "../../base/quantities.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { Mempool, type MempoolInfo } from "../../mempool/Mempool.ts"
import { rateOf } from "../../mempool/policy/feeRate.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { amountText, shortAmount } from "../../protocol/amount.ts"
import type { NameOperation } from "../../protocol/nameOperation.ts"
import { partsOf, type PoolPart } from "../activity/activityPage.ts"
import { poolChart } from "../activity/activityPage.ts"
import { chartView } from "../activity/svg.ts"
import type { Deeds, WordedOperation } from "../deeds.ts"
import { ago } from "../format.ts"
import { type Html, html } from "../html.ts"
import type { PageBody } from "../layout.ts"
import { poolLink } from "../links.ts"
import { fact, pagesView, tab } from "../parts.ts"
import { shortTransaction } from "../places.ts"
import { MAX_PAGE, type PoolList } from "../routes.ts"
import { operationLine } from "./operationView.ts"

/** The mempool is in memory; no file is read. */

type WaitingOperations = Readonly<Record<NameOperation["op"], number>>

/** `operation` is `undefined` for a payment. */
interface PoolRow {
  readonly entry: PoolEntry
  readonly operation: WordedOperation | undefined
}

interface PoolListed {
  readonly list: PoolList
  /** Seconds since 1970. */
  readonly now: number
  readonly info: MempoolInfo
  readonly parts: ReadonlyArray<PoolPart>
  readonly operations: WaitingOperations
  readonly entries: ReadonlyArray<PoolRow>
  readonly pages: number
  readonly lacks: PoolLack | undefined
}

/** `light`: the node has only the last blocks. `blocks only`: it takes none from peers. `sync`: blocks are missing. */
type PoolLack = "light" | "loading" | "blocks only" | "sync"

const LISTED_TRANSACTIONS = 40

/** Transactions ordered by fee rate; the newest of a larger mempool are omitted. */
const MOST_ORDERED = 2 ** 20

/** Smallest units per kvB: 85 NMC. Higher rates count as equal, so that one number holds a rate and a place exactly. */
const HIGHEST_RATE = 2 ** 33 - 1

/** Places in arrival order, so that a cached list holds no transactions. */
type Places = Uint32Array

/** Oldest first. */
export const placesOf = (entries: Iterable<PoolEntry>, { names }: Pick<PoolList, "names">): Places => {
  const places: Array<number> = []
  let at = 0
  for (const { name } of entries) {
    if (!names || name !== undefined) places.push(at)
    at++
  }
  return Uint32Array.from(places)
}

/**
 * Best fee rate first, then oldest. A rate and a place are one number: numbers sort several times faster than objects.
 */
export const byFeeRate = (entries: Iterable<PoolEntry>, places: Places): Places => {
  const keys = new Float64Array(Math.min(places.length, MOST_ORDERED))
  let at = 0
  let found = 0
  for (const entry of entries) {
    if (found === keys.length) break
    if (at++ !== places[found]) continue
    keys[found] = found + (HIGHEST_RATE - Math.min(rateOf(entry), HIGHEST_RATE)) * MOST_ORDERED
    found++
  }
  keys.sort()
  return Uint32Array.from(keys, (key) => places[key % MOST_ORDERED] ?? 0)
}

const entriesAt = (entries: Iterable<PoolEntry>, places: Places): ReadonlyArray<PoolEntry> => {
  const found = new Map<number, PoolEntry>()
  const wanted = new Set(places)
  let at = 0
  for (const entry of entries) {
    if (found.size === wanted.size) break
    if (wanted.has(at)) found.set(at, entry)
    at++
  }
  return Array.from(places).flatMap((place) => found.get(place) ?? [])
}

const operationsIn = (entries: Iterable<PoolEntry>): WaitingOperations => {
  const found = { name_new: 0, name_firstupdate: 0, name_update: 0 }
  for (const { name } of entries) if (name !== undefined) found[name.script.operation.op]++
  return found
}

const LACKS: Readonly<Record<PoolLack, string>> = {
  "light": "The node has only recent blocks so far. It accepts unconfirmed transactions once it has the whole chain.",
  "loading": "The node is loading the transactions saved at its last stop.",
  "blocks only":
    "The node runs with -blocksonly and receives no transactions from peers. The mempool has only those of its wallets, and those that " +
    "programs submit.",
  "sync": "Blocks are missing. Until the node has them, it does not request transactions from peers."
}

const operationsNote = ({ name_firstupdate, name_new, name_update }: WaitingOperations): string =>
  [
    [name_firstupdate, "to register"] as const,
    [name_update, "to update or renew"] as const,
    [name_new, "to commit"] as const
  ].flatMap(([of, words]) => of === 0 ? [] : [`${grouped(of)} ${words}`]).join(", ") || "none waits"

const facts = ({ info, operations }: PoolListed): Html => {
  const names = operations.name_firstupdate + operations.name_update + operations.name_new
  return html`<section id="facts" aria-label="Key figures"><dl class="facts">
${fact("Transactions", grouped(info.size), `virtual size ${sizeText(info.bytes)}`)}
${fact("Name operations", grouped(names), operationsNote(operations))}
${fact("Memory", sizeText(info.usage), `of ${sizeText(info.maxUsage)}`)}
${fact("Minimum fee rate", amountText(info.minFeeRate), "per kvB, to be accepted now")}
${fact("Fees", amountText(info.totalFee), "of all transactions")}
</dl></section>`
}

const choices = ({ names, order }: PoolList): Html =>
  html`<nav class="choices" aria-label="Which transactions"><ul>${
    tab("All transactions", { link: poolLink({ order }), isHere: !names })
  }${tab("Name operations", { link: poolLink({ order, names: true }), isHere: names })}</ul><ul>${
    tab("newest first", { link: poolLink({ names }), isHere: order === "newest" })
  }${tab("highest fee rate first", { link: poolLink({ names, order: "rate" }), isHere: order === "rate" })}</ul></nav>`

const transactionRow = (now: number) => ({ entry, operation }: PoolRow): Html => {
  const { fee, time, transaction, vsize } = entry
  return html`<tr>
<th scope="row">${shortTransaction(transaction.txid)}</th>
<td class="does">${operation === undefined ? html`<span class="muted">payment</span>` : operationLine(operation)}</td>
<td class="number wide">${shortAmount(fee)}</td>
<td class="number wide">${shortAmount(rateOf(entry))}</td>
<td class="number wide">${grouped(vsize)} vB</td>
<td class="number wide">${ago(time, { now })}</td>
</tr>`
}

const emptyText = ({ info, list }: PoolListed): string =>
  info.size > 0 && list.names ? "There are no unconfirmed name operations." : "There are no unconfirmed transactions."

const transactions = (listed: PoolListed): Html => {
  const { entries, list, now, pages } = listed
  const shown = Math.min(pages, MAX_PAGE)
  return html`<section id="transactions" class="card" aria-label="Unconfirmed transactions">${
    entries.length === 0
      ? html`<p class="empty">${emptyText(listed)}</p>`
      : html`<table class="brief"><caption class="out">Transactions that wait for a block, ${
        list.order === "rate" ? "the highest fee rate first" : "the newest first"
      }</caption>
<thead><tr><th scope="col">Transaction</th><th scope="col">Action</th><th scope="col" class="number wide">Fee, NMC</th><th scope="col" class="number wide">Fee rate, NMC/kvB</th><th scope="col" class="number wide">Size</th><th scope="col" class="number wide">Seen</th></tr></thead>
<tbody>${entries.map(transactionRow(now))}</tbody>
</table>`
  }${
    pagesView(
      { page: list.page, pages: shown, label: "Pages of the mempool", words: ["Before", "Next"] },
      (page) => poolLink({ ...list, page })
    )
  }${shown < pages && html`<p class="muted">The list ends after ${quantityOf(shown, "page")}.</p>`}${
    entries.length > 0 && list.order === "rate" &&
    html`<p class="muted">The fee rate is that of the transaction alone. A block takes a transaction also for the fees of those that spend its outputs.</p>`
  }</section>`
}

const mempoolPage = (listed: PoolListed): Html => {
  const { info, lacks, list, parts } = listed
  const note = lacks === undefined ? undefined : html`<p class="note busy">${LACKS[lacks]}</p>`
  if (lacks === "light") return html`<h1>Mempool</h1>${note}`
  return html`<h1>Mempool</h1>${note}${facts(listed)}${choices(list)}${transactions(listed)}${
    info.size > 0 && html`<div class="charts">${chartView(poolChart(parts))}</div>`
  }`
}

/** Cached while the transactions are the same. */
interface KnownPool extends Pick<PoolListed, "operations" | "parts"> {
  readonly changes: number
  readonly lists: Map<string, Places>
  readonly pages: Map<string, PageBody>
}

const KEPT_PAGES = 16

export interface MempoolPageOptions {
  /** Whether the node takes no transactions from peers. */
  readonly blocksOnly: boolean
}

/** While nothing changes within a second, a page is the same object. */
export const makeMempoolPage = (deeds: Pick<Deeds, "waiting">, { blocksOnly }: MempoolPageOptions) =>
  Effect.gen(function*() {
    const pool = yield* Mempool
    const answers = yield* NameAnswers
    const status = yield* SyncStatus

    let known: KnownPool | undefined

    const knownOf = ({ changes }: MempoolInfo): KnownPool => {
      if (known?.changes !== changes) {
        known = {
          changes,
          lists: new Map(),
          pages: new Map(),
          operations: operationsIn(pool.entries()),
          parts: partsOf(pool)
        }
      }
      return known
    }

    const orderedBy = (lists: Map<string, Places>, { names, order }: Pick<PoolList, "names" | "order">): Places => {
      const key = `${order} ${names}`
      const ordered = lists.get(key)
      if (ordered !== undefined) return ordered
      const places = placesOf(pool.entries(), { names })
      const made = order === "rate" ? byFeeRate(pool.entries(), places) : places.reverse()
      lists.set(key, made)
      return made
    }

    const lackOf = (info: MempoolInfo): Effect.Effect<PoolLack | undefined> => {
      if (answers.fromWindow()) return Effect.succeed("light")
      if (!info.loaded) return Effect.succeed("loading")
      if (blocksOnly) return Effect.succeed("blocks only")
      return Effect.map(status.initialDownload, (missing) => missing ? "sync" : undefined)
    }

    return ({ list }: { readonly list: PoolList }): Effect.Effect<PageBody | undefined> =>
      Effect.gen(function*() {
        const info = pool.info()
        const { lists, operations, pages: made, parts } = knownOf(info)
        const now = yield* unixTime
        const lacks = yield* lackOf(info)
        const key = `${list.order} ${list.names} ${list.page} ${lacks}`
        const before = made.get(key)
        if (before?.now === now) return before
        const places = orderedBy(lists, list)
        const pages = Math.max(1, Math.ceil(places.length / LISTED_TRANSACTIONS))
        if (list.page > pages) return undefined
        const from = (list.page - 1) * LISTED_TRANSACTIONS
        const entries = yield* Effect.forEach(
          entriesAt(pool.entries(), places.subarray(from, from + LISTED_TRANSACTIONS)),
          (entry) => Effect.map(deeds.waiting(entry), (operation): PoolRow => ({ entry, operation }))
        )
        const main = mempoolPage({ list, now, info, parts, operations, entries, pages, lacks })
        const page: PageBody = { status: 200, title: "Mempool", at: poolLink(list), now, main }
        if (made.size >= KEPT_PAGES) made.clear()
        made.set(key, page)
        return page
      })
  })
