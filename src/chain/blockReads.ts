import * as Effect from "effect/Effect"
import { spentCoins } from "../consensus/connectBlock.ts"
import type { Coin } from "../consensus/view.ts"
import type { Block } from "../protocol/block.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import type { Height } from "../protocol/keys.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Chain } from "./Chain.ts"
import type { BlockNotFound, BlockUnavailable } from "./errors.ts"
import type { HeaderInfo } from "./index/headerInfo.ts"
import type { SpenderIndex } from "./indexes/SpenderIndex.ts"

/** What calls and pages read in blocks. */

type Blocks = typeof Chain.Service

export interface PlacedTransaction {
  readonly transaction: Transaction
  readonly position: number
  readonly block: Block
  readonly info: HeaderInfo
}

/** A transaction of a block; `undefined` if the block does not have it. */
export const transactionIn = (
  chain: Blocks,
  info: HeaderInfo,
  txid: Bytes
): Effect.Effect<PlacedTransaction | undefined, BlockNotFound | BlockUnavailable | StorageFailure> =>
  Effect.map(chain.block(info.hash), (block) => {
    const position = block.transactions.findIndex((transaction) => equal(transaction.txid, txid))
    const transaction = block.transactions[position]
    return transaction === undefined ? undefined : { transaction, position, block, info }
  })

/** The coins that the transactions of a connected block spent, without the coinbase; `undefined` without undo data. */
export const spentBy = (
  chain: Blocks,
  block: Block,
  height: Height
): Effect.Effect<ReadonlyArray<ReadonlyArray<Coin>> | undefined, BlockNotFound | StorageFailure> =>
  Effect.map(
    chain.undo(block.hash),
    (undo) => undo === undefined ? undefined : spentCoins(block, height, undo.removed).slice(1)
  )

/** The confirmed transaction that spends an outpoint, among those that the index has for it; `undefined` for none. */
export const spenderAmong = (
  chain: Blocks,
  candidates: Effect.Effect.Success<ReturnType<SpenderIndex["candidates"]>>,
  prevout: Bytes
): Effect.Effect<
  Pick<PlacedTransaction, "transaction" | "info"> | undefined,
  BlockNotFound | BlockUnavailable | StorageFailure
> =>
  Effect.gen(function*() {
    for (const { height, position } of candidates) {
      const info = yield* chain.headerAt(height)
      if (info === undefined) continue
      const transaction = (yield* chain.block(info.hash)).transactions[position]
      const spends = transaction?.inputs.some((input) => equal(input.prevout, prevout)) === true
      if (transaction !== undefined && spends) return { transaction, info }
    }
    return undefined
  })
