import * as Effect from "effect/Effect"
import { grouped } from "../../base/quantities.ts"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { operationsWithin } from "../../names/events/blockOperations.ts"
import { NameDb } from "../../names/NameDb.ts"
import type { Height } from "../../protocol/keys.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import { type Html, html } from "../html.ts"
import { blockView, shortBlock } from "../places.ts"

/** The blocks of lists, from headers and names only. */

export interface ListedBlock {
  readonly info: HeaderInfo
  /** Operations that set names; `undefined` where names.db lacks the block. */
  readonly operations: number | undefined
}

/** Reads the best chain from a height downwards: so many blocks, or fewer at the genesis block. */
export const makeBlockReader = Effect.gen(function*() {
  const chain = yield* Chain
  const names = yield* NameDb
  const answers = yield* NameAnswers
  return (from: Height, count: number): Effect.Effect<ReadonlyArray<ListedBlock>, StorageFailure> =>
    Effect.gen(function*() {
      const infos: Array<HeaderInfo> = []
      for (let height = from; height >= 0 && infos.length < count; height--) {
        const info = yield* chain.headerAt(height)
        // `undefined`: disconnected meanwhile.
        if (info !== undefined) infos.push(info)
      }
      if (answers.fromWindow()) return infos.map((info) => ({ info, operations: undefined }))
      return yield* names.readLog((log) =>
        infos.map((info) => ({ info, operations: operationsWithin(log, { from: info.height, to: info.height }) }))
      )
    })
})

export interface BlockColumn {
  readonly title: string
  readonly text: (info: HeaderInfo) => string
}

/** Newest first. `when`: how their times are shown. */
export const blocksTable = (
  blocks: ReadonlyArray<ListedBlock>,
  { column, when }: { readonly column: BlockColumn; readonly when: (time: number) => Html }
): Html =>
  html`<table class="dense"><caption class="out">Blocks of the best chain, newest first</caption>
<thead><tr><th scope="col">Height</th><th scope="col">Time</th><th scope="col" class="number"><abbr title="Transactions">Tx</abbr></th><th scope="col" class="number"><abbr title="Operations that set names">Names</abbr></th><th scope="col" class="number wide">${column.title}</th><th scope="col" class="wide">Hash</th></tr></thead>
<tbody>${
    blocks.map(({ info, operations }) =>
      html`<tr>
<th scope="row">${blockView(info.height, grouped(info.height))}</th>
<td>${when(info.header.time)}</td>
<td class="number">${info.transactions === 0 ? "–" : grouped(info.transactions)}</td>
<td class="number">${operations === undefined ? "–" : grouped(operations)}</td>
<td class="number wide">${column.text(info)}</td>
<td class="wide">${shortBlock(info.hash)}</td>
</tr>`
    )
  }</tbody>
</table>`
