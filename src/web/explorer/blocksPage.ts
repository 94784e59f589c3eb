import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { Chain } from "../../chain/Chain.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { dated } from "../format.ts"
import { type Html, html } from "../html.ts"
import type { PageBody } from "../layout.ts"
import { blocksLink, poolLink } from "../links.ts"
import { blockView, shortBlock } from "../places.ts"
import { type ListedBlock, makeBlockReader } from "./blocksData.ts"
import { difficultyText } from "./words.ts"

/** The list of blocks. */

const LISTED_BLOCKS = 50

const blockRow = (now: number) => ({ info, operations }: ListedBlock): Html =>
  html`<tr>
<th scope="row">${blockView(info.height, grouped(info.height))}</th>
<td>${dated(info.header.time, { now })}</td>
<td class="number">${info.transactions === 0 ? "–" : grouped(info.transactions)}</td>
<td class="number">${operations === undefined ? "–" : grouped(operations)}</td>
<td class="number wide">${difficultyText(difficultyOf(info.header.bits))}</td>
<td class="wide">${shortBlock(info.hash)}</td>
</tr>`

export const makeBlocksPage = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const blocksFrom = yield* makeBlockReader

  return ({ from }: { readonly from: Height | undefined }): Effect.Effect<PageBody, StorageFailure> =>
    Effect.gen(function*() {
      const now = yield* unixTime
      const { height: tip } = yield* chain.tip
      const start = Math.min(from ?? tip, tip)
      const newest = start === tip
      const blocks = yield* blocksFrom(start, LISTED_BLOCKS)
      const last = blocks.at(-1)?.info.height ?? 0
      const first = blocks[0]?.info.height ?? 0
      const waiting = pool.info().size
      const main = html`<h1>Blocks</h1>${
        newest &&
        html`<p><a href="${poolLink()}">${quantityOf(waiting, "transaction")}</a> ${
          waiting === 1 ? "waits" : "wait"
        } for a block.</p>`
      }<section id="blocks" class="card" aria-label="Blocks">
<table><caption class="out">Blocks of the best chain, the newest first</caption>
<thead><tr><th scope="col">Height</th><th scope="col">Time</th><th scope="col" class="number"><abbr title="Transactions">Tx</abbr></th><th scope="col" class="number"><abbr title="Operations that set names">Names</abbr></th><th scope="col" class="number wide">Difficulty</th><th scope="col" class="wide">Hash</th></tr></thead>
<tbody>${blocks.map(blockRow(now))}</tbody>
</table><nav class="pager" aria-label="Pages of the blocks">${
        !newest &&
        html`<a rel="prev" href="${blocksLink({ from: Math.min(tip, first + LISTED_BLOCKS) })}">Newer</a>`
      }<span>${grouped(last)} to ${grouped(first)}</span>${
        last > 0 && html`<a rel="next" href="${blocksLink({ from: last - 1 })}">Older</a>`
      }</nav></section>`
      return { status: 200, title: "Blocks", at: blocksLink({ from }), now, main }
    })
})
