import { assert } from "@effect/vitest"
import { Effect, Layer, Logger, type Scope, Stream } from "effect"
import { MIN_NAME_AMOUNT } from "../../src/consensus/names.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import type { TransactionRejected } from "../../src/mempool/errors.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import type { RemovalReason } from "../../src/mempool/PoolEntry.ts"
import { type Block, decodeBlock, makeBlock } from "../../src/protocol/block.ts"
import { concat, displayHash } from "../../src/protocol/bytes.ts"
import { hash160 } from "../../src/protocol/hash.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import { NAME_TX_VERSION, type NameOperation, nameScript } from "../../src/protocol/nameOperation.ts"
import { Op, pushData } from "../../src/protocol/script.ts"
import type { Transaction, TransactionInput, TransactionOutput } from "../../src/protocol/transaction.ts"
import { chainLayer, temporaryDirectory, type TestChain, testChain } from "./chain.ts"
import { BLOCK_VERSION, currency, input, makeCoinbase, type Outpoint, solve } from "./regtest.ts"

/** A node's chain and mempool, with coins that anyone can spend in a standard way. */

const REDEEM = Uint8Array.of(Op.OP_1)

/** The script that unlocks `ADDRESS`. */
export const UNLOCK = pushData(REDEEM)

/** A standard address that anyone can spend from: P2SH of a script that is true. */
export const ADDRESS = concat(Uint8Array.of(Op.OP_HASH160, 20), hash160(REDEEM), Uint8Array.of(Op.OP_EQUAL))

/** Fee of a transaction where the test does not depend on it. */
export const FEE = 100_000

export const spending = (coin: Outpoint, overrides: Partial<TransactionInput> = {}): TransactionInput =>
  input(coin, { scriptSig: UNLOCK, ...overrides })

export const valueOf = ({ transaction, vout }: Outpoint): number => transaction.outputs[vout]?.value ?? 0

export interface PayOptions {
  readonly fee?: number
  /** Outputs that share what is left after the fee. */
  readonly outputs?: number
  readonly version?: number
  readonly lockTime?: number
  readonly sequence?: number
  readonly more?: ReadonlyArray<TransactionOutput>
}

/** A transaction from coins to `ADDRESS`. */
export const pay = (coins: ReadonlyArray<Outpoint>, options: PayOptions = {}): Transaction => {
  const { fee = FEE, lockTime = 0, more = [], outputs = 1, sequence = 0xfffffffd, version = 2 } = options
  const total = coins.reduce((sum, coin) => sum + valueOf(coin), 0) - more.reduce((sum, { value }) => sum + value, 0)
  const value = Math.floor((total - fee) / outputs)
  const shares = Array.from({ length: outputs }, (_, i) => ({
    value: i === 0 ? total - fee - value * (outputs - 1) : value,
    script: ADDRESS
  }))
  return currency(coins.map((coin) => spending(coin, { sequence })), [...shares, ...more], { version, lockTime })
}

/** A name transaction: its first output is the name, a second one gets the rest of the amount. */
export const nameTx = (
  operation: NameOperation,
  coins: ReadonlyArray<Outpoint>,
  { amount = MIN_NAME_AMOUNT, fee = FEE }: { readonly amount?: number; readonly fee?: number } = {}
): Transaction => {
  const total = coins.reduce((sum, coin) => sum + valueOf(coin), 0)
  return currency(
    coins.map((coin) => spending(coin, { sequence: 0xfffffffd })),
    [{ value: amount, script: nameScript(operation, ADDRESS) }, { value: total - amount - fee, script: ADDRESS }],
    { version: NAME_TX_VERSION }
  )
}

export const output = (transaction: Transaction, vout = 0): Outpoint => ({ transaction, vout })

/** A block with work on another one, its coinbase paying to `ADDRESS`. `extra` makes coinbases different. */
export const blockOn = (
  prev: Block,
  height: number,
  transactions: ReadonlyArray<Transaction> = [],
  extra = 0
): Block => {
  const reward = { value: blockSubsidy(height, regtestParams), script: ADDRESS }
  const all = [makeCoinbase(height, [reward], { extra: Uint8Array.of(2, extra, extra >> 8) }), ...transactions]
  const header = solve({
    version: BLOCK_VERSION,
    prevHash: prev.header.hash,
    merkleRoot: merkleRoot(all.map(({ txid }) => txid)).root,
    time: prev.header.time + 600,
    bits: prev.header.bits
  })
  return makeBlock({ header, auxpow: undefined }, all)
}

/** Height of the chain that tests begin with; the coinbases of the blocks 1 to 40 can be spent on it. */
export const BASE = 139

const base: ReadonlyArray<Block> = (() => {
  const blocks = [decodeBlock(regtestParams.network.genesisBlock)]
  for (let height = 1; height <= BASE; height++) {
    const [prev] = blocks.slice(-1)
    if (prev !== undefined) blocks.push(blockOn(prev, height))
  }
  return blocks
})()

/** The coinbase output of a block of the base. */
export const reward = (height: number): Outpoint => {
  const transaction = base[height]?.transactions[0]
  if (transaction === undefined) throw new RangeError(`no block at height ${height}`)
  return { transaction, vout: 0 }
}

export interface TestNode {
  readonly chain: TestChain
  readonly pool: typeof Mempool.Mempool.Service
  /** Connects a block with these transactions on the tip and returns it. */
  readonly mine: (transactions?: ReadonlyArray<Transaction>) => Effect.Effect<Block>
  /** Connects some empty blocks. */
  readonly mineEmpty: (count: number) => Effect.Effect<void>
  /** Adds a transaction, which must be valid. */
  readonly take: (transaction: Transaction) => Effect.Effect<Transaction>
  /** The refusal of a transaction that must be refused. */
  readonly refused: (transaction: Transaction) => Effect.Effect<TransactionRejected>
  readonly has: (transaction: Transaction) => boolean
}

const nodeOf = Effect.gen(function*() {
  const chain = yield* testChain
  const pool = yield* Mempool.Mempool
  // No block is made twice, even where the first one was invalidated.
  let mined = 1_000
  const mine = (transactions: ReadonlyArray<Transaction> = []) =>
    Effect.gen(function*() {
      const tip = yield* chain.tip
      const prev = yield* chain.block(tip.hash)
      const block = blockOn(prev, tip.height + 1, transactions, mined++)
      const submission = yield* chain.sink.submit(block)
      assert.strictEqual(submission.type === "rejected" ? submission.reject.reason : submission.type, "connected")
      return block
    }).pipe(Effect.orDie)
  const node: TestNode = {
    chain,
    pool,
    mine,
    mineEmpty: (count) => Effect.repeatN(mine(), count - 1).pipe(Effect.asVoid),
    take: (transaction) => Effect.as(Effect.orDie(pool.accept(transaction)), transaction),
    refused: (transaction) =>
      Effect.matchEffect(pool.accept(transaction), {
        onSuccess: () => Effect.dieMessage(`the mempool took ${displayHash(transaction.txid)}`),
        onFailure: (error) => error._tag === "TransactionRejected" ? Effect.succeed(error) : Effect.die(error)
      }),
    has: ({ txidKey }) => pool.get(txidKey) !== undefined
  }
  return node
})

/** Runs work on a node with the base chain, whose mempool follows the chain. */
export const withNode = <A, E>(
  use: (node: TestNode) => Effect.Effect<A, E, Scope.Scope>,
  options: Partial<Mempool.MempoolOptions> = {}
) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const work = Effect.gen(function*() {
      const node = yield* nodeOf
      if ((yield* node.chain.tip).height === 0) yield* node.chain.sink.deliver(base.slice(1), true)
      yield* node.chain.control.register(node.pool.follower)
      return yield* use(node)
    })
    const chain = chainLayer(directory)
    return yield* Effect.provide(
      work,
      Layer.provideMerge(Mempool.layer({ filename: undefined, ...options }), chain)
    )
  }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)), Effect.scoped)

/** The reason and detail of a refusal as `sendrawtransaction` shows them. */
export const shown = ({ detail, reason }: TransactionRejected): string =>
  detail === undefined ? reason : `${reason}, ${detail}`

/** Starts to record what leaves the pool: the txid and the reason of each so far. */
export const removals = ({ pool }: TestNode) =>
  Effect.gen(function*() {
    const seen: Array<readonly [txid: string, reason: RemovalReason]> = []
    const listening = yield* Effect.makeLatch()
    yield* pool.events.pipe(
      Stream.onStart(listening.open),
      Stream.runForEach((event) =>
        Effect.sync(() => {
          if (event._tag === "Removed") seen.push([event.entry.transaction.txidKey, event.reason])
        })
      ),
      Effect.forkScoped
    )
    yield* listening.await
    return Effect.as(Effect.repeatN(Effect.yieldNow(), 20), seen)
  })
