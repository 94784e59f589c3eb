import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import type { EmbeddedOpenFailure } from "../../client/errors.ts"
import { DataDirectory } from "../../config/DataDirectory.ts"
import { MEMPOOL_FIELDS } from "../../config/nodeFields.ts"
import type { OptionsOf } from "../../config/nodeOptions.ts"
import type { Settings } from "../../config/settings.ts"
import type { RelayValues } from "../../config/values.ts"
import * as FeeEstimator from "../../mempool/fees/FeeEstimator.ts"
import * as LiveEvents from "../../mempool/live/LiveEvents.ts"
import * as Pool from "../../mempool/Mempool.ts"
import * as Miner from "../../mempool/mining/Miner.ts"
import type { BlockLimits } from "../../mempool/mining/selectChunks.ts"
import type { Policy } from "../../mempool/policy/Policy.ts"
import { Samples } from "../../metrics/Samples.ts"
import { publishing } from "../../publish/publish.ts"
import { endingNode, following, inNode, openFailure } from "./base.ts"
import { FilesImported, type ProvidedByChain } from "./chain.ts"
import { optionsOfConfig } from "./fromConfig.ts"
import type { ProvidedByNameDb } from "./names.ts"
import { NodeSettings } from "./NodeSettings.ts"
import { sampleMempool } from "./samples.ts"

/** The mempool of a node, with what is made from it: fee rates, blocks, and events of unconfirmed operations. */

/** A higher incremental fee rate raises the minimum of relay, as upstream (`mempool_args.cpp`). */
const policyOf = (relay: RelayValues): Policy => ({
  requireStandard: !relay.acceptnonstdtxn,
  minRelayFeeRate: relay.minrelaytxfee === 0 ? 0 : Math.max(relay.minrelaytxfee, relay.incrementalrelayfee),
  incrementalFeeRate: relay.incrementalrelayfee,
  dustFeeRate: relay.dustrelayfee,
  maxNullData: relay.datacarrier ? relay.datacarriersize : 0,
  bareMultisig: relay.permitbaremultisig,
  weightPerSigopCost: relay.bytespersigop,
  cluster: { count: relay.limitclustercount, weight: 4_000 * relay.limitclustersize }
})

const blockLimitsOf = (
  { blockmaxweight, blockmintxfee, blockreservedweight, blockversion }: RelayValues
): BlockLimits => ({
  maxWeight: blockmaxweight,
  reservedWeight: blockreservedweight,
  minFeeRate: blockmintxfee,
  version: blockversion === 0 ? undefined : blockversion
})

const MEGABYTE = 1_000_000

const poolOf = (settings: Settings) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, (directory) =>
    Pool.layer({
      filename: directory.file("mempool.dat"),
      keep: settings.persistMempool,
      maxUsage: settings.maxMempool * MEGABYTE,
      expiryHours: settings.mempoolExpiry,
      policy: policyOf(settings.relay)
    }).pipe(Layer.annotateLogs("subsystem", "mempool"))))

const feesOf = ({ blocksOnly }: Settings) =>
  blocksOnly
    ? FeeEstimator.layerWithoutEstimates
    : Layer.unwrapEffect(
      Effect.map(DataDirectory, (directory) => FeeEstimator.layer({ filename: directory.file("fee_estimates.json") }))
    )

/** The mempool follows the chain behind all others, and loads what it held once the blocks are there. */
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

/** The services that a `Mempool` brings with it. */
export type ProvidedByMempool = FeeEstimator.FeeEstimator | LiveEvents.LiveEvents | Miner.Miner | Pool.Mempool

/** The options of the mempool: its size, the policy of relay, and blocks made from it. */
export type MempoolOptionsGiven = OptionsOf<typeof MEMPOOL_FIELDS>

export const mempoolLayer = (options: MempoolOptionsGiven = {}) =>
  Layer.unwrapEffect(Effect.map(
    Effect.flatMap(NodeSettings, (node) => node.with({ fields: MEMPOOL_FIELDS, options })),
    (settings) =>
      Layer.mergeAll(running, Miner.layer(blockLimitsOf(settings.relay)), feesOf(settings), LiveEvents.layer).pipe(
        Layer.provideMerge(poolOf(settings))
      )
  )).pipe(inNode)

/** Unconfirmed transactions that this node would relay and mine. */
export class NodeMempool extends Pool.Mempool {
  /** The mempool on the chain below. It follows the chain until the layer closes, and is stored then. */
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
