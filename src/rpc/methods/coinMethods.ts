import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import type { CoinStatsIndex } from "../../chain/indexes/CoinStatsIndex.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import { type CoinHashKind, CoinStats } from "../../chain/state/coinStats.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { fromBinaryString } from "../../protocol/bytes.ts"
import { outpoint, outpointKey } from "../../protocol/transaction.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { GETTXOUT, GETTXOUTSETINFO } from "../contract/chain/coin.ts"
import { readHashOrHeight } from "../contract/chain/hashOrHeight.ts"
import type { Json } from "../json/json.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { ReadThread } from "../reader/ReadThread.ts"
import { coinJson, coinStatsJson, indexedCoinStatsJson } from "../shapes/coins.ts"
import { storageError } from "./errors.ts"
import { findBlock } from "./hashOrHeight.ts"

/** reference/rpc.md 3.2. */

const HASH_KINDS: ReadonlyArray<CoinHashKind> = ["hash_serialized_3", "muhash", "none"]

const indexed = (index: CoinStatsIndex, block: HeaderInfo, withHash: boolean) =>
  Effect.gen(function*() {
    const { hash, height, header } = block
    const [after, before] = yield* Effect.mapError(
      Effect.all([
        index.stats(block),
        height === 0 ? Effect.succeed(undefined) : index.stats({ height: height - 1, hash: header.prevHash })
      ]),
      storageError
    )
    if (after === undefined || (height > 0 && before === undefined)) {
      return yield* RpcError.internal("Unable to read UTXO set")
    }
    return indexedCoinStatsJson({ after, before }, { height, hash, withHash })
  })

export const coinMethods: Methods<
  Chain | ChainCoins | ChainControl | Indexes | Mempool | AnswerOptions | ReadThread
> = Effect.gen(function*() {
  const chain = yield* Chain
  const chainCoins = yield* ChainCoins
  const control = yield* ChainControl
  const pool = yield* Mempool
  const options = yield* AnswerOptions
  const { coinStats } = yield* Indexes
  const reader = yield* ReadThread
  const counting = yield* Effect.makeSemaphore(1)
  const context = { network: chain.params.network, ...options }

  const gettxout = method(GETTXOUT, ({ include_mempool, n, txid }) => {
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
  })

  /** No block is connected meanwhile. */
  const countHere = (kind: CoinHashKind) =>
    chainCoins.atRest(({ tip, visitCoins }) =>
      Effect.gen(function*() {
        const stats = new CoinStats(kind)
        yield* visitCoins((coins) => {
          for (const [key, coin] of coins) stats.add(fromBinaryString(key), coin)
        })
        return coinStatsJson(stats.finish(), { ...tip, diskSize: yield* control.chainstateSize })
      })
    )

  /** Counts what is stored now, while the node continues to connect blocks. */
  const countAside = (kind: CoinHashKind) =>
    Effect.scoped(Effect.gen(function*() {
      const scope = yield* Effect.scope
      const { job, ...at } = yield* chainCoins.atRest(({ file, tip: { hash, height } }) =>
        Effect.gen(function*() {
          const diskSize = yield* control.chainstateSize
          const begun = yield* Scope.extend(reader.begin({ type: "coinStats", file, kind }), scope)
          return { job: begun, hash, height, diskSize }
        })
      )
      return coinStatsJson(yield* job.found, at)
    }))

  const statistics = (kind: CoinHashKind) =>
    countAside(kind).pipe(
      Effect.catchTag("NotRead", () => countHere(kind)),
      Effect.mapError((error) => error._tag === "RpcError" ? error : storageError(error)),
      counting.withPermits(1)
    )

  const specificBlock = (
    wanted: Json,
    kind: CoinHashKind,
    useIndex: boolean
  ): Effect.Effect<HeaderInfo, RpcError> =>
    Effect.gen(function*() {
      if (coinStats === undefined) {
        return yield* RpcError.invalidParameter("Querying specific block heights requires coinstatsindex")
      }
      if (kind === "hash_serialized_3") {
        return yield* RpcError.invalidParameter(
          "hash_serialized_3 hash type cannot be queried for a specific block"
        )
      }
      if (!useIndex) {
        return yield* RpcError.invalidParameter("Cannot set use_index to false when querying for a specific block")
      }
      const read = readHashOrHeight(wanted)
      return read instanceof RpcError ? yield* read : yield* findBlock(chain, read)
    })

  const gettxoutsetinfo = method(GETTXOUTSETINFO, ({ hash_or_height, hash_type, use_index }) =>
    Effect.gen(function*() {
      const kind = HASH_KINDS.find((known) => known === hash_type)
      if (kind === undefined) return yield* RpcError.invalidParameter(`'${hash_type}' is not a valid hash_type`)
      const asked = hash_or_height === undefined ? undefined : yield* specificBlock(hash_or_height, kind, use_index)
      if (coinStats === undefined || !use_index) return yield* statistics(kind)
      const block = asked ?? (yield* chain.toldTip)
      const reached = (yield* Effect.mapError(coinStats.follower.cursor, storageError))?.height ?? 0
      if (asked !== undefined && asked.height > reached) {
        return yield* RpcError.internal(
          `Unable to get data because coinstatsindex is still syncing. Current height: ${reached}`
        )
      }
      return kind === "hash_serialized_3"
        ? yield* statistics(kind)
        : yield* indexed(coinStats, block, kind === "muhash")
    }))

  return [gettxout, gettxoutsetinfo]
})
