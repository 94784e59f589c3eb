import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { grouped, quantityOf, sizeText } from "../../base/quantities.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { spentBy } from "../../chain/blockReads.ts"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import type { Coin } from "../../consensus/view.ts"
import { amountText, shortAmount } from "../../protocol/amount.ts"
import type { Block } from "../../protocol/block.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { totalValue } from "../../protocol/transaction.ts"
import { type Deeds, nameScriptsOf, type WordedOperation } from "../deeds.ts"
import { ago, difficultyText, moment } from "../format.ts"
import { type Html, html } from "../html.ts"
import type { PageBody } from "../layout.ts"
import { blockLink, blocksLink } from "../links.ts"
import { fact, headingView, pagesView, row } from "../parts.ts"
import { shortTransaction } from "../places.ts"
import type { BlockPlace } from "../routes.ts"
import { operationLine } from "./operationView.ts"

/** Transactions per page. */
const BLOCK_ROWS = 50

interface ShownParts {
  readonly page: number
  /** By transaction, without the coinbase. */
  readonly spent: ReadonlyArray<ReadonlyArray<Coin>> | undefined
  readonly operations: ReadonlyArray<ReadonlyArray<WordedOperation>>
}

const contentsOf = (block: Block, { operations, page, spent }: ShownParts) => {
  const from = (page - 1) * BLOCK_ROWS
  const [coinbase] = block.transactions
  return {
    size: block.size,
    weight: block.weight,
    transactions: block.transactions.length,
    /** All name operations of the block, including commitments. */
    operations: block.transactions.reduce((sum, transaction) => sum + nameScriptsOf(transaction).length, 0),
    /** Subsidy and fees. */
    reward: totalValue(coinbase?.outputs ?? []),
    /** The parent block's hash, for a merged-mined block. */
    parentBlock: block.auxpow?.parent.hash,
    rows: block.transactions.slice(from, from + BLOCK_ROWS).map((transaction, at) => {
      const coins = spent?.[from + at - 1]
      const paid = totalValue(transaction.outputs)
      return {
        transaction,
        position: from + at,
        operations: operations[at] ?? [],
        paid,
        /** `undefined` for the coinbase, and where the spent coins are unknown. */
        fee: coins && totalValue(coins) - paid
      }
    }),
    coinsKnown: spent !== undefined
  }
}

type BlockContents = ReturnType<typeof contentsOf>
type BlockRow = BlockContents["rows"][number]

type WithoutContents = "pruned" | "not stored" | "damaged"

interface BlockFound {
  /** Seconds since 1970. */
  readonly now: number
  readonly info: HeaderInfo
  readonly contents: BlockContents | WithoutContents
  readonly page: number
  readonly pages: number
}

const missingWords: Readonly<Record<WithoutContents, string>> = {
  "pruned": "The node pruned this block and keeps only its header. The names that the block " +
    "changed have their own pages. A node without -prune keeps all blocks.",
  "not stored": "The node has only the header of this block. It has not downloaded the block, or it started " +
    "from a snapshot and has not checked earlier blocks yet.",
  "damaged": "The stored block is unreadable. The log says why, and the node downloads it again."
}

const LISTED_OPERATIONS = 3

const what = ({ operations, position }: BlockRow): Html => {
  if (position === 0) return html`<span class="badge">new coins</span>`
  if (operations.length === 0) return html`<span class="muted">payment</span>`
  const more = operations.length - LISTED_OPERATIONS
  return html`${operations.slice(0, LISTED_OPERATIONS).map((each) => html`<span>${operationLine(each)}</span> `)}${
    more > 0 && html`<span class="muted">and ${grouped(more)} more</span>`
  }`
}

const transactionRow = (height: number) => (each: BlockRow): Html => {
  const { fee, paid, transaction } = each
  return html`<tr>
<th scope="row">${shortTransaction(transaction.txid, { block: height })}</th>
<td class="does">${what(each)}</td>
<td class="number wide">${shortAmount(paid)}</td>
<td class="number wide">${fee === undefined ? "–" : shortAmount(fee)}</td>
<td class="number wide">${sizeText(transaction.size)}</td>
</tr>`
}

const transactions = (found: BlockFound, { coinsKnown, rows, transactions }: BlockContents): Html =>
  html`<section class="card" aria-labelledby="transactions-title"><h2 id="transactions-title">${
    quantityOf(transactions, "transaction")
  }</h2>
<table class="brief"><caption class="out">Transactions of the block, in order</caption>
<thead><tr><th scope="col">Transaction</th><th scope="col">Action</th><th scope="col" class="number wide">Outputs, NMC</th><th scope="col" class="number wide">Fee, NMC</th><th scope="col" class="number wide">Size</th></tr></thead>
<tbody>${rows.map(transactionRow(found.info.height))}</tbody>
</table>${
    !coinsKnown && transactions > 1 &&
    html`<p class="muted">Fees are not known: the node has no undo data of this block.</p>`
  }${
    pagesView(
      { page: found.page, pages: found.pages, label: "Pages of the block", words: ["Before", "Next"] },
      (page) => blockLink(found.info.confirmations > 0 ? found.info.height : found.info.hash, { page })
    )
  }</section>`

const neighbours = ({ info: { header, height, next } }: BlockFound): Html =>
  html`<nav class="pager" aria-label="Neighbours">${
    height > 0 && html`<a rel="prev" href="${blockLink(header.prevHash)}">← ${grouped(height - 1)}</a>`
  }<a href="${blocksLink({ from: height })}">List</a>${
    next !== undefined && html`<a rel="next" href="${blockLink(next)}">${grouped(height + 1)} →</a>`
  }</nav>`

const facts = ({ contents, info: { header }, now }: BlockFound): Html =>
  typeof contents === "string" ? html`` : html`<section aria-label="Key figures"><dl class="facts">
${fact("Time", ago(header.time, { now }), moment(header.time))}
${fact("Transactions", grouped(contents.transactions), sizeText(contents.size))}
${fact("Name operations", grouped(contents.operations), "commitments included")}
${fact("Reward", amountText(contents.reward), "new coins and fees")}
</dl></section>`

const record = ({ contents, info }: BlockFound): Html => {
  const { confirmations, hash, header, height } = info
  const parent = typeof contents === "string" ? undefined : contents.parentBlock
  return html`<section class="card" aria-labelledby="record-title"><h2 id="record-title">Header</h2>
<dl class="record">
${row("Hash", html`<code class="break">${displayHash(hash)}</code>`)}
${
    row(
      "State",
      confirmations > 0
        ? html`on the best chain, ${quantityOf(confirmations, "confirmation")}`
        : html`<span class="badge attention">stale</span> not on the best chain, which has <a href="${
          blockLink(height)
        }">another block ${grouped(height)}</a>`
    )
  }
${row("Merkle root", html`<code class="break">${displayHash(header.merkleRoot)}</code>`)}
${
    row(
      "Difficulty",
      html`${difficultyText(difficultyOf(header.bits))} <span class="muted">(bits ${
        header.bits.toString(16).padStart(8, "0")
      })</span>`
    )
  }
${row("Version", html`0x${(header.version >>> 0).toString(16).padStart(8, "0")}, nonce ${String(header.nonce)}`)}
${typeof contents !== "string" && row("Weight", html`${grouped(contents.weight)} units`)}
${
    parent !== undefined &&
    row("Merged mining", html`work of block <code class="break">${displayHash(parent)}</code> of another chain`)
  }
</dl></section>`
}

const blockMain = (found: BlockFound): Html => {
  const { contents, info } = found
  return html`${headingView("Block", html`${grouped(info.height)}`, neighbours(found))}${facts(found)}${
    typeof contents === "string"
      ? html`<p class="note busy">${missingWords[contents]}</p>${record(found)}`
      : html`${transactions(found, contents)}${record(found)}`
  }`
}

const unknownBlock = (tipHeight: number): Html =>
  html`${
    headingView("Block", html`Not known`)
  }<section class="card"><p>The node does not know this block. Its latest is <a href="${blockLink(tipHeight)}">block ${
    grouped(tipHeight)
  }</a>.</p></section>`

/** `undefined` after the last page of a block. */
export const makeBlockPage = (deeds: Deeds) =>
  Effect.gen(function*() {
    const chain = yield* Chain

    const contents = (info: HeaderInfo, page: number): Effect.Effect<BlockContents | WithoutContents> =>
      Effect.gen(function*() {
        const block = yield* chain.block(info.hash)
        // Reading a large block took its time.
        yield* turnOfEventLoop
        const from = (page - 1) * BLOCK_ROWS
        const operations = yield* deeds.ofBlock({ block, info }, { from, to: from + BLOCK_ROWS })
        const spent = yield* Effect.orElseSucceed(spentBy(chain, block, info.height), () => undefined)
        return contentsOf(block, { page, operations, spent })
      }).pipe(
        Effect.catchAll((failure) =>
          Effect.succeed<WithoutContents>(
            failure._tag === "BlockUnavailable" ? (failure.pruned ? "pruned" : "not stored") : "damaged"
          )
        )
      )

    return (
      { page, place }: { readonly place: BlockPlace; readonly page: number }
    ): Effect.Effect<PageBody | undefined> =>
      Effect.gen(function*() {
        const now = yield* unixTime
        const at = blockLink(place, { page })
        const info = typeof place === "number"
          ? yield* chain.headerAt(place)
          : yield* Effect.orElseSucceed(chain.header(place), () => undefined)
        if (info === undefined) {
          return { status: 404, title: "Unknown block", at, now, main: unknownBlock((yield* chain.tip).height) }
        }
        const found = yield* contents(info, page)
        const pages = typeof found === "string" ? 1 : Math.max(1, Math.ceil(found.transactions / BLOCK_ROWS))
        if (page > pages) return undefined
        const main = blockMain({ now, info, contents: found, page, pages })
        return { status: 200, title: `Block ${grouped(info.height)}`, at, now, main }
      })
  })
