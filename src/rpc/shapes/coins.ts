import type { CoinStatistics } from "../../chain/state/coinStats.ts"
import type { Coin } from "../../consensus/view.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { Amount } from "../json/encodeJson.ts"
import type { Members, ShapeContext } from "./context.ts"
import { scriptJson } from "./script.ts"

/**
 * Unspent outputs in answers (reference/rpc.md 3.2). Source: upstream `rpc/blockchain.cpp`, `gettxout`,
 * `gettxoutsetinfo`.
 */

export const coinJson = (
  context: ShapeContext,
  coin: Coin,
  seen: {
    /** Hash of the tip, wire order. */
    readonly bestBlock: Bytes
    /** 0 in the mempool, 1 in the tip. */
    readonly confirmations: number
  }
): Members => ({
  bestblock: displayHash(seen.bestBlock),
  confirmations: seen.confirmations,
  value: new Amount(coin.value),
  scriptPubKey: scriptJson(context, coin.script),
  coinbase: coin.coinbase
})

export const coinStatsJson = (
  stats: CoinStatistics,
  at: {
    readonly height: number
    /** Wire order. */
    readonly hash: Bytes
    /** Approximate bytes of the coins on disk. */
    readonly diskSize: number
  }
): Members => {
  const hash = stats.hash === undefined ? undefined : displayHash(stats.hash)
  return {
    height: at.height,
    bestblock: displayHash(at.hash),
    txouts: stats.txouts,
    bogosize: stats.bogosize,
    hash_serialized_3: stats.kind === "hash_serialized_3" ? hash : undefined,
    muhash: stats.kind === "muhash" ? hash : undefined,
    amount: {
      coins: new Amount(stats.coins),
      names: new Amount(stats.names),
      total: new Amount(stats.coins + stats.names)
    },
    transactions: stats.transactions,
    disk_size: at.diskSize
  }
}
