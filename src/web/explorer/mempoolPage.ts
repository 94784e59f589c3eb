import { grouped, quantityOf, sizeText } from "../../base/quantities.ts"
import { rateOf } from "../../mempool/policy/feeRate.ts"
import { amountText } from "../../protocol/amount.ts"
import { poolChart } from "../activity/activityView.ts"
import { chartView } from "../activity/svg.ts"
import { dated } from "../format.ts"
import { type Html, html } from "../html.ts"
import { poolLink } from "../links.ts"
import { pagesView, tab } from "../parts.ts"
import { shortTransaction } from "../places.ts"
import { MAX_PAGE, type PoolList } from "../routes.ts"
import type { PoolLack, PoolListed, PoolRow, WaitingOperations } from "./mempoolData.ts"
import { operationLine } from "./operationView.ts"
import { fact } from "./words.ts"

/** The waiting transactions as HTML. */

const LACKS: Readonly<Record<PoolLack, string>> = {
  "light": "The node has only the last blocks so far. It takes waiting transactions when it has the whole chain.",
  "loading": "The node is loading the transactions that waited when it stopped.",
  "blocks only":
    "The node runs with -blocksonly: peers send it no transactions. Only those of its own wallets, and those that " +
    "programs send to it, wait here.",
  "sync": "Blocks are missing. Until the node has them, it requests no transactions from its peers."
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
${fact("Minimum fee", amountText(info.minFeeRate), "a kvB, to be accepted now")}
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
<td data-label="" class="broad">${
    operation === undefined ? html`<span class="muted">payment</span>` : operationLine(operation)
  }</td>
<td data-label="Fee" class="number">${amountText(fee)}</td>
<td data-label="Fee a kvB" class="number">${amountText(rateOf(entry))}</td>
<td data-label="Size" class="number">${grouped(vsize)} vB</td>
<td data-label="Seen">${dated(time, { now })}</td>
</tr>`
}

const emptyText = ({ info, list }: PoolListed): string =>
  info.size > 0 && list.names ? "No name operation waits for a block." : "No transactions wait for a block."

const transactions = (listed: PoolListed): Html => {
  const { entries, list, now, pages } = listed
  const shown = Math.min(pages, MAX_PAGE)
  return html`<section id="transactions" class="card" aria-label="Waiting transactions">${
    entries.length === 0
      ? html`<p class="empty">${emptyText(listed)}</p>`
      : html`<table class="stack"><caption class="out">Transactions that wait for a block, ${
        list.order === "rate" ? "the highest fee rate first" : "the newest first"
      }</caption>
<thead><tr><th scope="col">Transaction</th><th scope="col">What it does</th><th scope="col" class="number">Fee</th><th scope="col" class="number">Fee a kvB</th><th scope="col" class="number">Size</th><th scope="col">Seen</th></tr></thead>
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

export const mempoolPage = (listed: PoolListed): Html => {
  const { info, lacks, list, parts } = listed
  const note = lacks === undefined ? undefined : html`<p class="note busy">${LACKS[lacks]}</p>`
  if (lacks === "light") return html`<h1>Mempool</h1>${note}`
  return html`<h1>Mempool</h1>${note}${facts(listed)}${choices(list)}${transactions(listed)}${
    info.size > 0 && html`<div class="charts">${chartView(poolChart(parts))}</div>`
  }`
}
