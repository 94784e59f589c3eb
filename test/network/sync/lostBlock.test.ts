import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import * as BlockHealth from "../../../src/chain/repair/BlockHealth.ts"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import * as SyncManager from "../../../src/network/sync/SyncManager.ts"
import type { Block } from "../../../src/protocol/block.ts"
import { equal, toHex } from "../../../src/protocol/bytes.ts"
import { DataHealth } from "../../../src/storage/DataHealth.ts"
import { chainLayer, lossesOf, temporaryDirectory, testChain } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { simulated } from "../../support/simulated.ts"
import { allBlocks, twoBranches } from "../../support/twoBranches.ts"
import { mempoolWith } from "../relay/fakePool.ts"
import { FakePeer, ServedBlocks } from "./fakePeers.ts"

const { long, short } = twoBranches({ fork: 5, short: 20, long: 22 })
const missing = short.blockAt(12)

describe("a reorg over a lost block", () => {
  simulated(
    "a reorg is given up when enough peers lack the block, and done when a peer sends it",
    () =>
      Effect.gen(function*() {
        const layer = Layer.mergeAll(
          BlockHealth.layer,
          SyncStatus.layer({ offline: false })
        ).pipe(
          Layer.provideMerge(chainLayer(yield* temporaryDirectory)),
          Layer.provideMerge(mempoolWith({ entries: () => [] })),
          Layer.provideMerge(Logger.remove(Logger.defaultLogger))
        )
        yield* Effect.gen(function*() {
          const chain = yield* testChain
          const health = yield* DataHealth
          const status = yield* SyncStatus.SyncStatus
          yield* chain.sink.deliver(allBlocks(short).slice(1), false)
          const losses = lossesOf(chain)
          const id = chain.tree.find(missing.hash)
          losses.lose({ family: "blk", id, height: 12, reason: "it was cut off" })
          yield* status.loaded
          const manager = yield* SyncManager.make()
          const scope = yield* Effect.scope
          const connect = (blocks: ReadonlyArray<Block>, left: ReadonlyArray<Block> = []) =>
            Effect.gen(function*() {
              const served = new ServedBlocks(left.length === 0 ? blocks : left)
              if (left.length > 0) served.extend(blocks.slice(6))
              const peer = new FakePeer(served)
              yield* Effect.forkIn(peer.live(manager), scope)
              return peer
            })
          const tipIs = ({ hash }: Block) => Effect.sync(() => equal(chain.tree.hash(chain.tree.tip()), hash))
          const noDoubts = Effect.map(health.doubts, ({ length }) => length === 0)

          const peers = yield* Effect.replicateEffect(connect(allBlocks(long)), BlockHealth.GIVE_UP.refusals)
          yield* eventually("the branch is given up", Effect.map(health.notices, ({ length }) => length === 1))
          yield* eventually("nothing is in doubt", noDoubts)
          assert.isTrue(yield* tipIs(short.tip))
          assert.isFalse(yield* status.syncing)
          const askedFor = (peer: FakePeer) => peer.askedBlocks.filter((hash) => hash === toHex(missing.hash)).length
          assert.deepStrictEqual(peers.map(askedFor), peers.map(() => 1))

          const last = yield* connect(allBlocks(long), allBlocks(short))
          yield* eventually("the branch is taken", tipIs(long.tip))
          assert.strictEqual(askedFor(last), 1)
          yield* eventually("nothing is left to say", Effect.map(health.notices, ({ length }) => length === 0))
          yield* eventually("nothing is in doubt", noDoubts)
          assert.isTrue([...peers, last].every(({ closed }) => !closed))
        }).pipe(Effect.provide(layer))
      })
  )
})
