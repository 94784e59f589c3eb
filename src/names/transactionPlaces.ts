import * as Effect from "effect/Effect"
import { type PlacedTransaction, transactionIn } from "../chain/blockReads.ts"
import { Chain } from "../chain/Chain.ts"
import { ChainCoins } from "../chain/ChainCoins.ts"
import type { BlockNotFound, BlockUnavailable } from "../chain/errors.ts"
import { NO_HEADER } from "../chain/index/HeaderTree.ts"
import { Indexes } from "../chain/indexes/Indexes.ts"
import type { ScriptIndex } from "../chain/indexes/ScriptIndex.ts"
import { TxIndex } from "../chain/TxIndex.ts"
import { type Bytes, equal } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { NameDb } from "./NameDb.ts"

/** The heights of confirmed transactions, as far as the node knows. */
export interface TransactionPlaces {
  /** The height of a transaction (txid in wire order) from an index, an unspent output, or a name that it changed. */
  readonly heightOf: (txid: Bytes) => Effect.Effect<number | undefined, StorageFailure>
  /** A transaction in its block, found by `heightOf`. The block of a pruned node may be unavailable. */
  readonly find: (
    txid: Bytes
  ) => Effect.Effect<PlacedTransaction | undefined, BlockNotFound | BlockUnavailable | StorageFailure>
  /** Whether there is an index of all transactions (`-txindex`, `-electrumindex`). */
  readonly indexed: boolean
  /** Whether that index lacks blocks because it is being rebuilt in the background. */
  readonly indexIsBehind: Effect.Effect<boolean, StorageFailure>
}

/** Blocks that the index of scripts may name for a txid: its own, those of other branches, and others by chance. */
const MOST_CANDIDATES = 100

type ChainReads = Pick<typeof Chain.Service, "block" | "tree">

/**
 * The height of a transaction by the index of scripts. Only a look into the block tells: rows of blocks that left the chain stay
 * in the index, and others share the beginning of the txid.
 */
const heightByScripts = (
  scripts: ScriptIndex,
  { block, tree }: ChainReads,
  txid: Bytes
): Effect.Effect<number | undefined, StorageFailure> =>
  Effect.gen(function*() {
    const { heights } = yield* scripts.heights({ hash: txid, limit: MOST_CANDIDATES })
    for (const height of heights.toReversed()) {
      const id = tree.at(height)
      if (id === NO_HEADER) continue
      const found = yield* block(tree.hash(id).slice()).pipe(
        Effect.map(({ transactions }) => transactions.some((each) => equal(each.txid, txid))),
        Effect.catchTags({
          BlockNotFound: () => Effect.succeed(false),
          BlockUnavailable: () => Effect.succeed(false)
        })
      )
      if (found) return height
    }
    return undefined
  })

export const transactionPlaces: Effect.Effect<
  TransactionPlaces,
  never,
  Chain | ChainCoins | Indexes | NameDb | TxIndex
> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const names = yield* NameDb
  const index = yield* TxIndex
  const { scripts } = yield* Indexes

  const heightOf = (txid: Bytes): Effect.Effect<number | undefined, StorageFailure> =>
    Effect.gen(function*() {
      const indexed = yield* index.heightOf(txid)
      if (indexed !== undefined) return indexed
      const coin = yield* chainCoins.coinOf(txid)
      const known = coin?.height ?? (yield* names.heightOfTransaction(txid))
      return known ?? (scripts && (yield* heightByScripts(scripts, chain, txid)))
    })

  return {
    heightOf,
    find: (txid) =>
      Effect.gen(function*() {
        const height = yield* heightOf(txid)
        const info = height === undefined ? undefined : yield* chain.headerAt(height)
        return info && (yield* transactionIn(chain, info, txid))
      }),
    indexed: index.enabled || scripts !== undefined,
    indexIsBehind: Effect.gen(function*() {
      const cursor = yield* index.follower?.cursor ?? scripts?.at ?? Effect.succeed(undefined)
      return (cursor?.height ?? -1) < (yield* chain.tip).height
    })
  }
})
