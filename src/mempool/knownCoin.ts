import * as Effect from "effect/Effect"
import type { ChainCoins } from "../chain/ChainCoins.ts"
import type { Coin } from "../consensus/view.ts"
import type { OutpointKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { Mempool } from "./Mempool.ts"

/** A coin of the mempool or the chain, if any. Mempool transactions may spend it. */
export const knownCoin = (
  { chainCoins, pool }: { readonly chainCoins: typeof ChainCoins.Service; readonly pool: typeof Mempool.Service },
  outpoint: OutpointKey
): Effect.Effect<Coin | undefined, StorageFailure> => {
  const waiting = pool.coin(outpoint)
  return waiting === undefined
    ? Effect.map(chainCoins.coin(outpoint), ({ coin }) => coin)
    : Effect.succeed(waiting)
}
