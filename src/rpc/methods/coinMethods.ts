import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import { type CoinHashKind, CoinStats } from "../../chain/state/coinStats.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { boolean, hash, json, optional, string, uint32, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { NodeOptions } from "../NodeOptions.ts"
import { COIN_STATISTICS, coinJson, coinStatsJson, UNSPENT_OUTPUT } from "../shapes/coins.ts"
import { storageError } from "./errors.ts"

/** Methods for unspent outputs (reference/rpc.md 3.2). */

const HASH_KINDS: ReadonlyArray<CoinHashKind> = ["hash_serialized_3", "muhash", "none"]

export const coinMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ChainCoins | ChainControl | Mempool | NodeOptions
> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const control = yield* ChainControl
  const pool = yield* Mempool
  const options = yield* NodeOptions
  const context = { network: chain.params.network, ...options }

  const gettxout = method({
    name: "gettxout",
    group: "Blockchain",
    summary: "Returns an unspent output; null if it is spent or unknown, or if its name expired. With the mempool, " +
      "includes its outputs and excludes the outputs that it spends.",
    params: {
      txid: hash("The transaction."),
      n: uint32("Index of the output."),
      include_mempool: withDefault(boolean("Whether to include the mempool."), true)
    },
    results: [
      { when: "the output is unspent", schema: UNSPENT_OUTPUT },
      { when: "it is spent or unknown", schema: Result.nothing("") }
    ],
    examples: [["0c686779a1dcc867039a3c71934d6cde487c4eabd9cd2efd0bdcf15262ed9886", 0]],
    handler: ({ include_mempool, n, txid }) => {
      const key = outpointKey(outpoint(txid, n))
      return chainCoins.coin(key).pipe(
        Effect.map(({ coin, tip }) => {
          if (include_mempool && pool.spender(key) !== undefined) return null
          const waiting = include_mempool ? pool.coin(key) : undefined
          if (waiting !== undefined) return coinJson(context, waiting, { bestBlock: tip.hash, confirmations: 0 })
          const confirmations = tip.height - (coin?.height ?? 0) + 1
          return coin === undefined ? null : coinJson(context, coin, { bestBlock: tip.hash, confirmations })
        }),
        Effect.mapError(storageError)
      )
    }
  })

  const statistics = (kind: CoinHashKind) =>
    chainCoins.atRest(({ tip, visitCoins }) =>
      Effect.gen(function*() {
        const stats = new CoinStats(kind)
        yield* visitCoins((coins) => {
          for (const [key, coin] of coins) stats.add(fromBinaryString(key), coin)
        })
        return coinStatsJson(stats.finish(), { ...tip, diskSize: yield* control.chainstateSize })
      })
    ).pipe(Effect.mapError(storageError))

  const gettxoutsetinfo = method({
    name: "gettxoutsetinfo",
    group: "Blockchain",
    summary: "Counts and hashes all unspent outputs. Reads all of them; the node connects no block meanwhile.",
    params: {
      hash_type: withDefault(string("hash_serialized_3, muhash or none."), "hash_serialized_3"),
      hash_or_height: optional(
        json("A block other than the tip; needs an index that svcd does not have.", { words: "string or numeric" })
      ),
      use_index: withDefault(boolean("Ignored: there is no index."), true)
    },
    results: [{ schema: COIN_STATISTICS }],
    examples: [[], ["muhash"]],
    errors: ["-8 Querying specific block heights requires coinstatsindex", "-8 '<x>' is not a valid hash_type"],
    handler: ({ hash_or_height, hash_type }) =>
      Effect.suspend(() => {
        const kind = HASH_KINDS.find((known) => known === hash_type)
        if (kind === undefined) return RpcError.invalidParameter(`'${hash_type}' is not a valid hash_type`)
        return hash_or_height === undefined
          ? statistics(kind)
          : RpcError.invalidParameter("Querying specific block heights requires coinstatsindex")
      })
  })

  return [gettxout, gettxoutsetinfo]
})
