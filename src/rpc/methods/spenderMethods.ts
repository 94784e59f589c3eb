import * as Effect from "effect/Effect"
import { spenderAmong } from "../../chain/blockReads.ts"
import { Chain } from "../../chain/Chain.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import type { SpenderIndex } from "../../chain/indexes/SpenderIndex.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
import { outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"
import { GETTXSPENDINGPREVOUT } from "../contract/mempool/spender.ts"
import { eachInTurns, readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { missingBlock } from "./blockMethods.ts"
import { storageError } from "./errors.ts"

/** Source: upstream `rpc/mempool.cpp`, `gettxspendingprevout` (reference/rpc.md 3.6). */

interface Spender {
  readonly transaction: Transaction
  /** The header of its block; `undefined` in the mempool. */
  readonly info?: HeaderInfo
}

export const spenderMethods: Methods<Chain | Indexes | Mempool> = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const { spenders } = yield* Indexes

  const isReady = (index: SpenderIndex): Effect.Effect<boolean, RpcError> =>
    Effect.gen(function*() {
      const cursor = yield* index.follower.cursor
      return (cursor?.height ?? -1) >= (yield* chain.tip).height
    }).pipe(Effect.mapError(storageError))

  const gettxspendingprevout = method(
    GETTXSPENDINGPREVOUT,
    ({ options, outputs }, { turns }) =>
      Effect.gen(function*() {
        const asked = yield* readInTurns(turns, outputs())
        if (asked.length === 0) {
          return yield* RpcError.invalidParameter("Invalid parameter, outputs are missing")
        }
        const poolOnly = options?.mempool_only ?? spenders === undefined
        const ready = spenders !== undefined && (yield* isReady(spenders))
        const spenderOf = (txid: Bytes, vout: number): Effect.Effect<Spender | undefined, RpcError> => {
          const prevout = outpoint(txid, vout)
          const waiting = pool.spender(outpointKey(prevout))
          if (waiting !== undefined) return Effect.succeed({ transaction: waiting.transaction })
          if (poolOnly) return Effect.succeed(undefined)
          if (spenders !== undefined && ready) {
            return Effect.flatMap(
              Effect.mapError(spenders.candidates(prevout), storageError),
              (candidates) => Effect.mapError(spenderAmong(chain, candidates, prevout), missingBlock)
            )
          }
          return RpcError.misc(
            `No spending tx for the outpoint ${
              displayHash(txid)
            }:${vout} in mempool, and txospenderindex is unavailable.`
          )
        }
        return yield* eachInTurns(turns, asked, ({ txid, vout }) =>
          Effect.map(spenderOf(txid, vout), (spender) => ({
            txid: displayHash(txid),
            vout,
            spendingtxid: spender && displayHash(spender.transaction.txid),
            blockhash: spender?.info && displayHash(spender.info.hash),
            spendingtx: options?.return_spending_tx === true && spender
              ? toHex(spender.transaction.bytes)
              : undefined
          })))
      })
  )

  return [gettxspendingprevout]
})
