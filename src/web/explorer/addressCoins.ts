import * as Effect from "effect/Effect"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { shellWord } from "../../base/safeText.ts"
import { Chain } from "../../chain/Chain.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import { livingCoins, type ScriptCoin } from "../../chain/indexes/ScriptHistory.ts"
import { ScriptBook, type ScriptFound } from "../../mempool/scripts/ScriptBook.ts"
import { scriptKeyOf } from "../../mempool/scripts/ScriptPool.ts"
import { shortAmount } from "../../protocol/amount.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { type Html, html, NOTHING } from "../html.ts"
import { addressLink } from "../links.ts"
import { fact, pagesView, row, tab } from "../parts.ts"
import { blockView, shortTransaction } from "../places.ts"
import { visible } from "../visible.ts"

/** The coins and payments of an address, from the index of `-electrumindex`. */

export interface CoinsWanted {
  readonly address: string
  readonly script: Bytes
  /** Whether to list coins instead of payments. */
  readonly coins: boolean
  /** From 1 on. */
  readonly page: number
}

type CoinsShown =
  | { readonly _tag: "Found"; readonly found: ScriptFound; readonly coins: ReadonlyArray<ScriptCoin> }
  /** `busy`: a later look may find them. */
  | { readonly _tag: "Refused"; readonly why: string; readonly busy: boolean }
  /** Without an index. `filters`: whether the node has the filters of blocks. */
  | { readonly _tag: "Unknown"; readonly filters: boolean }

const ROWS = 25

/** Concurrent histories; further ones wait. */
const HISTORIES = 4

/** Seconds for a history, with its wait. */
const LONGEST_LOOK = 20

interface CoinRow {
  readonly txid: Bytes
  /** `undefined` in the mempool. */
  readonly height: number | undefined
  /** Smallest units. */
  readonly amount: number
  readonly note: Html
}

const WAITING = html`<span class="badge">waiting</span>`

const paymentsOf = ({ history, waiting }: ScriptFound): ReadonlyArray<CoinRow> => [
  ...waiting.map(({ change, entry }) => ({
    txid: entry.transaction.txid,
    height: undefined,
    amount: change,
    note: WAITING
  })),
  ...history.entries.toReversed().map(({ change, height, txid }) => ({ txid, height, amount: change, note: NOTHING }))
]

const coinsOf = ({ isSpent, waitingCoins }: ScriptFound, coins: ReadonlyArray<ScriptCoin>): ReadonlyArray<CoinRow> => [
  ...waitingCoins.map(({ txid, value }) => ({ txid, height: undefined, amount: value, note: WAITING })),
  ...coins.toReversed().map((coin) => ({
    txid: coin.txid,
    height: coin.height,
    amount: coin.value,
    note: isSpent(coin)
      ? html`<span class="badge">being spent</span>`
      : coin.holdsName
      ? html`<span class="muted">holds a name</span>`
      : NOTHING
  }))
]

const TOO_SLOW =
  `The node is busy: it could not read the blocks of the address within ${LONGEST_LOOK} seconds. Try again later.`

const sign = (amount: number): string => amount > 0 ? "+" : ""

const rowView = (isCoin: boolean) => ({ amount, height, note, txid }: CoinRow): Html =>
  html`<tr>
<th scope="row">${shortTransaction(txid, { block: height })}</th>
<td>${note}</td>
<td class="number">${height === undefined ? "–" : blockView(height, grouped(height))}</td>
<td class="number">${isCoin ? "" : sign(amount)}${shortAmount(amount)}</td>
</tr>`

const tableView = (rows: ReadonlyArray<CoinRow>, isCoin: boolean): Html =>
  html`<table class="brief"><caption class="out">${
    isCoin ? "Coins of the address, newest first" : "Payments to and from the address, newest first"
  }</caption>
<thead><tr><th scope="col">Transaction</th><th scope="col"><span class="out">State</span></th><th scope="col" class="number">Block</th><th scope="col" class="number">${
    isCoin ? "NMC" : "Change, NMC"
  }</th></tr></thead>
<tbody>${rows.map(rowView(isCoin))}</tbody>
</table>`

const foundView = (
  { address, coins: isCoin, page }: CoinsWanted,
  { coins, found }: Extract<CoinsShown, { _tag: "Found" }>
): Html => {
  const { history, waiting } = found
  const rows = isCoin ? coinsOf(found, coins) : paymentsOf(found)
  const pages = Math.max(1, Math.ceil(rows.length / ROWS))
  const shown = rows.slice((page - 1) * ROWS, page * ROWS)
  const change = waiting.reduce((sum, each) => sum + each.change, 0)
  return html`<dl class="facts">
${
    fact(
      "Balance",
      `${shortAmount(coins.reduce((sum, { value }) => sum + value, 0))} NMC`,
      `${quantityOf(coins.length, "coin")}, as of block ${grouped(found.height)}`
    )
  }
${fact("Payments", grouped(history.entries.length), "in blocks")}
${
    fact(
      "Waiting",
      `${sign(change)}${shortAmount(change)} NMC`,
      `${quantityOf(waiting.length, "transaction")} in the mempool`
    )
  }
</dl><nav class="choices" aria-label="Payments or coins"><ul>${
    tab("payments", { link: addressLink(address), isHere: !isCoin })
  }${tab("coins", { link: addressLink(address, { coins: true }), isHere: isCoin })}</ul></nav>${
    shown.length === 0
      ? html`<p class="empty">${isCoin ? "No coins" : "No payments"}${page > 1 && " on this page"}.</p>`
      : tableView(shown, isCoin)
  }${
    pagesView(
      { page: Math.min(page, pages), pages, label: "Pages of the list", words: ["Newer", "Older"] },
      (at) => addressLink(address, { coins: isCoin, page: at })
    )
  }`
}

/** How to search without the index. */
const unknownView = (address: string, filters: boolean): Html => {
  const descriptor = shellWord(`["addr(${address})"]`)
  return html`<p>The node keeps no index of the coins of addresses; with <code>-electrumindex</code> they are here. These commands search:</p><dl class="record">
${row("Its coins now", html`<code class="break">svcd-cli scantxoutset start ${descriptor}</code>`)}
${
    row(
      "Its payments",
      filters
        ? html`<code class="break">svcd-cli scanblocks start ${descriptor}</code> lists the blocks that have them`
        : html`<span class="muted">A node with <code>-blockfilterindex</code> finds the blocks that have them.</span>`
    )
  }
</dl>`
}

const shownView = (wanted: CoinsWanted, shown: CoinsShown): Html => {
  switch (shown._tag) {
    case "Found":
      return foundView(wanted, shown)
    case "Refused":
      return html`<p class="${shown.busy ? "note busy" : "note"}">${visible(shown.why)}</p>`
    case "Unknown":
      return unknownView(wanted.address, shown.filters)
  }
}

const capitalized = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`

export const makeAddressCoins = Effect.gen(function*() {
  const { book } = yield* ScriptBook
  const { filters } = yield* Indexes
  const { params } = yield* Chain
  const few = (yield* Effect.makeSemaphore(HISTORIES)).withPermits(1)

  const look = (script: Bytes): Effect.Effect<CoinsShown, StorageFailure> => {
    if (book === undefined) return Effect.succeed({ _tag: "Unknown", filters: filters !== undefined })
    const refused = (busy: boolean) => ({ message }: { readonly message: string }) =>
      Effect.succeed<CoinsShown>({ _tag: "Refused", why: capitalized(message), busy })
    return few(book.find(scriptKeyOf(script))).pipe(
      Effect.map((found): CoinsShown => ({
        _tag: "Found",
        found,
        coins: livingCoins(found.history, found.height, params)
      })),
      Effect.catchTags({
        ScriptsBehind: refused(true),
        HistoryTooLong: refused(false),
        BlockNotFound: refused(false),
        BlockUnavailable: refused(false)
      }),
      Effect.timeoutTo({
        duration: `${LONGEST_LOOK} seconds`,
        onSuccess: (shown) => shown,
        onTimeout: (): CoinsShown => ({ _tag: "Refused", why: TOO_SLOW, busy: true })
      })
    )
  }

  return (wanted: CoinsWanted): Effect.Effect<Html, StorageFailure> =>
    Effect.map(
      look(wanted.script),
      (shown) =>
        html`<section class="card" aria-labelledby="coins-title"><h2 id="coins-title">Coins and payments</h2>${
          shownView(wanted, shown)
        }</section>`
    )
})
