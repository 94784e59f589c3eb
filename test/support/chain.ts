import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as Chain from "../../src/chain/Chain.ts"
import { ChainCoins } from "../../src/chain/ChainCoins.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink, type Submission } from "../../src/chain/ChainSink.ts"
import { BlockLosses } from "../../src/chain/repair/BlockLosses.ts"
import { Snapshots } from "../../src/chain/Snapshots.ts"
import { CoinStats } from "../../src/chain/state/coinStats.ts"
import type { ConsensusParams } from "../../src/consensus/params.ts"
import type { Block } from "../../src/protocol/block.ts"
import { displayHash, fromBinaryString } from "../../src/protocol/bytes.ts"
import type * as DataHealth from "../../src/storage/DataHealth.ts"
import { blocksIn, chainLayer, temporaryDirectory } from "./chainLayer.ts"
import { fixtureBytes } from "./fixtures.ts"

export { chainLayer, temporaryDirectory }

/** The services of a chain in one object: the reader, which has the others by name. */
export type TestChain = typeof Chain.Chain.Service & {
  readonly coins: typeof ChainCoins.Service
  readonly sink: typeof ChainSink.Service
  readonly control: typeof ChainControl.Service
  readonly snapshots: typeof Snapshots.Service
}

export const chainOf = (context: Context.Context<Chain.ChainServices>): TestChain => ({
  ...Context.get(context, Chain.Chain),
  coins: Context.get(context, ChainCoins),
  sink: Context.get(context, ChainSink),
  control: Context.get(context, ChainControl),
  snapshots: Context.get(context, Snapshots)
})

/** The losses of a chain, for a test that loses blocks. */
export const lossesOf = ({ tree: { losses } }: TestChain): BlockLosses =>
  losses instanceof BlockLosses ? losses : assert.fail("the tree has other losses")

export const testChain: Effect.Effect<TestChain, never, Chain.ChainServices> = Effect.map(Effect.context(), chainOf)

/** Provides the services of a chain, with the changes of a test. */
export const servicesOf = (
  { coins, control, sink, snapshots, ...reader }: TestChain
): Layer.Layer<Chain.ChainServices> =>
  Layer.succeedContext(
    Context.empty().pipe(
      Context.add(Chain.Chain, reader),
      Context.add(ChainCoins, coins),
      Context.add(ChainSink, sink),
      Context.add(ChainControl, control),
      Context.add(Snapshots, snapshots)
    )
  )

/** Runs work on a chain in a directory, and closes it. */
export const withChain = <A, E>(
  directory: string,
  use: (chain: TestChain) => Effect.Effect<A, E, DataHealth.DataHealth>,
  params?: ConsensusParams,
  coinCacheBytes?: number
) => Effect.provide(Effect.flatMap(testChain, use), chainLayer(directory, params, coinCacheBytes))

/** The blocks of a block file without mask, in its order. */
export const blocksOf = (fixture: string): ReadonlyArray<Block> => blocksIn(fixtureBytes(fixture))

/** The statistics of the coins in the form of the fixtures. */
export const coinState = ({ coins: chainCoins }: TestChain) =>
  chainCoins.atRest(({ tip, visitCoins }) =>
    Effect.gen(function*() {
      const [stats, set] = [new CoinStats("hash_serialized_3"), new CoinStats("muhash")]
      yield* visitCoins((coins) => {
        for (const [key, coin] of coins) {
          const outpoint = fromBinaryString(key)
          stats.add(outpoint, coin)
          set.add(outpoint, coin)
        }
      })
      const { bogosize, coins, hash, names, transactions, txouts } = stats.finish()
      const muhash = set.finish().hash
      return {
        height: tip.height,
        bestblock: displayHash(tip.hash),
        txouts,
        bogosize,
        hash_serialized_3: hash === undefined ? undefined : displayHash(hash),
        muhash: muhash === undefined ? undefined : displayHash(muhash),
        amount: { coins: coins / 1e8, names: names / 1e8, total: (coins + names) / 1e8 },
        transactions
      }
    })
  )

/** The reference node's word for the result of a block. */
export const verdictOf = (submission: Submission): string | null =>
  submission.type === "connected" ? null : submission.type === "rejected" ? submission.reject.reason : submission.type
