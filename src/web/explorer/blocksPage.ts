import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { grouped, quantityOf } from "../../base/quantities.ts"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { difficultyOf } from "../../consensus/difficulty.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { dated, difficultyText } from "../format.ts"
import { html } from "../html.ts"
import type { PageBody } from "../layout.ts"
import { blocksLink, poolLink } from "../links.ts"
import { blocksTable, makeBlockReader } from "./blocksData.ts"

const LISTED_BLOCKS = 50

const DIFFICULTY = {
  title: "Difficulty",
  text: ({ header: { bits } }: HeaderInfo) => difficultyText(difficultyOf(bits))
}

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
${
        blocksTable(blocks, {
          column: DIFFICULTY,
          when: (time) => dated(time, { now })
        })
      }<nav class="pager" aria-label="Pages of the blocks">${
        !newest &&
        html`<a rel="prev" href="${blocksLink({ from: Math.min(tip, first + LISTED_BLOCKS) })}">Newer</a>`
      }<span>${grouped(last)} to ${grouped(first)}</span>${
        last > 0 && html`<a rel="next" href="${blocksLink({ from: last - 1 })}">Older</a>`
      }</nav></section>`
      return { status: 200, title: "Blocks", at: blocksLink({ from }), now, main }
    })
})
