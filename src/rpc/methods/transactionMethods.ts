import * as Effect from "effect/Effect"
import { type PlacedTransaction, transactionIn } from "../../chain/blockReads.ts"
import { Chain } from "../../chain/Chain.ts"
import type { ChainCoins } from "../../chain/ChainCoins.ts"
import type { Indexes } from "../../chain/indexes/Indexes.ts"
import type { TxIndex } from "../../chain/TxIndex.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { transactionPlaces } from "../../names/transactionPlaces.ts"
import { type Bytes, equal, fromHex, toHex } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import {
  DECODERAWTRANSACTION,
  DECODESCRIPT,
  GETRAWTRANSACTION,
  MAX_SHOWN_SCRIPT
} from "../contract/transactions/transaction.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import type { ShapeContext } from "../shapes/context.ts"
import { decodeScriptJson } from "../shapes/decodeScript.ts"
import { decodeAnyTransaction } from "../shapes/decodeTransaction.ts"
import { transactionBlockJson, transactionJson, wholeTransactionJson } from "../shapes/transaction.ts"
import { missingBlock, spentByBlock } from "./blockMethods.ts"
import { storageError } from "./errors.ts"

/** reference/rpc.md 3.4. */

const isHuge = (script: Uint8Array): boolean => script.length > MAX_SHOWN_SCRIPT

const hasHugeScript = ({ inputs, outputs }: Transaction): boolean =>
  inputs.some(({ scriptSig }) => isHuge(scriptSig)) || outputs.some(({ script }) => isHuge(script))

const decoderawtransaction = (context: ShapeContext) =>
  method(DECODERAWTRANSACTION, ({ hexstring, iswitness }) =>
    Effect.suspend(() => {
      const bytes = fromHex(hexstring)
      const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes, iswitness)
      if (transaction === undefined) return RpcError.deserialization("TX decode failed")
      return hasHugeScript(transaction)
        ? RpcError.deserialization(`TX decode failed a script is longer than ${MAX_SHOWN_SCRIPT} bytes`)
        : Effect.succeed(transactionJson(context, transaction))
    }))

export const transactionMethods: Methods<
  Chain | ChainCoins | Indexes | NameDb | TxIndex | Mempool | AnswerOptions
> = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const places = yield* transactionPlaces
  const options = yield* AnswerOptions
  const context = { network: chain.params.network, ...options }

  const find = (txid: Bytes): Effect.Effect<PlacedTransaction, RpcError> =>
    Effect.gen(function*() {
      const placed = yield* Effect.mapError(places.find(txid), missingBlock)
      if (placed !== undefined) return placed
      const why = !places.indexed
        ? "No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries"
        : (yield* Effect.mapError(places.indexIsBehind, storageError))
        ? "No such mempool transaction. Blockchain transactions are still in the process of being indexed"
        : "No such mempool or blockchain transaction"
      return yield* RpcError.invalidAddressOrKey(`${why}. Use gettransaction for wallet transactions.`)
    })

  const findIn = (blockhash: Bytes, txid: Bytes): Effect.Effect<PlacedTransaction, RpcError> =>
    Effect.gen(function*() {
      const info = yield* Effect.mapError(
        chain.header(blockhash),
        () => RpcError.invalidAddressOrKey("Block hash not found")
      )
      const placed = yield* Effect.mapError(
        transactionIn(chain, info, txid),
        (failure) => failure._tag === "BlockUnavailable" ? RpcError.misc("Block not available") : missingBlock(failure)
      )
      return placed ?? (yield* RpcError.invalidAddressOrKey(
        "No such transaction found in the provided block. Use gettransaction for wallet transactions."
      ))
    })

  const genesisTxid = chain.params.network.genesisBlock.subarray(36, 68)

  const getrawtransaction = method(GETRAWTRANSACTION, ({ blockhash, txid, verbosity }) =>
    Effect.gen(function*() {
      if (equal(txid, genesisTxid)) {
        return yield* RpcError.invalidAddressOrKey(
          "The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved"
        )
      }
      const waiting = blockhash === undefined ? pool.get(txidKey(txid))?.transaction : undefined
      if (waiting !== undefined) {
        return verbosity <= 0 ? toHex(waiting.bytes) : wholeTransactionJson(context, waiting)
      }
      const { block, info, position, transaction } = blockhash === undefined
        ? yield* find(txid)
        : yield* findIn(blockhash, txid)
      if (verbosity <= 0) return toHex(transaction.bytes)
      const active = info.confirmations > 0
      const spent = verbosity >= 2 && position > 0
        ? (yield* spentByBlock(chain, block, info.height))?.[position - 1]
        : undefined
      return {
        in_active_chain: blockhash === undefined ? undefined : active,
        ...wholeTransactionJson(context, transaction, { prevouts: verbosity >= 2, spent }),
        ...transactionBlockJson({
          hash: info.hash,
          confirmations: active ? info.confirmations : 0,
          time: active ? info.header.time : undefined
        })
      }
    }))

  const decodescript = method(
    DECODESCRIPT,
    ({ hexstring }) => Effect.sync(() => decodeScriptJson(context, hexstring))
  )

  return [getrawtransaction, decoderawtransaction(context), decodescript]
})
