import { assert } from "@effect/vitest"
import { Effect, Layer, Logger, type Scope } from "effect"
import { join } from "node:path"
import * as Scheduler from "../../src/base/Scheduler.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import { type ConsensusParams, regtestParams } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import * as FeeEstimator from "../../src/mempool/fees/FeeEstimator.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import * as DataHealth from "../../src/storage/DataHealth.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import { DEFAULT_RULES } from "../../src/wallet/WalletRules.ts"
import * as Wallets from "../../src/wallet/Wallets.ts"
import { chainLayer, temporaryDirectory, testChain } from "./chain.ts"
import { withCheapScrypt } from "./cheapScrypt.ts"
import { madeOnce } from "./madeOnce.ts"
import { ADDRESS } from "./mempool.ts"
import { BLOCK_VERSION, makeCoinbase, solve } from "./regtest.ts"

/** A node with wallets on real files, composed as the daemon does it. */

/** A block with work on another one, its coinbase paying to a script. `extra` makes coinbases different. */
const blockTo = (
  prev: Block,
  height: number,
  script: Bytes,
  transactions: ReadonlyArray<Transaction>,
  extra: number
): Block => {
  const reward = { value: blockSubsidy(height, regtestParams), script }
  const coinbase = makeCoinbase(height, [reward], { extra: Uint8Array.of(2, extra, extra >> 8), rest: transactions })
  const all = [coinbase, ...transactions]
  const header = solve({
    version: BLOCK_VERSION,
    prevHash: prev.header.hash,
    merkleRoot: merkleRoot(all.map(({ txid }) => txid)).root,
    time: prev.header.time + 600,
    bits: prev.header.bits
  })
  return makeBlock({ header, auxpow: undefined }, all)
}

// Blocks of different runs in one directory differ as well.
let mined = 1

const nodeOf = Effect.gen(function*() {
  const chain = yield* testChain
  const pool = yield* Mempool.Mempool
  const wallets = yield* Wallets.Wallets
  const names = yield* NameDb.NameDb
  const status = yield* SyncStatus.SyncStatus
  const scheduler = yield* Scheduler.Scheduler
  yield* chain.control.register(names.follower)
  for (const wallet of wallets.loaded()) yield* chain.control.register(wallet.follower)
  yield* chain.control.register(pool.follower)
  yield* pool.load
  yield* status.loaded

  /** Connects blocks whose coinbases pay to a script, the first with these transactions. Returns the last. */
  const mine = (
    count = 1,
    { script = ADDRESS, transactions = [] }: {
      readonly script?: Bytes
      readonly transactions?: ReadonlyArray<Transaction>
    } = {}
  ): Effect.Effect<Block> =>
    Effect.gen(function*() {
      let prev = yield* chain.block((yield* chain.tip).hash)
      for (let i = 0; i < count; i++) {
        const { height } = yield* chain.tip
        prev = blockTo(prev, height + 1, script, i === 0 ? transactions : [], mined++)
        const submission = yield* chain.sink.submit(prev)
        assert.strictEqual(submission.type === "rejected" ? submission.reject.reason : submission.type, "connected")
      }
      return prev
    }).pipe(Effect.orDie)

  /** The default wallet. */
  const wallet = (): Wallet => {
    const found = wallets.get("")
    if (found === undefined) throw new Error("the default wallet is not loaded")
    return found
  }
  /** A fresh script of the default wallet. */
  const address: Effect.Effect<Bytes> = Effect.suspend(() => wallet().keys.newAddress({ type: "legacy", label: "" }))
    .pipe(
      Effect.map(({ script }) => script),
      Effect.orDie
    )
  return {
    chain,
    pool,
    scheduler,
    wallets,
    mine,
    get wallet(): Wallet {
      return wallet()
    },
    address,
    /** Mines the transactions of the pool. */
    minePool: Effect.suspend(() =>
      mine(1, { transactions: pool.chunks().flatMap(({ entries }) => entries.map((entry) => entry.transaction)) })
    ),
    /** Mines a reward for the wallet, and the blocks after which it can be spent. */
    fund: Effect.flatMap(address, (script) => Effect.zipRight(mine(1, { script }), mine(100)))
  }
})

export type LiveNode = Effect.Effect.Success<typeof nodeOf>

export interface LiveNodeOptions extends Partial<Parameters<typeof Wallets.layer>[0]> {
  /** Wraps the mempool that the wallets use. */
  readonly mempool?: (pool: typeof Mempool.Mempool.Service) => typeof Mempool.Mempool.Service
  /** Whether the node says that it is still in its initial download. */
  readonly downloads?: boolean
  /** Whether the mempool is kept over a restart. */
  readonly keepPool?: boolean
  /** Rules in place of the private network's. */
  readonly params?: ConsensusParams
}

/** A wallet of the default derives 8,000 keys. */
export const FEW_KEYS = { ...DEFAULT_RULES, keypool: 100, reach: 100 }

/** Runs work on a node in a directory, and stops the node. */
export const withWallets = <A, E>(
  directory: string,
  use: (node: LiveNode) => Effect.Effect<A, E, Scope.Scope | DataHealth.DataHealth>,
  options: LiveNodeOptions = {}
) => {
  const { downloads = false, keepPool = false, mempool = (pool) => pool, params, ...walletsOptions } = options
  const filename = keepPool ? join(directory, "mempool.dat") : undefined
  const pool = Layer.effect(Mempool.Mempool, Effect.map(Mempool.Mempool, mempool)).pipe(
    Layer.provide(Mempool.layer({ filename }))
  )
  const status = Layer.effect(
    SyncStatus.SyncStatus,
    Effect.map(
      SyncStatus.SyncStatus,
      (real) => downloads ? { ...real, initialDownload: Effect.succeed(true) } : real
    )
  ).pipe(Layer.provide(SyncStatus.layer({ offline: true })))
  const stores = FeeEstimator.layer({ filename: undefined }).pipe(
    Layer.provideMerge(pool),
    Layer.provideMerge(status),
    Layer.provideMerge(DataHealth.layer),
    Layer.provideMerge(chainLayer(directory, params)),
    Layer.merge(NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 })),
    Layer.provideMerge(DataHealth.layer)
  )
  const wallets = Wallets.layer({
    directory,
    chainstateDirectory: join(directory, "chainstate"),
    enabled: true,
    loadDefault: true,
    pageSize: 4096,
    limitNameChains: 1,
    rules: FEW_KEYS,
    ...walletsOptions
  })
  return Effect.scoped(Effect.flatMap(nodeOf, use)).pipe(
    withCheapScrypt,
    Effect.provide(
      wallets.pipe(
        Layer.provideMerge(stores),
        Layer.provideMerge(Scheduler.layer),
        Layer.provideMerge(Logger.remove(Logger.defaultLogger))
      )
    )
  )
}

/** A directory whose wallet has one spendable reward, as after `fund`: a copy of one that is made once a run. */
export const fundedDirectory = Effect.tap(
  temporaryDirectory,
  (directory) =>
    madeOnce({ name: "funded-wallet", make: (draft) => withWallets(draft, ({ fund }) => fund), into: directory })
)
