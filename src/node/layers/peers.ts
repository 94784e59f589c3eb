import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { BindFailed } from "../../base/listening.ts"
import { withoutSpan } from "../../base/spans.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import * as BackgroundCheck from "../../chain/repair/BackgroundCheck.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import type { InvalidConfig } from "../../client/errors.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import { Samples } from "../../metrics/Samples.ts"
import * as Manager from "../../network/PeerManager.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import * as LightStart from "../lightStart.ts"
import { reportSync } from "../reportSync.ts"
import { partLayer } from "./base.ts"
import { expectedPeers, type ProvidedByChain } from "./chain.ts"
import { loadFiles } from "./files.ts"
import type { ProvidedByMempool } from "./mempool.ts"
import type { ProvidedByNameDb } from "./names.ts"
import { optionsOfConfig } from "./NodeSettings.ts"
import { samplePeers, sampleTraffic } from "./samples.ts"
import type { ProvidedByWallet } from "./wallet.ts"

/** The sources of a node's blocks: its peers, and the files of its options. */

/** Everything that follows the chain is registered by now, so blocks may begin. */
const running = (settings: Settings) =>
  Layer.scopedDiscard(
    Effect.gen(function*() {
      const { pruning } = yield* ChainControl
      const { add, addTotals } = yield* Samples
      yield* pruning.begin
      if (settings.peers.maxPeers > 0) yield* Effect.forkScoped(withoutSpan(reportSync))
      yield* loadFiles(settings.chain)
      yield* add(yield* samplePeers)
      yield* addTotals(yield* sampleTraffic)
    }).pipe(Effect.annotateLogs("subsystem", "chain"))
  )

const networkOf = (settings: Settings) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { expect } = yield* SyncStatus
    yield* expect(yield* expectedPeers(settings))
    return LightStart.networkLayer(settings).pipe(Layer.annotateLogs("subsystem", "network"))
  }))

/** The options of the network. */
export type PeerOptionsGiven = OptionsOf<"PeerManager">

export const peersLayer = (options: PeerOptionsGiven = {}) =>
  partLayer(
    { layer: "PeerManager", options },
    (settings) =>
      // The check begins once everything is there that it goes through.
      Layer.merge(running(settings), BackgroundCheck.layer(settings.chain.backgroundCheck)).pipe(
        Layer.provideMerge(networkOf(settings))
      )
  )

type PeersFailure = BindFailed | InvalidConfig | StorageFailure

type BelowPeers = ProvidedByChain | ProvidedByMempool | ProvidedByNameDb | ProvidedByWallet

/** The peers of the node. */
export class NodePeers extends Manager.PeerManager {
  /**
   * Connects the chain below to the network, and imports the files of its options. Build it over everything that
   * follows the chain. With `maxPeers: 0` the node is offline: without DNS, connections or a listener.
   */
  static layer(options: PeerOptionsGiven = {}): Layer.Layer<Manager.PeerManager, PeersFailure, BelowPeers> {
    return peersLayer(options)
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig(
    options: Config.Config.Wrap<PeerOptionsGiven>
  ): Layer.Layer<Manager.PeerManager, ConfigError.ConfigError | PeersFailure, BelowPeers> {
    return optionsOfConfig(options, NodePeers.layer)
  }
}
