import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import type { EmbeddedOpenFailure } from "../../client/errors.ts"
import { DataDirectory } from "../../config/DataDirectory.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import * as FeeEstimator from "../../mempool/fees/FeeEstimator.ts"
import * as LiveEvents from "../../mempool/live/LiveEvents.ts"
import * as Pool from "../../mempool/Mempool.ts"
import * as Miner from "../../mempool/mining/Miner.ts"
import type { BlockLimits } from "../../mempool/mining/selectChunks.ts"
import type { Policy } from "../../mempool/policy/Policy.ts"
import * as ScriptBook from "../../mempool/scripts/ScriptBook.ts"
import { Samples } from "../../metrics/Samples.ts"
import { publishing } from "../../publish/publish.ts"
import { endingNode, following, openFailure, partLayer } from "./base.ts"
import { FilesImported, type ProvidedByChain } from "./chain.ts"
import type { ProvidedByNameDb } from "./names.ts"
import { optionsOfConfig } from "./NodeSettings.ts"
import { sampleMempool } from "./samples.ts"

/** The mempool of a node with its fee rates, block templates and events. */

/** A higher incremental fee rate raises the minimum of relay, as upstream (`mempool_args.cpp`). */
const policyOf = (relay: Settings["mempool"]): Policy => ({
  requireStandard: !relay.acceptNonStdTxn,
  minRelayFeeRate: relay.minRelayTxFee === 0 ? 0 : Math.max(relay.minRelayTxFee, relay.incrementalRelayFee),
  incrementalFeeRate: relay.incrementalRelayFee,
  dustFeeRate: relay.dustRelayFee,
  maxNullData: relay.dataCarrier ? relay.dataCarrierSize : 0,
  bareMultisig: relay.permitBareMultisig,
  weightPerSigopCost: relay.bytesPerSigop,
  cluster: { count: relay.limitClusterCount, weight: 4_000 * relay.limitClusterSize }
})

const blockLimitsOf = (
  { blockMaxWeight, blockMinTxFee, blockReservedWeight, blockVersion }: Settings["mempool"]
): BlockLimits => ({
  maxWeight: blockMaxWeight,
  reservedWeight: blockReservedWeight,
  minFeeRate: blockMinTxFee,
  version: blockVersion === 0 ? undefined : blockVersion
})

const MEGABYTE = 1_000_000

const poolOf = ({ chain, mempool }: Settings) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, (directory) =>
    Pool.layer({
      filename: directory.file("mempool.dat"),
      keep: mempool.persistMempool,
      maxUsage: mempool.maxMempool * MEGABYTE,
      hasScripts: chain.electrumIndex,
      expiryHours: mempool.mempoolExpiry,
      policy: policyOf(mempool)
    }).pipe(Layer.annotateLogs("subsystem", "mempool"))))

const feesOf = ({ peers: { blocksOnly } }: Settings) =>
  blocksOnly
    ? FeeEstimator.layerWithoutEstimates
    : Layer.unwrapEffect(
      Effect.map(DataDirectory, (directory) => FeeEstimator.layer({ filename: directory.file("fee_estimates.json") }))
    )

/** The mempool follows the chain after all others, and loads its file once the blocks are there. */
const running = Layer.scopedDiscard(
  Effect.gen(function*() {
    const { follower, load } = yield* Pool.Mempool
    const status = yield* SyncStatus
    const imported = yield* FilesImported
    const { add } = yield* Samples
    yield* publishing(following(follower))
    yield* status.load(endingNode(Effect.zipRight(Deferred.await(imported), load)))
    yield* add(yield* sampleMempool)
  }).pipe(Effect.annotateLogs("subsystem", "chain"))
)

/** The services that a `Mempool` includes. */
export type ProvidedByMempool =
  | FeeEstimator.FeeEstimator
  | LiveEvents.LiveEvents
  | Miner.Miner
  | Pool.Mempool
  | ScriptBook.ScriptBook

/** Size, relay policy and block templates. */
export type MempoolOptionsGiven = OptionsOf<"Mempool">

export const mempoolLayer = (options: MempoolOptionsGiven = {}) =>
  partLayer(
    { layer: "Mempool", options },
    (settings) =>
      Layer.mergeAll(
        running,
        Miner.layer(blockLimitsOf(settings.mempool)),
        feesOf(settings),
        LiveEvents.layer,
        ScriptBook.layer
      ).pipe(Layer.provideMerge(poolOf(settings)))
  )

/** Unconfirmed transactions that this node would relay and mine. */
export class NodeMempool extends Pool.Mempool {
  /** The mempool on the chain below. It follows the chain until the layer closes, and is then stored. */
  static layer(
    options: MempoolOptionsGiven = {}
  ): Layer.Layer<ProvidedByMempool, EmbeddedOpenFailure, ProvidedByChain | ProvidedByNameDb> {
    return Layer.mapError(mempoolLayer(options), openFailure)
  }

  /** As `layer`, with options that the program reads. */
  static layerConfig(
    options: Config.Config.Wrap<MempoolOptionsGiven>
  ): Layer.Layer<ProvidedByMempool, ConfigError.ConfigError | EmbeddedOpenFailure, ProvidedByChain | ProvidedByNameDb> {
    return optionsOfConfig(options, NodeMempool.layer)
  }
}
