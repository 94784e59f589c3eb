import * as Schema from "effect/Schema"
import type { AmountTotal, StoredCoinStats } from "../../chain/indexes/CoinStatsIndex.ts"
import type { CoinTotals } from "../../chain/indexes/coinTotals.ts"
import type { CoinStatistics } from "../../chain/state/coinStats.ts"
import type { Coin } from "../../consensus/view.ts"
import { type Bytes, displayHash } from "../../protocol/bytes.ts"
import { Amount } from "../json/encodeJson.ts"
import * as Result from "../method/results.ts"
import type { ShapeContext } from "./context.ts"
import { SCRIPT, scriptJson } from "./script.ts"

/** Unspent outputs (reference/rpc.md 3.2). Source: upstream `rpc/blockchain.cpp`, `gettxout`, `gettxoutsetinfo`. */

export const UNSPENT_OUTPUT = Schema.Struct({
  bestblock: Result.hex("Hash of the tip"),
  confirmations: Result.integer("1 if it is in the tip, 0 if it is in the mempool"),
  value: Result.amount("Amount"),
  scriptPubKey: SCRIPT,
  coinbase: Result.boolean("Whether it is the output of a coinbase")
})

export const coinJson = (
  context: ShapeContext,
  coin: Coin,
  seen: {
    /** Hash of the tip, in wire order. */
    readonly bestBlock: Bytes
    /** 0 in the mempool, 1 in the tip. */
    readonly confirmations: number
  }
): Result.ValueOf<typeof UNSPENT_OUTPUT> => ({
  bestblock: displayHash(seen.bestBlock),
  confirmations: seen.confirmations,
  value: new Amount(coin.value),
  scriptPubKey: scriptJson(context, coin.script),
  coinbase: coin.coinbase
})

export const COIN_STATISTICS = Schema.Struct({
  height: Result.integer("Height of the tip"),
  bestblock: Result.hex("Hash of the tip"),
  txouts: Result.integer("Unspent outputs"),
  bogosize: Result.integer("A size that does not depend on the database"),
  hash_serialized_3: Schema.optional(Result.hex("Hash over all outputs")),
  muhash: Schema.optional(Result.hex("Hash over the set, independent of its order")),
  amount: Schema.Struct({
    coins: Result.amount("Amount in ordinary outputs"),
    names: Result.amount("Amount in name outputs"),
    total: Result.amount("Both")
  }),
  transactions: Result.integer("Transactions with unspent outputs"),
  disk_size: Result.integer("Bytes of the database")
})

const { amount, bestblock, bogosize, height, muhash, txouts } = COIN_STATISTICS.fields

/** From the index, for any block. */
export const INDEXED_COIN_STATISTICS = Schema.Struct({
  height,
  bestblock,
  txouts,
  bogosize,
  muhash,
  amount,
  total_unspendable_amount: Result.amount("Amounts that never became coins, up to the block"),
  block_info: Schema.Struct({
    prevout_spent: Result.amount("Amount of the outputs that the block spent"),
    coinbase: Result.amount("Amount of the outputs of its coinbase"),
    new_outputs_ex_coinbase: Result.amount("Amount of its other outputs"),
    unspendable: Result.amount("Amounts of the block that never became coins"),
    unspendables: Schema.Struct({
      genesis_block: Result.amount("The subsidy of the first block"),
      bip30: Result.amount("Outputs that a later coinbase replaced: always 0"),
      scripts: Result.amount("Outputs with unspendable scripts"),
      unclaimed_rewards: Result.amount("Rewards that the miner did not claim")
    })
  })
})

export const indexedCoinStatsJson = (
  { after, before }: { readonly after: StoredCoinStats; readonly before: CoinTotals | undefined },
  block: { readonly height: number; readonly hash: Bytes; readonly withHash: boolean }
): Result.ValueOf<typeof INDEXED_COIN_STATISTICS> => {
  const difference = (name: AmountTotal): number => Number(after[name] - (before?.[name] ?? 0n))
  const lost = (totals: CoinTotals): bigint => totals.genesis + totals.scripts + totals.unclaimed
  return {
    height: block.height,
    bestblock: displayHash(block.hash),
    txouts: after.txouts,
    bogosize: after.bogosize,
    muhash: block.withHash ? displayHash(after.muhash) : undefined,
    amount: {
      coins: new Amount(after.coins),
      names: new Amount(after.names),
      total: new Amount(after.coins + after.names)
    },
    total_unspendable_amount: new Amount(Number(lost(after))),
    block_info: {
      prevout_spent: new Amount(difference("spent")),
      coinbase: new Amount(difference("coinbase")),
      new_outputs_ex_coinbase: new Amount(difference("created")),
      unspendable: new Amount(Number(lost(after) - (before === undefined ? 0n : lost(before)))),
      unspendables: {
        genesis_block: new Amount(difference("genesis")),
        bip30: new Amount(0),
        scripts: new Amount(difference("scripts")),
        unclaimed_rewards: new Amount(difference("unclaimed"))
      }
    }
  }
}

export const coinStatsJson = (
  stats: CoinStatistics,
  at: {
    readonly height: number
    /** Wire order. */
    readonly hash: Bytes
    /** Approximate bytes of the coins on disk. */
    readonly diskSize: number
  }
): Result.ValueOf<typeof COIN_STATISTICS> => {
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
