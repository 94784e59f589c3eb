import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import type { Coin } from "../../consensus/view.ts"
import { knownCoin } from "../../mempool/knownCoin.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { outpointKey } from "../../protocol/transaction.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { GETDESCRIPTORACTIVITY } from "../contract/chain/scan.ts"
import { readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import type * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import type { ReadThread } from "../reader/ReadThread.ts"
import { type EVENT, eventJson, matchesOf, type SearchedPlace } from "../shapes/activity.ts"
import { blockError, storageError } from "./errors.ts"
import { makeBlockSearch } from "./hashOrHeight.ts"
import { scanScriptSteps } from "./scanObjects.ts"

/** reference/rpc.md 3.2. */

export const activityMethods: Methods<Chain | ChainCoins | Mempool | AnswerOptions | ReadThread> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const blocks = yield* makeBlockSearch
    const chainCoins = yield* ChainCoins
    const pool = yield* Mempool
    const options = yield* AnswerOptions
    const { network } = chain.params
    const context = { network, ...options }

    const placesOf = (hashes: ReadonlyArray<Bytes>): Effect.Effect<ReadonlyArray<SearchedPlace>, RpcError> =>
      Effect.gen(function*() {
        const places = new Map<number, SearchedPlace>()
        for (const hash of hashes) {
          const info = yield* Effect.mapError(chain.header(hash), blockError)
          if (info.confirmations < 1) return yield* RpcError.invalidParameter("Block is not in main chain")
          places.set(info.height, info)
        }
        return [...places.values()].sort((a, b) => a.height - b.height)
      })

    const getdescriptoractivity = method(
      GETDESCRIPTORACTIVITY,
      ({ blockhashes, include_mempool, scanobjects }, { turns }) =>
        Effect.gen(function*() {
          const places = yield* placesOf(blockhashes)
          const { keys: scripts } = yield* readInTurns(turns, scanScriptSteps(network, scanobjects))
          const activity: Array<Result.ValueOf<typeof EVENT>> = []
          yield* blocks.search({ places, scripts, turns }, (place, matches) => {
            for (const match of matches) activity.push(eventJson(context, match, place))
          })
          for (const { transaction } of include_mempool ? [...pool.entries()] : []) {
            const spent: Array<Coin | undefined> = []
            for (const { prevout } of transaction.inputs) {
              spent.push(yield* Effect.mapError(knownCoin({ chainCoins, pool }, outpointKey(prevout)), storageError))
            }
            for (const match of matchesOf({ transaction, spent }, scripts)) {
              activity.push(eventJson(context, match, undefined))
            }
            if (turns.isOver()) yield* turns.next
          }
          return { activity }
        })
    )

    return [getdescriptoractivity]
  }
)
