import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turnOfEventLoop.ts"
import { spentBy } from "../../chain/blockReads.ts"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import type { Network } from "../../protocol/networks.ts"
import { totalValue, type Transaction } from "../../protocol/transaction.ts"
import { type Deeds, nameScriptsOf, type WordedOperation } from "../deeds.ts"
import type { BlockPlace } from "../routes.ts"

/** The data of a block's page. */

/** A transaction in the list of its block. */
export interface BlockRow {
  readonly transaction: Transaction
  readonly position: number
  readonly operations: ReadonlyArray<WordedOperation>
  /** Smallest units of all outputs. */
  readonly paid: number
  /** Smallest units; `undefined` for the coinbase, and where the spent coins are not known. */
  readonly fee: number | undefined
}

export interface BlockContents {
  readonly size: number
  /** Weight units. */
  readonly weight: number
  readonly transactions: number
  /** Name operations of the whole block, commitments included. */
  readonly operations: number
  /** Smallest units that the coinbase pays: subsidy and fees. */
  readonly reward: number
  /** The hash of the block of the other chain whose work counts (wire order), for a merged-mined block. */
  readonly parentBlock: Uint8Array | undefined
  readonly rows: ReadonlyArray<BlockRow>
  /** Whether the coins that it spends are known. */
  readonly coinsKnown: boolean
}

/** Why the transactions of a block cannot be shown. */
export type WithoutContents = "pruned" | "not stored" | "damaged"

export interface BlockFound {
  /** Seconds since 1970. */
  readonly now: number
  readonly network: Network
  readonly info: HeaderInfo
  readonly previous: Uint8Array | undefined
  readonly contents: BlockContents | WithoutContents
  readonly page: number
  readonly pages: number
}

/** A height above the tip, or a hash that no header has. */
export interface BlockMissing {
  readonly now: number
  readonly tipHeight: number
}

/** Transactions on a page of a block. */
export const BLOCK_ROWS = 50

/** The transactions of a page of a block. */
const pageOf = ({ transactions }: Block, page: number): ReadonlyArray<Transaction> =>
  transactions.slice((page - 1) * BLOCK_ROWS, page * BLOCK_ROWS)

interface ShownParts {
  readonly page: number
  /** By transaction, without the coinbase. */
  readonly spent: ReadonlyArray<ReadonlyArray<Coin>> | undefined
  /** Of the transactions of the page. */
  readonly operations: ReadonlyArray<ReadonlyArray<WordedOperation>>
}

const contentsOf = (block: Block, { operations, page, spent }: ShownParts): BlockContents => {
  const from = (page - 1) * BLOCK_ROWS
  const [coinbase] = block.transactions
  return {
    size: block.size,
    weight: block.weight,
    transactions: block.transactions.length,
    operations: block.transactions.reduce((sum, transaction) => sum + nameScriptsOf(transaction).length, 0),
    reward: totalValue(coinbase?.outputs ?? []),
    parentBlock: block.auxpow?.parent.hash,
    rows: pageOf(block, page).map((transaction, at) => {
      const coins = spent?.[from + at - 1]
      return {
        transaction,
        position: from + at,
        operations: operations[at] ?? [],
        paid: totalValue(transaction.outputs),
        fee: coins && totalValue(coins) - totalValue(transaction.outputs)
      }
    }),
    coinsKnown: spent !== undefined
  }
}

/** The header at a place of the best chain or of a branch; `undefined` if none is known. */
export const headerOf = (
  chain: typeof Chain.Service,
  place: BlockPlace
): Effect.Effect<HeaderInfo | undefined> =>
  typeof place === "number"
    ? chain.headerAt(place)
    : Effect.orElseSucceed(chain.header(place), () => undefined)

/** The coins that a block spends, as `spentBy`; `undefined` also if the undo data are lost or pruned. */
export const coinsOfBlock = (chain: typeof Chain.Service, block: Block, height: number) =>
  Effect.orElseSucceed(spentBy(chain, block, height), () => undefined)

export interface BlockPageWanted {
  readonly place: BlockPlace
  readonly page: number
}

export type BlockPageReader = (
  wanted: BlockPageWanted
) => Effect.Effect<BlockFound | BlockMissing | undefined>

/** Makes the reader of blocks: its result is `undefined` for a page behind the last. */
export const makeBlockPageReader = (deeds: Deeds): Effect.Effect<BlockPageReader, never, Chain> =>
  Effect.gen(function*() {
    const chain = yield* Chain

    const contents = (
      info: HeaderInfo,
      page: number
    ): Effect.Effect<BlockContents | WithoutContents> =>
      Effect.gen(function*() {
        const block = yield* chain.block(info.hash)
        // Reading a large block took its time.
        yield* turnOfEventLoop
        const from = (page - 1) * BLOCK_ROWS
        const operations = yield* deeds.ofBlock({ block, info }, { from, to: from + BLOCK_ROWS })
        return contentsOf(block, { page, operations, spent: yield* coinsOfBlock(chain, block, info.height) })
      }).pipe(
        Effect.catchAll((failure) =>
          Effect.succeed<WithoutContents>(
            failure._tag === "BlockUnavailable" ? (failure.pruned ? "pruned" : "not stored") : "damaged"
          )
        )
      )

    return ({ page, place }) =>
      Effect.gen(function*() {
        const now = yield* unixTime
        const info = yield* headerOf(chain, place)
        if (info === undefined) return { now, tipHeight: (yield* chain.tip).height }
        const found = yield* contents(info, page)
        const pages = typeof found === "string" ? 1 : Math.max(1, Math.ceil(found.transactions / BLOCK_ROWS))
        if (page > pages) return undefined
        return {
          now,
          network: chain.params.network,
          info,
          previous: info.height === 0 ? undefined : info.header.prevHash,
          contents: found,
          page,
          pages
        }
      })
  })
