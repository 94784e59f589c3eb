import * as Effect from "effect/Effect"
import { grouped, quantityOf, sizeText } from "../../base/quantities.ts"
import { amountText } from "../../protocol/amount.ts"
import { displayHash, toHex } from "../../protocol/bytes.ts"
import { NAME_TX_VERSION } from "../../protocol/nameOperation.ts"
import type { Network } from "../../protocol/networks.ts"
import { LOCKTIME_THRESHOLD, prevoutIndex, prevoutTxid, totalValue } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { dated, moment } from "../format.ts"
import { type Html, html, NOTHING } from "../html.ts"
import type { PageBody } from "../layout.ts"
import { transactionLink } from "../links.ts"
import { fact, headingView, pagesView, row } from "../parts.ts"
import { blockView, shortTransaction } from "../places.ts"
import { transactionFlow } from "./flowView.ts"
import { operationItem } from "./operationView.ts"
import { recipientView, scriptKind } from "./scriptWords.ts"
import type {
  InputRow,
  OutputRow,
  OutputState,
  TransactionFound,
  TransactionMissing,
  TransactionReader,
  TransactionWanted
} from "./transactionData.ts"

const heading = (badge: Html): Html => headingView("Transaction", badge)

const LISTED_OPERATIONS = 20

const operations = ({ operations }: TransactionFound): Html =>
  operations.length === 0 ? NOTHING : html`<section class="card" aria-labelledby="operations-title">
<h2 id="operations-title">${operations.length === 1 ? "Name operation" : "Name operations"}</h2>
<ul class="operations near">${
    operations.slice(0, LISTED_OPERATIONS).map((each, at) => operationItem(each, `operation-${at}`))
  }</ul></section>`

const feeRate = ({ fee, vsize }: { readonly fee: number; readonly vsize: number }): string =>
  `${amountText(Math.round(1000 * fee / vsize))} per kvB`

const facts = ({ fee, place, transaction }: TransactionFound): Html => {
  return html`<section aria-label="Key figures"><dl class="facts">
${fact("Outputs", amountText(totalValue(transaction.outputs)), quantityOf(transaction.outputs.length, "output"))}
${
    transaction.isCoinbase
      ? fact("Fee", "none", "the reward of a block")
      : fee === undefined
      ? fact("Fee", "–", "the spent coins are not known")
      : fact("Fee", amountText(fee), feeRate({ fee, vsize: transaction.virtualSize }))
  }
${fact("Size", sizeText(transaction.size), `${grouped(transaction.virtualSize)} vB`)}
${
    place._tag === "Pool"
      ? fact("Confirmations", "0", "waits in the mempool")
      : fact(
        "Confirmations",
        grouped(Math.max(0, place.info.confirmations)),
        `since block ${grouped(place.info.height)}`
      )
  }
</dl></section>`
}

const lockTimeText = (lockTime: number): string =>
  lockTime === 0 ? "none" : lockTime < LOCKTIME_THRESHOLD ? `block ${grouped(lockTime)}` : moment(lockTime)

const record = ({ now, place, transaction }: TransactionFound): Html =>
  html`<section class="card" aria-labelledby="record-title"><h2 id="record-title">Record</h2>
<dl class="record">
${row("Txid", html`<code class="break">${displayHash(transaction.txid)}</code>`)}
${
    place._tag === "Pool"
      ? row("Seen", dated(place.entry.time, { now }))
      : row(
        "Block",
        html`${blockView(place.info.height)}, transaction ${grouped(place.position)}, ${
          dated(place.info.header.time, { now })
        }`
      )
  }
${
    row(
      "Version",
      html`${transaction.version}${
        transaction.version === NAME_TX_VERSION && html` <span class="muted">(a name transaction)</span>`
      }`
    )
  }
${row("Lock time", html`${lockTimeText(transaction.lockTime)}`)}
${transaction.hasWitness && row("Witness hash", html`<code class="break">${displayHash(transaction.wtxid)}</code>`)}
</dl></section>`

const SHOWN = 100

const coinbaseRow = ({ input: { scriptSig } }: InputRow): Html =>
  html`<li><span>New coins and the fees of the block</span><code class="break">${toHex(scriptSig.subarray(0, SHOWN))}${
    scriptSig.length > SHOWN && "…"
  }</code></li>`

const inputRow = (network: Network) => ({ coin, input: { prevout } }: InputRow): Html =>
  html`<tr>
<th scope="row">${shortTransaction(prevoutTxid(prevout), coin === undefined ? {} : { block: coin.height })}:${
    String(prevoutIndex(prevout))
  }</th>
<td data-label="From" class="broad">${
    coin === undefined ? html`<span class="muted">not known</span>` : recipientView(network, coin.script)
  }</td>
<td data-label="Script">${coin === undefined ? "–" : scriptKind(coin.script)}</td>
<td data-label="Amount" class="number">${coin === undefined ? "–" : amountText(coin.value)}</td>
</tr>`

/** Folded, as the picture has the same; open where it has not. */
const listView = (
  { isOpen, key, title }: { readonly key: string; readonly title: string; readonly isOpen: boolean },
  content: Html
): Html => {
  const inside = html`<summary><h2>${title}</h2></summary>${content}`
  return isOpen
    ? html`<details open data-key="${key}">${inside}</details>`
    : html`<details data-key="${key}">${inside}</details>`
}

const inputs = (found: TransactionFound): Html => {
  const { inputs, network, page, place, transaction } = found
  const [first] = inputs
  const isUnknown = !transaction.isCoinbase && inputs.some(({ coin }) => coin === undefined)
  return listView(
    { key: "inputs", title: quantityOf(transaction.inputs.length, "input"), isOpen: found.pages > 1 || isUnknown },
    html`${
      first === undefined
        ? html`<p class="muted">No more inputs on page ${grouped(page)}.</p>`
        : transaction.isCoinbase
        ? html`<ul class="operations">${coinbaseRow(first)}</ul>`
        : html`<table class="stack"><caption class="out">Inputs of the transaction</caption><thead><tr><th scope="col">Spends</th><th scope="col">From</th><th scope="col">Script</th><th scope="col" class="number">Amount</th></tr></thead><tbody>${
          inputs.map(inputRow(network))
        }</tbody></table>`
    }${
      isUnknown && html`<p class="muted">${
        place._tag === "Pool"
          ? "Spent coins that are not known were spent by another transaction meanwhile."
          : "The node has no undo data of this block, so the spent coins are not known. A node that checked the block itself and did not prune it has them."
      }</p>`
    }`
  )
}

const stateView = (state: OutputState | undefined): Html => {
  switch (state) {
    case undefined:
      return html`–`
    case "unspent":
      return html`<span class="badge good">unspent</span>`
    case "unspendable":
      return html`<span class="muted">cannot be spent</span>`
    case "spent":
      return html`<span class="muted">spent</span>`
    default:
      return html`<span class="muted">spent by</span> ${shortTransaction(state.txid, { block: state.height })}`
  }
}

const outputRow = (network: Network) => ({ index, output: { script, value }, state }: OutputRow): Html =>
  html`<tr>
<th scope="row">${String(index)}</th>
<td data-label="To" class="broad">${recipientView(network, script)}</td>
<td data-label="Script">${scriptKind(script)}</td>
<td data-label="State">${stateView(state)}</td>
<td data-label="Amount" class="number">${amountText(value)}</td>
</tr>`

const outputs = (found: TransactionFound): Html => {
  const { network, outputs, page, pages, place, spendersIndexed, transaction } = found
  const isVague = !spendersIndexed && outputs.some(({ state }) => state === "spent")
  const block = place._tag === "Block" ? place.info.height : undefined
  return listView(
    { key: "outputs", title: quantityOf(transaction.outputs.length, "output"), isOpen: pages > 1 },
    html`${
      outputs.length === 0
        ? html`<p class="muted">No more outputs on page ${grouped(page)}.</p>`
        : html`<table class="stack"><caption class="out">Outputs of the transaction</caption><thead><tr><th scope="col">No.</th><th scope="col">To</th><th scope="col">Script</th><th scope="col">State</th><th scope="col" class="number">Amount</th></tr></thead><tbody>${
          outputs.map(outputRow(network))
        }</tbody></table>`
    }${
      isVague &&
      html`<p class="muted">A node with <code>-txospenderindex</code> knows which transaction spent an output.</p>`
    }${
      pagesView(
        { page, pages, label: "Pages of the transaction", words: ["Before", "Next"] },
        (page) => transactionLink(transaction.txid, { block, page })
      )
    }`
  )
}

const foundPage = (found: TransactionFound): Html => {
  const { place, transaction } = found
  const badge = place._tag === "Pool"
    ? html`<span class="badge busy">pending</span>`
    : html`<span class="badge good">confirmed</span>`
  return html`${heading(html`<span class="hash">${displayHash(transaction.txid).slice(0, 12)}…</span> ${badge}`)}${
    operations(found)
  }${transactionFlow(found)}${facts(found)}<section class="card" aria-label="Inputs and outputs">${inputs(found)}${
    outputs(found)
  }</section>${record(found)}`
}

const missingWords = (missing: TransactionMissing): Html => {
  switch (missing._tag) {
    case "Light":
      return html`The node has only recent blocks so far, and no list of transactions. It finds transactions when it has the whole chain.`
    case "WithoutBlock":
      return html`The transaction is in ${blockView(missing.height)}, which the node ${
        missing.pruned ? "has pruned" : "has not stored"
      }.`
    case "Unknown":
      return missing.behind
        ? html`The transaction is not known yet: the index of transactions is being built.`
        : missing.indexed
        ? html`No transaction of the best chain or of the mempool has this txid.`
        : html`No transaction with this txid is in the mempool, has an unspent output, or changed a name. A node with <code>-txindex</code> or <code>-electrumindex</code> knows all others too.`
  }
}

const missingTransaction = (txid: Uint8Array, missing: TransactionMissing): Html =>
  html`${heading(html`Not known`)}<section class="card"><p>${missingWords(missing)}</p><p><code class="break">${
    displayHash(txid)
  }</code></p></section>`

/** `undefined` after the last page of a transaction. */
export const makeTransactionPage = (reader: TransactionReader) =>
(
  wanted: TransactionWanted
): Effect.Effect<PageBody | undefined, StorageFailure> =>
  Effect.map(reader.transaction(wanted), (found): PageBody | undefined => {
    if (found === undefined) return undefined
    const { now } = found
    const at = transactionLink(wanted.txid, wanted)
    if (!("_tag" in found)) {
      const title = `Transaction ${displayHash(wanted.txid).slice(0, 12)}…`
      return { status: 200, title, at, now, main: foundPage(found) }
    }
    const status = found._tag === "Unknown" ? 404 : 200
    return { status, title: "Unknown transaction", at, now, main: missingTransaction(wanted.txid, found) }
  })
