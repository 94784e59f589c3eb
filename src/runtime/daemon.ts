import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"
import * as Chain from "../chain/Chain.ts"
import type { ImportFailed } from "../chain/errors.ts"
import * as NodeClock from "../chain/NodeClock.ts"
import * as Scheduler from "../chain/Scheduler.ts"
import * as SyncStatus from "../chain/SyncStatus.ts"
import * as TxIndex from "../chain/TxIndex.ts"
import * as DataDirectory from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import { type ConsensusParams, paramsOf, withOverrides } from "../consensus/params.ts"
import * as FeeEstimator from "../mempool/FeeEstimator.ts"
import * as Mempool from "../mempool/Mempool.ts"
import * as Miner from "../mempool/mining/Miner.ts"
import * as NameDb from "../names/NameDb.ts"
import type { ListenFailed } from "../network/errors.ts"
import { PeerManager } from "../network/PeerManager.ts"
import { displayHash } from "../protocol/bytes.ts"
import { networks } from "../protocol/networks.ts"
import * as Dispatch from "../rpc/Dispatch.ts"
import { Health, type HealthReport } from "../rpc/health.ts"
import * as Lifecycle from "../rpc/Lifecycle.ts"
import { allMethods } from "../rpc/methods/all.ts"
import { NodeOptions } from "../rpc/NodeOptions.ts"
import * as RpcServer from "../rpc/RpcServer.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { InvalidWalletRequest, WalletDamaged } from "../wallet/errors.ts"
import * as Wallets from "../wallet/Wallets.ts"
import { showImport, standardTerminal } from "./importProgress.ts"
import * as Logging from "./logging.ts"
import * as Peers from "./peers.ts"

/** The rules of the network that the settings name, with what they change for tests. */
const paramsFor = (settings: Settings): ConsensusParams => {
  const params = withOverrides(paramsOf(networks[settings.network]), { activation: settings.activation })
  if (settings.assumeValid === "default") return params
  return { ...params, assumeValid: settings.assumeValid === "none" ? undefined : settings.assumeValid }
}

const MIB = 1024 * 1024

const MEGABYTE = 1_000_000

/** Whether there is somebody to ask, so that the node cannot know what is missing before one has answered. */
const expectsPeers = ({ addPeers, maxOutbound, maxPeers, network }: Settings): boolean =>
  maxPeers > 0 && (addPeers.length > 0 || (maxOutbound > 0 && networks[network].dnsSeeds.length > 0))

/** Chain, names and mempool, in the data directory. */
const stores = (settings: Settings) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const directory = yield* DataDirectory.DataDirectory
    const lifecycle = yield* Lifecycle.Lifecycle
    yield* lifecycle.warmUp("Loading block index…")
    const chain = Chain.layer({
      params: paramsFor(settings),
      blocksDirectory: directory.blocks,
      chainstateDirectory: directory.chainstate,
      temporaryDirectory: directory.path,
      pageSize: settings.pageSize,
      coinCacheBytes: settings.dbCache * MIB,
      verifyThreads: settings.verifyThreads
    })
    const names = NameDb.layer({ filename: directory.file("names.db"), pageSize: settings.pageSize })
    const status = SyncStatus.layer({ offline: settings.maxPeers === 0, expectsPeers: expectsPeers(settings) })
    const mempool = Mempool.layer({
      filename: settings.persistMempool ? directory.file("mempool.dat") : undefined,
      maxUsage: settings.maxMempool * MEGABYTE,
      expiryHours: settings.mempoolExpiry,
      minRelayFeeRate: settings.minRelayFeeRate
    })
    const fees = FeeEstimator.layer({ filename: directory.file("fee_estimates.json") })
    const transactions = settings.txIndex
      ? TxIndex.layer({ directory: directory.chainstate, pageSize: settings.pageSize })
      : TxIndex.layerOff
    const waiting = Layer.mergeAll(Miner.layer, fees).pipe(
      Layer.provideMerge(mempool),
      Layer.provideMerge(status),
      Layer.provideMerge(chain)
    )
    const stored = Layer.mergeAll(waiting, names, transactions)
    const wallets = Wallets.layer({
      directory: directory.path,
      chainstateDirectory: directory.chainstate,
      enabled: !settings.disableWallet,
      loadDefault: !settings.noWallet,
      limitNameChains: settings.limitNameChains,
      pageSize: settings.pageSize
    })
    return wallets.pipe(Layer.provideMerge(stored))
  }))

/** The network, over the stores. */
const peers = (settings: Settings) =>
  Layer.unwrapEffect(Effect.map(
    DataDirectory.DataDirectory,
    (directory) => Peers.layer(settings, directory.file("peers.json"))
  ))

/** What of the settings is about answers. */
const answerOptions = (settings: Settings): typeof NodeOptions.Service => {
  const { allowExpired, nameEncoding, nameHashIndex, nameHistory, valueEncoding } = settings
  return { allowExpired, nameEncoding, nameHashIndex, nameHistory, valueEncoding }
}

/** Tells /health and /ready how the node is, from before there is a chain. */
class NodeHealth {
  private report: Effect.Effect<HealthReport> = Effect.succeed({
    initializing: true,
    syncing: true,
    blockHeight: 0,
    peers: 0
  })

  readonly service = Health.of({ report: Effect.suspend(() => this.report) })

  become(report: Effect.Effect<HealthReport>): void {
    this.report = report
  }
}

/** Announces blocks as they come. Those of an import are summed up instead. */
const logBlocks = Effect.flatMap(Chain.Chain, (chain) =>
  Stream.runForEach(chain.events, (event) => {
    if (event._tag === "BlockDisconnected") {
      return Effect.logInfo("block disconnected", {
        height: event.block.height,
        hash: displayHash(event.block.hash)
      })
    }
    const { block, imported, transactions } = event
    const facts = { height: block.height, hash: displayHash(block.hash), transactions }
    return imported ? Effect.logDebug("new block", facts) : Effect.logInfo("new block", facts)
  }))

/** Imports what the command line names, and says what came of it. */
const importBlocks = (files: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const chain = yield* Chain.Chain
    const shown = yield* Effect.fork(showImport(standardTerminal()))
    const report = yield* chain.importFrom(files).pipe(Effect.ensuring(shown.interruptAsFork(shown.id())))
    const { elapsedMs, ...facts } = report
    const timings = Object.entries(yield* chain.timings).map(([what, ms]) => [what, Math.round(ms)] as const)
    yield* Effect.logInfo("import finished", {
      ...facts,
      seconds: Math.round(elapsedMs) / 1000,
      blocksPerSecond: Math.round(1000 * report.stored / Math.max(1, elapsedMs)),
      milliseconds: Object.fromEntries(timings)
    })
  })

/** Settings that this version takes and does not act on yet: better said than passed over. */
const notYet = (settings: Settings): ReadonlyArray<string> =>
  settings.metrics === undefined ? [] : ["there is no metrics endpoint yet: -metricsaddr has no effect"]

/** Notes each call in the log, where the log shows such entries: otherwise nothing is done for it. */
const noteCalls = ({ debugSubsystems, logLevel }: Settings) =>
  logLevel === "debug" || debugSubsystems.includes("rpc")
    ? Layer.unwrapEffect(Effect.map(Effect.runtime(), (runtime) => {
      const log = Runtime.runFork(runtime)
      return Dispatch.layer({
        observe: (method, seconds, error) => {
          const facts = { method, milliseconds: Math.round(seconds * 1e6) / 1000, error: error?.code }
          log(Effect.logDebug("call", facts).pipe(Effect.annotateLogs("subsystem", "rpc")))
        }
      })
    }))
    : Dispatch.layer()

/** Why a daemon ends before somebody asks it to. */
export type DaemonFailure = ImportFailed | InvalidWalletRequest | ListenFailed | StorageFailure | WalletDamaged

/**
 * Brings the parts together once they are built: the index of names to the tip, then the listener from warm-up to
 * service, then the import. Returns what ends the daemon.
 */
const start = (settings: Settings, health: NodeHealth) =>
  Effect.gen(function*() {
    const chain = yield* Chain.Chain
    const names = yield* NameDb.NameDb
    const index = yield* TxIndex.TxIndex
    const mempool = yield* Mempool.Mempool
    const wallets = yield* Wallets.Wallets
    const status = yield* SyncStatus.SyncStatus
    const manager = yield* PeerManager
    const lifecycle = yield* Lifecycle.Lifecycle
    const server = yield* RpcServer.RpcServer
    const failed = yield* Deferred.make<never, DaemonFailure>()
    // This scope closes before the stores do.
    yield* Effect.addFinalizer(() => server.drain)

    for (const warning of [...notYet(settings), ...chain.repairs]) yield* Effect.logWarning(warning)
    yield* lifecycle.warmUp("Loading names…")
    yield* chain.register(names.follower)
    if (index.follower !== undefined) yield* chain.register(index.follower)
    yield* Effect.forEach(wallets.loaded(), ({ follower }) => chain.register(follower), { discard: true })
    yield* chain.register(mempool.follower)
    yield* Effect.forkScoped(logBlocks)
    health.become(Effect.gen(function*() {
      const { tip } = yield* chain.progress
      const { inbound, outbound } = yield* manager.count
      return {
        initializing: false,
        syncing: yield* status.syncing,
        blockHeight: tip.height,
        peers: inbound + outbound
      }
    }))
    yield* lifecycle.running
    const { header, height } = yield* chain.tip
    yield* Effect.logInfo("node started", {
      network: settings.network,
      height,
      hash: displayHash(header.hash),
      dataDir: settings.dataDir
    })
    const load = settings.loadBlocks.length > 0 ? importBlocks(settings.loadBlocks) : Effect.void
    yield* load.pipe(
      Effect.zipRight(mempool.load),
      Effect.zipRight(status.loaded),
      // A defect ends the node as well: it would never be done with loading.
      Effect.catchAllCause((cause) => Deferred.failCause(failed, cause)),
      Effect.forkScoped
    )
    return Effect.raceFirst(Deferred.await(failed), chain.failure).pipe(Effect.raceFirst(lifecycle.stopRequested))
  }).pipe(Effect.annotateLogs("subsystem", "chain"))

/** The daemon: runs until somebody asks it to stop, or it cannot go on. Interrupting it stops it in good order. */
export const run = (settings: Settings) => {
  const health = new NodeHealth()
  const listener = RpcServer.layer({
    listen: settings.rpc,
    credentials: settings.rpc.credentials,
    rateLimit: settings.rateLimit,
    maxRequestSize: settings.maxRequestSize
  }).pipe(Layer.provideMerge(noteCalls(settings)), Layer.provide(Layer.succeed(Health, health.service)))
  const node = Dispatch.installed(allMethods).pipe(
    Layer.provideMerge(peers(settings)),
    Layer.provideMerge(stores(settings)),
    Layer.provideMerge(Scheduler.layer),
    Layer.provideMerge(Layer.succeed(NodeOptions, answerOptions(settings))),
    Layer.provideMerge(listener),
    Layer.provideMerge(Lifecycle.layer),
    Layer.provideMerge(DataDirectory.layer({ path: settings.dataDir, network: settings.network })),
    Layer.provideMerge(NodeClock.layer(settings.mockTime))
  )
  return Effect.scoped(Effect.flatten(start(settings, health))).pipe(
    Effect.provide(node),
    Effect.tapDefect((cause) => Effect.logError("the node ends because of an error of its own", cause)),
    Effect.provide(
      Logging.layer({
        format: settings.logFormat,
        level: settings.logLevel,
        debugSubsystems: settings.debugSubsystems
      })
    )
  )
}
