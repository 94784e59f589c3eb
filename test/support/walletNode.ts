import { assert } from "@effect/vitest"
import { Effect, Layer, Logger, type Scope } from "effect"
import { join } from "node:path"
import { Chain } from "../../src/chain/Chain.ts"
import * as SyncStatus from "../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { blockSubsidy } from "../../src/consensus/subsidy.ts"
import * as FeeEstimator from "../../src/mempool/FeeEstimator.ts"
import * as Mempool from "../../src/mempool/Mempool.ts"
import * as NameDb from "../../src/names/NameDb.ts"
import { type Block, makeBlock } from "../../src/protocol/block.ts"
import type { Bytes } from "../../src/protocol/bytes.ts"
import { merkleRoot } from "../../src/protocol/merkle.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import type { Wallet } from "../../src/wallet/Wallet.ts"
import * as Wallets from "../../src/wallet/Wallets.ts"
import { chainLayer } from "./chain.ts"
import { ADDRESS } from "./mempool.ts"
import { BLOCK_VERSION, makeCoinbase, solve } from "./regtest.ts"

/** A node with wallets on real files, put together as the daemon does it. */

/** A block with work on another one, its coinbase paying to a script. `extra` tells coinbases apart. */
export const blockTo = (
  prev: Block,
  height: number,
  script: Bytes,
  transactions: ReadonlyArray<Transaction> = [],
  extra = 0
): Block => {
  const reward = { value: blockSubsidy(height, regtestParams), script }
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

export interface WalletNode {
  readonly directory: string
  readonly chain: typeof Chain.Service
  readonly pool: typeof Mempool.Mempool.Service
  readonly wallets: typeof Wallets.Wallets.Service
  /** The default wallet. */
  readonly wallet: Wallet
  /** Connects blocks whose coinbases pay to a script, the first with these transactions. */
  readonly mine: (
    count?: number,
    options?: { readonly script?: Bytes; readonly transactions?: ReadonlyArray<Transaction> }
  ) => Effect.Effect<ReadonlyArray<Block>>
  /** Mines what the pool holds. */
  readonly minePool: Effect.Effect<Block>
  /** A fresh script of the wallet. */
  readonly address: Effect.Effect<Bytes>
  /** Mines a spendable reward for the wallet: 101 blocks. */
  readonly fund: Effect.Effect<void>
}

export interface WalletNodeOptions extends Partial<Parameters<typeof Wallets.layer>[0]> {
  /** What stands between the wallets and the mempool. */
  readonly mempool?: (pool: typeof Mempool.Mempool.Service) => typeof Mempool.Mempool.Service
}

// Blocks of different runs in one directory differ as well.
let mined = 1

const nodeOf = (directory: string) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const pool = yield* Mempool.Mempool
    const wallets = yield* Wallets.Wallets
    const names = yield* NameDb.NameDb
    const status = yield* SyncStatus.SyncStatus
    yield* chain.register(names.follower)
    for (const wallet of wallets.loaded()) yield* chain.register(wallet.follower)
    yield* chain.register(pool.follower)
    yield* pool.load
    yield* status.loaded
    const mine: WalletNode["mine"] = (count = 1, { script = ADDRESS, transactions = [] } = {}) =>
      Effect.gen(function*() {
        const blocks: Array<Block> = []
        for (let i = 0; i < count; i++) {
          const tip = yield* chain.tip
          const prev = yield* chain.block(tip.hash)
          const block = blockTo(prev, tip.height + 1, script, i === 0 ? transactions : [], mined++)
          const submission = yield* chain.submit(block)
          assert.strictEqual(submission.type === "rejected" ? submission.reject.reason : submission.type, "connected")
          blocks.push(block)
        }
        return blocks
      }).pipe(Effect.orDie)
    const [first] = wallets.loaded()
    const node: Omit<WalletNode, "wallet"> = {
      directory,
      chain,
      pool,
      wallets,
      mine,
      minePool: Effect.suspend(() => {
        const transactions = pool.chunks().flatMap(({ entries }) => entries.map(({ transaction }) => transaction))
        return Effect.flatMap(
          mine(1, { transactions }),
          ([block]) => block === undefined ? Effect.dieMessage("no block") : Effect.succeed(block)
        )
      }),
      address: Effect.suspend(() =>
        first === undefined
          ? Effect.dieMessage("no wallet is loaded")
          : Effect.map(first.newAddress({ type: "legacy", label: "" }), ({ script }) => script)
      ).pipe(Effect.orDie),
      fund: Effect.suspend(() =>
        first === undefined
          ? Effect.dieMessage("no wallet is loaded")
          : Effect.gen(function*() {
            const { script } = yield* first.newAddress({ type: "legacy", label: "" })
            yield* mine(1, { script })
            yield* mine(100)
          })
      ).pipe(Effect.orDie)
    }
    return {
      ...node,
      get wallet(): Wallet {
        if (first === undefined) throw new Error("no wallet is loaded")
        return first
      }
    }
  })

/** Runs work on a node in a directory, and ends the node. */
export const withWallets = <A, E>(
  directory: string,
  use: (node: WalletNode) => Effect.Effect<A, E, Scope.Scope>,
  options: WalletNodeOptions = {}
) => {
  const { mempool = (pool) => pool, ...walletsOptions } = options
  const pool = Layer.effect(Mempool.Mempool, Effect.map(Mempool.Mempool, mempool)).pipe(
    Layer.provide(Mempool.layer({ filename: undefined }))
  )
  const stores = FeeEstimator.layer({ filename: undefined }).pipe(
    Layer.provideMerge(pool),
    Layer.provideMerge(SyncStatus.layer({ offline: true })),
    Layer.provideMerge(chainLayer(directory)),
    Layer.merge(NameDb.layer({ filename: join(directory, "names.db"), pageSize: 4096 }))
  )
  const wallets = Wallets.layer({
    directory,
    chainstateDirectory: join(directory, "chainstate"),
    enabled: true,
    loadDefault: true,
    pageSize: 4096,
    ...walletsOptions
  })
  const layers = Layer.provideMerge(wallets, stores)
  return Effect.scoped(Effect.flatMap(nodeOf(directory), use)).pipe(
    Effect.provide(layers),
    Effect.provide(Logger.remove(Logger.defaultLogger))
  )
}

/** Waits for what a fiber of the wallet does, for two seconds at most. */
export const eventually = (what: string, is: () => boolean): Effect.Effect<void> =>
  Effect.gen(function*() {
    for (let i = 0; i < 200 && !is(); i++) yield* Effect.promise(() => new Promise((done) => setTimeout(done, 10)))
    assert.isTrue(is(), what)
  })
