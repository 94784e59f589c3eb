import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import type { Coin } from "../../consensus/view.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import { binaryString, type Bytes, displayHash } from "../../protocol/bytes.ts"
import { outpointKey, prevoutIndex, prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { Amount } from "../json/encodeJson.ts"
import { readInTurns } from "../method/inTurns.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { array, boolean, hash, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import { NodeOptions } from "../NodeOptions.ts"
import type { ShapeContext } from "../shapes/context.ts"
import { SCRIPT, scriptJson } from "../shapes/script.ts"
import { missingBlock, spentBy } from "./blockMethods.ts"
import { blockError, storageError } from "./errors.ts"
import { SCAN_ERRORS, SCAN_OBJECTS, scanScriptSteps } from "./scanObjects.ts"

/** What happened to scripts (reference/rpc.md 3.2). Source: upstream `rpc/blockchain.cpp`, `getdescriptoractivity`. */

const PLACE = {
  blockhash: Schema.optional(Result.hex("The block; not for a transaction of the mempool")),
  height: Schema.optional(Result.integer("Its height"))
}

const EVENT = Schema.Struct({
  type: Result.string("spend or receive"),
  amount: Result.amount("Amount of the output"),
  ...PLACE,
  spend_txid: Schema.optional(Result.hex("The spending transaction")),
  spend_vin: Schema.optional(Result.integer("Index of its input")),
  prevout_txid: Schema.optional(Result.hex("The transaction of the spent output")),
  prevout_vout: Schema.optional(Result.integer("Index of the spent output")),
  prevout_spk: Schema.optional(SCRIPT.annotations({ description: "The script of the spent output" })),
  txid: Schema.optional(Result.hex("The receiving transaction")),
  vout: Schema.optional(Result.integer("Index of its output")),
  output_spk: Schema.optional(SCRIPT.annotations({ description: "The script of that output" }))
})

/** A block of the best chain. */
interface Place {
  readonly hash: Bytes
  readonly height: number
}

const placeJson = (place: Place | undefined): Result.MembersOf<typeof PLACE> =>
  place === undefined
    ? { blockhash: undefined, height: undefined }
    : { blockhash: displayHash(place.hash), height: place.height }

interface Watched {
  readonly context: ShapeContext
  readonly scripts: { readonly has: (script: string) => boolean }
}

/** The events of one transaction. `spent` are the coins of its inputs, none for a coinbase. */
const eventsOf = (
  { context, scripts }: Watched,
  { spent, transaction }: { readonly transaction: Transaction; readonly spent: ReadonlyArray<Coin | undefined> },
  place: Place | undefined
): ReadonlyArray<Result.ValueOf<typeof EVENT>> => {
  const txid = displayHash(transaction.txid)
  const at = placeJson(place)
  const spends = spent.flatMap((coin, i) => {
    const input = transaction.inputs[i]
    if (coin === undefined || input === undefined || !scripts.has(binaryString(coin.script))) return []
    return [{
      type: "spend",
      amount: new Amount(coin.value),
      ...at,
      spend_txid: txid,
      spend_vin: i,
      prevout_txid: displayHash(prevoutTxid(input.prevout)),
      prevout_vout: prevoutIndex(input.prevout),
      prevout_spk: scriptJson(context, coin.script)
    }]
  })
  const receipts = transaction.outputs.flatMap(({ script, value }, i) =>
    scripts.has(binaryString(script))
      ? [{
        type: "receive",
        amount: new Amount(value),
        ...at,
        txid,
        vout: i,
        output_spk: scriptJson(context, script)
      }]
      : []
  )
  return [...spends, ...receipts]
}

export const activityMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ChainCoins | Mempool | NodeOptions
> = Effect.gen(function*() {
  const chain = yield* Chain
  const coins = yield* ChainCoins
  const pool = yield* Mempool
  const options = yield* NodeOptions
  const { network } = chain.params
  const context = { network, ...options }

  const placesOf = (hashes: ReadonlyArray<Bytes>): Effect.Effect<ReadonlyArray<Place>, RpcError> =>
    Effect.gen(function*() {
      const places = new Map<number, Place>()
      for (const hash of hashes) {
        const info = yield* Effect.mapError(chain.header(hash), blockError)
        if (info.confirmations < 1) return yield* RpcError.invalidParameter("Block is not in main chain")
        places.set(info.height, info)
      }
      return [...places.values()].sort((a, b) => a.height - b.height)
    })

  const getdescriptoractivity = method({
    name: "getdescriptoractivity",
    group: "Blockchain",
    heavy: true,
    summary:
      "Lists the outputs that pay to descriptors and the inputs that spend from them, in given blocks and in the " +
      "mempool.",
    params: {
      blockhashes: array(hash("A block of the best chain.", { label: "blockhash" }), "The blocks, in any order."),
      scanobjects: SCAN_OBJECTS,
      include_mempool: withDefault(boolean("Whether to include the mempool."), true)
    },
    results: [{ schema: Schema.Struct({ activity: Schema.Array(EVENT) }) }],
    examples: [[
      ["000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770"],
      ["raw(76a91411b366edfc0a8b66feebae5c2e25a7b6a5d1cf3188ac)#fm24fxxy"]
    ]],
    errors: [
      "-5 Block not found",
      "-8 Block is not in main chain",
      "-1 Block not available (not fully downloaded)",
      "-1 Can't read undo data from disk",
      ...SCAN_ERRORS
    ],
    handler: ({ blockhashes, include_mempool, scanobjects }, { turns }) =>
      Effect.gen(function*() {
        const places = yield* placesOf(blockhashes)
        const { keys: scripts } = yield* readInTurns(turns, scanScriptSteps(network, scanobjects))
        const activity: Array<Result.ValueOf<typeof EVENT>> = []
        const watched = { context, scripts }
        for (const place of places) {
          const block = yield* Effect.mapError(chain.block(place.hash), missingBlock)
          const spent = place.height === 0 ? [] : yield* spentBy(chain, block, place.height)
          const known = spent ?? (yield* RpcError.misc("Undo data not available"))
          for (const [i, transaction] of block.transactions.entries()) {
            activity.push(...eventsOf(watched, { transaction, spent: known[i - 1] ?? [] }, place))
            if (turns.isOver()) yield* turns.next
          }
        }
        for (const { transaction } of include_mempool ? [...pool.entries()] : []) {
          const spent: Array<Coin | undefined> = []
          for (const { prevout } of transaction.inputs) {
            const key = outpointKey(prevout)
            spent.push(pool.coin(key) ?? (yield* Effect.mapError(coins.coin(key), storageError)).coin)
          }
          activity.push(...eventsOf(watched, { transaction, spent }, undefined))
          if (turns.isOver()) yield* turns.next
        }
        return { activity }
      })
  })

  return [getdescriptoractivity]
})
