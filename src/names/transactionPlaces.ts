import * as Effect from "effect/Effect"
import { Chain } from "../chain/Chain.ts"
import { ChainCoins } from "../chain/ChainCoins.ts"
import { TxIndex } from "../chain/TxIndex.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { NameDb } from "./NameDb.ts"

/** The heights of confirmed transactions, as far as the node knows. */
export interface TransactionPlaces {
  /** The height of a transaction (txid in wire order) from the index, an unspent output, or a name that it changed. */
  readonly heightOf: (txid: Bytes) => Effect.Effect<number | undefined, StorageFailure>
  /** Whether there is an index of all transactions (`-txindex`). */
  readonly indexed: boolean
  /** Whether that index lacks blocks because it is being rebuilt in the background. */
  readonly indexIsBehind: Effect.Effect<boolean, StorageFailure>
}

export const transactionPlaces: Effect.Effect<
  TransactionPlaces,
  never,
  Chain | ChainCoins | NameDb | TxIndex
> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const names = yield* NameDb
  const index = yield* TxIndex
  return {
    heightOf: (txid) =>
      Effect.gen(function*() {
        const indexed = yield* index.heightOf(txid)
        if (indexed !== undefined) return indexed
        const coin = yield* chainCoins.coinOf(txid)
        return coin?.height ?? (yield* names.heightOfTransaction(txid))
      }),
    indexed: index.enabled,
    indexIsBehind: Effect.gen(function*() {
      const cursor = index.follower === undefined ? undefined : yield* index.follower.cursor
      return (cursor?.height ?? -1) < (yield* chain.tip).height
    })
  }
})
