import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { type PlacedTransaction, transactionIn } from "../../chain/blockReads.ts"
import { Chain } from "../../chain/Chain.ts"
import type { ChainCoins } from "../../chain/ChainCoins.ts"
import type { TxIndex } from "../../chain/TxIndex.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { NameDb } from "../../names/NameDb.ts"
import { transactionPlaces } from "../../names/transactionPlaces.ts"
import { type Bytes, equal, fromHex, toHex } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import { MAX_SCRIPT_SIZE } from "../../protocol/script.ts"
import type { Transaction } from "../../protocol/transaction.ts"
import { AnswerOptions } from "../AnswerOptions.ts"
import { method } from "../method/method.ts"
import type { Method } from "../method/methodTable.ts"
import { alias, boolean, hash, hexText, optional, readHex, refined, verbosity, withDefault } from "../method/params.ts"
import * as Result from "../method/results.ts"
import { RpcError } from "../method/RpcError.ts"
import type { ShapeContext } from "../shapes/context.ts"
import { DECODED_SCRIPT, decodeScriptJson } from "../shapes/decodeScript.ts"
import { decodeAnyTransaction } from "../shapes/decodeTransaction.ts"
import {
  BLOCK_OF_TRANSACTION,
  TRANSACTION,
  TRANSACTION_OF_BLOCK,
  TRANSACTION_WITH_COINS,
  transactionBlockJson,
  transactionJson,
  wholeTransactionJson
} from "../shapes/transaction.ts"
import { missingBlock, spentByBlock } from "./blockMethods.ts"
import { storageError } from "./errors.ts"

/** Methods that return transactions and scripts (reference/rpc.md 3.4). */

const IN_ACTIVE_CHAIN = Schema.optional(
  Result.boolean("Whether the given block is on the best chain; only with a given block")
)

const { fee, hex } = TRANSACTION_OF_BLOCK.fields

const WAITING_TRANSACTION = Schema.Struct({ ...TRANSACTION.fields, hex })

const PLACED_TRANSACTION = Schema.Struct({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION.fields,
  hex,
  ...BLOCK_OF_TRANSACTION
})

const PLACED_TRANSACTION_WITH_COINS = Schema.Struct({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION_WITH_COINS.fields,
  fee,
  hex,
  ...BLOCK_OF_TRANSACTION
})

/** A decoded script may exceed the limit of executable scripts by this factor: such scripts exist in blocks. */
const SHOWN_FACTOR = 10

const MAX_SHOWN_SCRIPT = SHOWN_FACTOR * MAX_SCRIPT_SIZE

const isHuge = (script: Uint8Array): boolean => script.length > MAX_SHOWN_SCRIPT

const hasHugeScript = ({ inputs, outputs }: Transaction): boolean =>
  inputs.some(({ scriptSig }) => isHuge(scriptSig)) || outputs.some(({ script }) => isHuge(script))

const readScript = (text: string): Uint8Array | RpcError =>
  text.length > 2 * MAX_SHOWN_SCRIPT
    ? RpcError.invalidParameter(`argument must not be longer than ${MAX_SHOWN_SCRIPT} bytes`)
    : readHex(text, { label: "argument" })

const decoderawtransaction = (context: ShapeContext) =>
  method({
    name: "decoderawtransaction",
    right: "read",
    group: "Raw transactions",
    heavy: true,
    summary: "Decodes a transaction.",
    params: {
      hexstring: hexText("The transaction."),
      iswitness: optional(boolean("Whether the transaction is in witness format."), "tries both")
    },
    results: [{ schema: TRANSACTION }],
    examples: [["01000000000140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"]],
    errors: ["-22 TX decode failed", `-22 TX decode failed a script is longer than ${MAX_SHOWN_SCRIPT} bytes`],
    handler: ({ hexstring, iswitness }) =>
      Effect.suspend(() => {
        const bytes = fromHex(hexstring)
        const transaction = bytes === undefined ? undefined : decodeAnyTransaction(bytes, iswitness)
        if (transaction === undefined) return RpcError.deserialization("TX decode failed")
        return hasHugeScript(transaction)
          ? RpcError.deserialization(`TX decode failed a script is longer than ${MAX_SHOWN_SCRIPT} bytes`)
          : Effect.succeed(transactionJson(context, transaction))
      })
  })

export const transactionMethods: Effect.Effect<
  ReadonlyArray<Method>,
  never,
  Chain | ChainCoins | NameDb | TxIndex | Mempool | AnswerOptions
> = Effect.gen(function*() {
  const chain = yield* Chain
  const pool = yield* Mempool
  const places = yield* transactionPlaces
  const options = yield* AnswerOptions
  const context = { network: chain.params.network, ...options }

  const find = (txid: Bytes): Effect.Effect<PlacedTransaction, RpcError> =>
    Effect.gen(function*() {
      const height = yield* Effect.mapError(places.heightOf(txid), storageError)
      const info = height === undefined ? undefined : yield* chain.headerAt(height)
      const placed = info && (yield* Effect.mapError(transactionIn(chain, info, txid), missingBlock))
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
      const info = yield* Effect.mapError(chain.header(blockhash), () =>
        RpcError.invalidAddressOrKey("Block hash not found"))
      const placed = yield* Effect.mapError(transactionIn(chain, info, txid), (failure) =>
        failure._tag === "BlockUnavailable" ? RpcError.misc("Block not available") : missingBlock(failure))
      return placed ?? (yield* RpcError.invalidAddressOrKey(
        "No such transaction found in the provided block. Use gettransaction for wallet transactions."
      ))
    })

  const genesisTxid = chain.params.network.genesisBlock.subarray(36, 68)

  const getrawtransaction = method({
    name: "getrawtransaction",
    right: "read",
    group: "Raw transactions",
    heavy: true,
    summary: "Returns a transaction, as hexadecimal digits or as an object. Without -txindex, it must be in the " +
      "mempool or in the given block, have an unspent output, or have changed a name.",
    params: {
      txid: hash("The transaction.", { label: "parameter 1" }),
      verbosity: withDefault(
        alias(verbosity("0: hexadecimal digits; 1: an object; 2: with fee and spent coins."), "verbose"),
        0
      ),
      blockhash: optional(hash("The block of the transaction.", { label: "parameter 3" }))
    },
    results: [
      { when: "verbosity is 0 or less", schema: Result.hex("The transaction") },
      { when: "verbosity is 1", schema: PLACED_TRANSACTION },
      { when: "verbosity is 2 or more", schema: PLACED_TRANSACTION_WITH_COINS },
      { when: "verbosity is 1 or more and it is in the mempool", schema: WAITING_TRANSACTION }
    ],
    examples: [["0c686779a1dcc867039a3c71934d6cde487c4eabd9cd2efd0bdcf15262ed9886"], [
      "0c686779a1dcc867039a3c71934d6cde487c4eabd9cd2efd0bdcf15262ed9886",
      1
    ]],
    errors: [
      "-5 No such mempool or blockchain transaction. Use gettransaction for wallet transactions.",
      "-5 No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction " +
      "queries. Use gettransaction for wallet transactions.",
      "-5 No such transaction found in the provided block. Use gettransaction for wallet transactions.",
      "-5 Block hash not found",
      "-5 The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved",
      "-1 Block not available",
      "-1 Can't read undo data from disk"
    ],
    handler: ({ blockhash, txid, verbosity }) =>
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
      })
  })

  const decodescript = method({
    name: "decodescript",
    right: "read",
    group: "Raw transactions",
    summary: "Decodes a script and returns its addresses.",
    params: { hexstring: refined(hexText("The script."), readScript) },
    results: [{ schema: DECODED_SCRIPT }],
    examples: [["5303642f6201316d7576a914333333333333333333333333333333333333333388ac"]],
    errors: [
      "-8 argument must be hexadecimal string (not '<x>')",
      `-8 argument must not be longer than ${MAX_SHOWN_SCRIPT} bytes`
    ],
    handler: ({ hexstring }) => Effect.sync(() => decodeScriptJson(context, hexstring))
  })

  return [getrawtransaction, decoderawtransaction(context), decodescript]
})
