import { Effect } from "effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { ChainSink } from "../../../src/chain/ChainSink.ts"
import { SyncStatus } from "../../../src/chain/SyncStatus.ts"
import { Mempool } from "../../../src/mempool/Mempool.ts"
import { BlockDownload } from "../../../src/network/sync/BlockDownload.ts"
import { BlockOrder } from "../../../src/network/sync/BlockOrder.ts"
import { ChainSyncTimers } from "../../../src/network/sync/ChainSyncTimers.ts"
import { HeaderSync } from "../../../src/network/sync/HeaderSync.ts"
import { HighBandwidth } from "../../../src/network/sync/HighBandwidth.ts"
import { MOST_UNREQUESTED } from "../../../src/network/sync/incomingBlocks.ts"
import { MissingBlocks } from "../../../src/network/sync/missingBlocks.ts"
import { Slots } from "../../../src/network/sync/Slots.ts"
import { makeSyncPeer, type SyncContext, type SyncPeer } from "../../../src/network/sync/SyncContext.ts"
import type { FakePeer } from "./fakePeers.ts"

/** The shared state of the sync loop, without a loop. The clock is at 0. */
export const makeContext: Effect.Effect<SyncContext, never, Chain | ChainSink | SyncStatus | Mempool> = Effect.gen(
  function*() {
    const chain = yield* Chain
    const { params, tree } = chain
    const download = new BlockDownload({ tree, minimumChainWork: params.minimumChainWork })
    return {
      chain,
      sink: yield* ChainSink,
      status: yield* SyncStatus,
      mempool: yield* Mempool,
      tree,
      params,
      fixed: 0,
      peers: new Map(),
      download,
      missing: new MissingBlocks(download, tree, tree.losses),
      headers: new HeaderSync(params.targetSpacing),
      timers: new ChainSyncTimers(tree),
      highBandwidth: new HighBandwidth(),
      blockOrder: new BlockOrder(tree),
      random: () => 0n,
      tick: 250,
      wake: () => undefined,
      now: () => 0,
      real: () => 0,
      wall: () => Date.now(),
      wantsCompact: true,
      compare: () => undefined,
      fetched: new Set(),
      initial: true,
      loading: false,
      slots: new Slots(MOST_UNREQUESTED)
    }
  }
)

/** Adds a peer. */
export const join = (context: SyncContext, peer: FakePeer): SyncPeer => {
  const state = makeSyncPeer(peer)
  context.peers.set(peer.id, state)
  context.download.add(peer.id, { preferred: !peer.inbound, serves: true, limited: false, below: Infinity })
  context.headers.add(peer.id, !peer.inbound)
  return state
}
