import { Effect, Layer, TestClock } from "effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainControl, type PruneControl } from "../../../src/chain/ChainControl.ts"
import { Warnings } from "../../../src/chain/Warnings.ts"
import { regtestParams } from "../../../src/consensus/params.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { DEFAULT_POLICY } from "../../../src/mempool/policy/Policy.ts"
import { PeerManager } from "../../../src/network/PeerManager.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { networkMethods } from "../../../src/rpc/methods/networkMethods.ts"
import { callsOf } from "../../support/methodNode.ts"
import { noTree } from "../../support/noTree.ts"
import { peerManager } from "../../support/peers.ts"

export const NOW = 1_700_000_000

export const pool = Layer.mock(Mempool, {
  get: () => undefined,
  getByWtxid: () => undefined,
  entries: () => [],
  spender: () => undefined,
  ancestors: () => [],
  descendants: () => [],
  parents: () => [],
  children: () => [],
  cluster: () => [],
  chunkOf: () => undefined,
  chunks: () => [],
  pending: () => [],
  coin: () => undefined,
  prioritised: () => new Map(),
  broadcastLater: () => undefined,
  isUnbroadcast: () => false,
  broadcastDone: () => undefined,
  unbroadcast: () => [],
  follower: { name: "none", cursor: Effect.succeed(undefined), apply: () => Effect.void, rewind: () => Effect.void },
  takesChild: () => true,
  fitsCluster: () => true,
  policy: DEFAULT_POLICY,
  info: () => ({
    loaded: true,
    size: 0,
    bytes: 0,
    usage: 0,
    totalFee: 0,
    maxUsage: 3e8,
    minFeeRate: 100_000,
    minRelayFeeRate: 100_000,
    incrementalFeeRate: 100,
    unbroadcast: 0,
    sequence: 0,
    changes: 0
  })
})

export const NO_PRUNING: PruneControl = {
  options: undefined,
  prunedTo: Effect.succeed(0),
  begin: Effect.void,
  upTo: () => Effect.void
}

/** The methods on a network that a test describes. */
export const network = (said: Partial<typeof PeerManager.Service>, banTime?: number) =>
  Effect.zipRight(
    TestClock.setTime(1000 * NOW),
    networkMethods.pipe(
      Effect.map((list) => callsOf(methodTable(list))),
      Effect.provide(Layer.mergeAll(
        Layer.succeed(PeerManager, peerManager(said)),
        pool,
        Layer.mock(Chain, { params: regtestParams, tree: noTree }),
        Layer.mock(ChainControl, { repairs: [], pruning: NO_PRUNING }),
        Layer.mock(Warnings, { current: Effect.succeed(["the disk is full"]) }),
        Layer.succeed(AnswerOptions, {
          nameEncoding: "ascii",
          valueEncoding: "ascii",
          allowExpired: false,
          nameHistory: true,
          nameHashIndex: true,
          ...(banTime === undefined ? {} : { banTime })
        })
      ))
    )
  )
