import { Effect, Layer, Logger } from "effect"
import * as NodeClock from "../../../src/base/NodeClock.ts"
import * as Scheduler from "../../../src/base/Scheduler.ts"
import * as SyncStatus from "../../../src/chain/SyncStatus.ts"
import * as Warnings from "../../../src/chain/Warnings.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import * as Miner from "../../../src/mempool/mining/Miner.ts"
import { PeerManager } from "../../../src/network/PeerManager.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { miningMethods } from "../../../src/rpc/methods/miningMethods.ts"
import { testMethods } from "../../../src/rpc/methods/testMethods.ts"
import * as DataHealth from "../../../src/storage/DataHealth.ts"
import { chainLayer, temporaryDirectory, type TestChain, testChain } from "../../support/chain.ts"
import { type Calls, callsOf } from "../../support/methodNode.ts"
import { peerManager } from "../../support/peers.ts"
import { FakePool } from "../../support/pool.ts"

export const ADDRESS = "n11u97aH3ncjKCvJ6dQ1VuEBjgW1ighwvV"
export const SEGWIT = { rules: ["segwit"] }

export interface Node extends Calls {
  readonly chain: TestChain
  readonly pool: FakePool
}

/** Runs a test on the methods of a new node with that many peers. */
export const withNode = <A, E>(
  use: (node: Node) => Effect.Effect<A, E>,
  { clock = NodeClock.layer(), params = regtestParams, peers = 0 } = {}
) =>
  Effect.gen(function*() {
    const directory = yield* temporaryDirectory
    const pool = new FakePool()
    const test = Effect.gen(function*() {
      const methods = methodTable(yield* miningMethods, yield* testMethods)
      return yield* use({ chain: yield* testChain, pool, ...callsOf(methods) })
    })
    const network = Layer.succeed(
      PeerManager,
      peerManager({ count: Effect.succeed({ inbound: peers, outbound: 0 }) })
    )
    const status = SyncStatus.layer({ offline: true })
    const node = Layer.mergeAll(Miner.layer(), status, network, Scheduler.layer, Warnings.layer).pipe(
      Layer.provideMerge(DataHealth.layer),
      Layer.provideMerge(Layer.merge(chainLayer(directory, params), pool.layer)),
      Layer.provide(Logger.remove(Logger.defaultLogger))
    )
    return yield* Effect.provide(test, Layer.provideMerge(node, clock))
  })
