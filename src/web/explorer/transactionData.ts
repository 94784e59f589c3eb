import * as Effect from "effect/Effect"
import { monotonic, unixTime } from "../../base/clock.ts"
import { turnOfEventLoop } from "../../base/turns.ts"
import { spenderAmong, spentBy, transactionIn } from "../../chain/blockReads.ts"
import { Chain } from "../../chain/Chain.ts"
import { ChainCoins } from "../../chain/ChainCoins.ts"
import type { HeaderInfo } from "../../chain/index/headerInfo.ts"
import { Indexes } from "../../chain/indexes/Indexes.ts"
import type { Coin } from "../../consensus/view.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { knownCoin } from "../../mempool/knownCoin.ts"
import { Mempool } from "../../mempool/Mempool.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { transactionPlaces } from "../../names/transactionPlaces.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import { txidKey } from "../../protocol/keys.ts"
import type { Network } from "../../protocol/networks.ts"
import { isUnspendable } from "../../protocol/script.ts"
import {
  outpoint,
  outpointKey,
  totalValue,
  type Transaction,
  type TransactionInput,
  type TransactionOutput
} from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { Deeds, WordedOperation } from "../deeds.ts"

export interface Spender {
  readonly txid: Bytes
  /** `undefined` in the mempool. */
  readonly height: number | undefined
}

/** `spent`: by an unknown transaction. */
export type OutputState = "unspent" | "spent" | "unspendable" | Spender

export interface InputRow {
  readonly input: TransactionInput
  readonly coin: Coin | undefined
}

export interface OutputRow {
  readonly output: TransactionOutput
  readonly index: number
  /** `undefined` for a transaction that is not on the best chain. */
  readonly state: OutputState | undefined
}

export type WhereItIs =
  | { readonly _tag: "Pool"; readonly entry: PoolEntry }
  | { readonly _tag: "Block"; readonly info: HeaderInfo; readonly position: number }

export interface TransactionFound {
  /** Seconds since 1970. */
  readonly now: number
  readonly network: Network
  readonly transaction: Transaction
  readonly place: WhereItIs
  readonly operations: ReadonlyArray<WordedOperation>
  /** Smallest units; `undefined` for a coinbase, and where a spent coin is unknown. */
  readonly fee: number | undefined
  readonly inputs: ReadonlyArray<InputRow>
  readonly outputs: ReadonlyArray<OutputRow>
  readonly spendersIndexed: boolean
  readonly page: number
  readonly pages: number
}

export type TransactionMissing =
  /** `indexed`: the node has an index of all transactions. */
  | { readonly _tag: "Unknown"; readonly now: number; readonly indexed: boolean; readonly behind: boolean }
  /** In a block that the node does not have. */
  | { readonly _tag: "WithoutBlock"; readonly now: number; readonly height: number; readonly pruned: boolean }
  | { readonly _tag: "Light"; readonly now: number }

/** Inputs, and outputs, per page. */
export const TRANSACTION_ROWS = 40

/** Milliseconds to look for spenders, each of which takes a block to read. */
const SPENDERS_MS = 15

export interface TransactionWanted {
  readonly txid: Bytes
  /** Height of the block that probably has it. */
  readonly block: number | undefined
  readonly page: number
}

const slice = <A>(rows: ReadonlyArray<A>, page: number): ReadonlyArray<A> =>
  rows.slice((page - 1) * TRANSACTION_ROWS, page * TRANSACTION_ROWS)

interface OutputSources {
  readonly chain: typeof Chain.Service
  readonly chainCoins: typeof ChainCoins.Service
  readonly pool: typeof Mempool.Service
  readonly spenders: (typeof Indexes.Service)["spenders"]
}

const outputReader = ({ chain, chainCoins, pool, spenders }: OutputSources) => {
  const stateOf = (
    prevout: Bytes,
    { script }: TransactionOutput,
    end: number
  ): Effect.Effect<OutputState, StorageFailure> =>
    Effect.gen(function*() {
      const key = outpointKey(prevout)
      const waiting = pool.spender(key)
      if (waiting !== undefined) return { txid: waiting.transaction.txid, height: undefined }
      if (isUnspendable(script)) return "unspendable"
      if ((yield* chainCoins.coin(key)).coin !== undefined) return "unspent"
      if (spenders === undefined || monotonic() >= end) return "spent"
      for (const candidate of yield* spenders.candidates(prevout)) {
        // A block that cannot be read does not hide the others.
        const spender = yield* Effect.orElseSucceed(spenderAmong(chain, [candidate], prevout), () => undefined)
        yield* turnOfEventLoop
        if (spender !== undefined) return { txid: spender.transaction.txid, height: spender.info.height }
      }
      return "spent"
    })

  return (transaction: Transaction, page: number, states: boolean) =>
    Effect.suspend(() => {
      const end = monotonic() + SPENDERS_MS
      return Effect.forEach(slice(transaction.outputs, page), (output, at) => {
        const index = (page - 1) * TRANSACTION_ROWS + at
        const state = states ? stateOf(outpoint(transaction.txid, index), output, end) : Effect.succeed(undefined)
        return Effect.map(state, (state): OutputRow => ({ output, index, state }))
      })
    })
}

export const makeTransactionReader = (deeds: Deeds) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const chainCoins = yield* ChainCoins
    const pool = yield* Mempool
    const answers = yield* NameAnswers
    const { spenders } = yield* Indexes
    const places = yield* transactionPlaces
    const outputsOf = outputReader({ chain, chainCoins, pool, spenders })

    const common = (transaction: Transaction, page: number) => ({
      network: chain.params.network,
      transaction,
      spendersIndexed: spenders !== undefined,
      page,
      pages: Math.max(1, Math.ceil(Math.max(transaction.inputs.length, transaction.outputs.length) / TRANSACTION_ROWS))
    })

    const waiting = (
      entry: PoolEntry,
      { now, page }: { readonly now: number; readonly page: number }
    ): Effect.Effect<TransactionFound, StorageFailure> =>
      Effect.gen(function*() {
        const { transaction } = entry
        const inputs: Array<InputRow> = []
        for (const input of slice(transaction.inputs, page)) {
          const key = outpointKey(input.prevout)
          inputs.push({ input, coin: yield* knownCoin({ pool, chainCoins }, key) })
        }
        const operation = yield* deeds.waiting(entry)
        return {
          ...common(transaction, page),
          operations: operation === undefined ? [] : [operation],
          now,
          place: { _tag: "Pool", entry },
          fee: entry.fee,
          inputs,
          outputs: slice(transaction.outputs, page).map((output, at): OutputRow => {
            const index = (page - 1) * TRANSACTION_ROWS + at
            const spender = pool.spender(outpointKey(outpoint(transaction.txid, index)))
            return {
              output,
              index,
              state: spender === undefined ? undefined : { txid: spender.transaction.txid, height: undefined }
            }
          })
        }
      })

    const unknown = (now: number): Effect.Effect<TransactionMissing, StorageFailure> =>
      Effect.gen(function*() {
        if (answers.fromWindow()) return { _tag: "Light", now }
        const behind = places.indexed && (yield* places.indexIsBehind)
        return { _tag: "Unknown", now, indexed: places.indexed, behind }
      })

    const confirmed = (
      { page, txid }: TransactionWanted,
      { height, now }: { readonly height: number; readonly now: number }
    ) =>
      Effect.gen(function*() {
        const at = yield* chain.headerAt(height)
        const found = at && (yield* transactionIn(chain, at, txid))
        yield* turnOfEventLoop
        if (found === undefined) return undefined
        const { block, info, position, transaction } = found
        const coins = yield* Effect.orElseSucceed(spentBy(chain, block, info.height), () => undefined)
        const spent = coins?.[position - 1]
        // The outputs of the genesis block were never coins.
        const outputs = yield* outputsOf(transaction, page, info.height > 0)
        const [operations = []] = yield* deeds.ofBlock(found, { from: position, to: position + 1 })
        const result: TransactionFound = {
          ...common(transaction, page),
          operations,
          now,
          place: { _tag: "Block", info, position },
          fee: spent && totalValue(spent) - totalValue(transaction.outputs),
          inputs: slice(transaction.inputs, page).map((input, at) => ({
            input,
            coin: spent?.[(page - 1) * TRANSACTION_ROWS + at]
          })),
          outputs
        }
        return result
      }).pipe(
        Effect.catchTag(
          "BlockUnavailable",
          ({ pruned }) => Effect.succeed<TransactionMissing>({ _tag: "WithoutBlock", now, height, pruned })
        ),
        // The best chain changed meanwhile.
        Effect.catchTag("BlockNotFound", () => Effect.succeed(undefined))
      )

    const transaction = (
      wanted: TransactionWanted
    ): Effect.Effect<TransactionFound | TransactionMissing | undefined, StorageFailure> =>
      Effect.gen(function*() {
        const now = yield* unixTime
        const { block, page, txid } = wanted
        const entry = pool.get(txidKey(txid))
        const asked = block === undefined ? undefined : yield* confirmed(wanted, { height: block, now })
        const found = asked ?? (entry === undefined ? undefined : yield* waiting(entry, { now, page }))
        const height = found === undefined ? yield* places.heightOf(txid) : undefined
        const answer = found ?? (height === undefined ? undefined : yield* confirmed(wanted, { height, now }))
        if (answer === undefined) return yield* unknown(now)
        return "pages" in answer && page > answer.pages ? undefined : answer
      })

    /** In the mempool, or in a known block. */
    const isKnown = (txid: Bytes): Effect.Effect<boolean, StorageFailure> =>
      pool.get(txidKey(txid)) === undefined
        ? Effect.map(places.heightOf(txid), (height) => height !== undefined)
        : Effect.succeed(true)

    return { transaction, isKnown }
  })

export type TransactionReader = Effect.Effect.Success<ReturnType<typeof makeTransactionReader>>
