import { Effect, Layer, Logger } from "effect"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import type { PoolEntry } from "../../../src/mempool/PoolEntry.ts"
import * as SyncManager from "../../../src/network/sync/SyncManager.ts"
import { type Block } from "../../../src/protocol/block.ts"
import { displayHash, equal } from "../../../src/protocol/bytes.ts"
import { Op } from "../../../src/protocol/script.ts"
import { chainLayer, servicesOf, temporaryDirectory, type TestChain, testChain } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { MemoryChain, trustScripts } from "../../support/MemoryChain.ts"
import { ANYONE, buildBlock, emptyChild, makeCoinbase, mine } from "../../support/regtest.ts"
import { simulated } from "../../support/simulated.ts"
import { mempoolWith } from "../relay/fakePool.ts"
import { FakePeer, type FakePeerOptions, type ServedBlocks } from "./fakePeers.ts"

/** A chain whose tip is some minutes old. Every third block has a merged-mining proof. */
export const recentChain = (count: number, salt = 0): MemoryChain => {
  const chain = new MemoryChain(regtestParams, trustScripts)
  const start = Math.floor(Date.now() / 1000) - 60 * count - 300
  for (let i = 0; i < count; i++) grow(chain, salt, start + 60 * i)
  return chain
}

/** Adds a block; `salt` distinguishes branches. */
export const grow = (chain: MemoryChain, salt = 0, time = chain.tip.header.time + 60): Block => {
  const height = chain.height + 1
  const coinbase = makeCoinbase(height, [{ value: 5_000_000_000 / 2 ** Math.floor(height / 150), script: ANYONE }], {
    extra: Uint8Array.of(Op.OP_0 + salt, 1)
  })
  return mine(chain, [], { coinbase, time })
}

export interface Network {
  readonly chain: TestChain
  readonly status: typeof SyncStatus.SyncStatus.Service
  readonly manager: SyncManager.SyncManager
  /** Connects a peer that serves blocks. */
  readonly connect: (served: ServedBlocks, options?: FakePeerOptions) => Effect.Effect<FakePeer>
  readonly untilTip: (tip: Block) => Effect.Effect<void>
  readonly until: (what: string, holds: () => boolean) => Effect.Effect<void>
}

/** Runs a test on a node with a chain on disk and peers in memory. */
export const network = <A, E>(
  directory: string,
  use: (network: Network) => Effect.Effect<A, E>,
  { altered = (chain) => chain, loaded = true, pool = [] }: {
    /** Replaces parts of the chain for the sync. */
    readonly altered?: (chain: TestChain) => TestChain
    readonly loaded?: boolean
    readonly pool?: ReadonlyArray<PoolEntry>
  } = {}
) =>
  Effect.scoped(Effect.gen(function*() {
    const chain = yield* testChain
    const status = yield* SyncStatus.SyncStatus
    if (loaded) yield* status.loaded
    const manager = yield* Effect.provide(SyncManager.make(), servicesOf(altered(chain)))
    const scope = yield* Effect.scope
    return yield* use({
      chain,
      status,
      manager,
      connect: (served, options) =>
        Effect.gen(function*() {
          const peer = new FakePeer(served, options)
          yield* Effect.forkIn(peer.live(manager), scope)
          return peer
        }),
      until: eventually,
      untilTip: (tip) =>
        eventually(`tip ${displayHash(tip.hash)}`, () => equal(chain.tree.hash(chain.tree.tip()), tip.hash))
    })
  })).pipe(
    Effect.provide(
      Layer.mergeAll(
        SyncStatus.layer({ offline: false, expectsPeers: true }).pipe(Layer.provideMerge(chainLayer(directory))),
        mempoolWith({ entries: () => pool }),
        Logger.remove(Logger.defaultLogger)
      )
    )
  )

export const test = (name: string, use: (network: Network) => Effect.Effect<void>) =>
  simulated(name, () => Effect.flatMap(temporaryDirectory, (directory) => network(directory, use)))

export const headersOf = (blocks: ReadonlyArray<Block>) => ({ type: "headers" as const, headers: blocks })

/** A block with an excessive coinbase amount. */
export const greedyBlock = (chain: MemoryChain): Block =>
  buildBlock(chain, [], {
    coinbase: makeCoinbase(chain.height + 1, [{ value: 5_100_000_000, script: ANYONE }]),
    time: chain.tip.header.time + 60
  })

/** Blocks on top of a block, valid or not. */
export const onTop = (block: Block, height: number, count: number): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let last = block
  for (let i = 1; i <= count; i++) {
    last = emptyChild(last, height + i, { time: last.header.time + 60 })
    blocks.push(last)
  }
  return blocks
}
