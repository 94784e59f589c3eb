import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ExpiringNames from "../alerts/ExpiringNames.ts"
import * as WatchList from "../alerts/WatchList.ts"
import { standardTerminal } from "../base/progressBar.ts"
import * as Scheduler from "../base/Scheduler.ts"
import { spannedLayer, withoutSpan } from "../base/spans.ts"
import { attempt } from "../chain/attempt.ts"
import * as Chain from "../chain/Chain.ts"
import { ChainControl } from "../chain/ChainControl.ts"
import { ChainSink } from "../chain/ChainSink.ts"
import { ImportFailed } from "../chain/errors.ts"
import * as Indexes from "../chain/indexes/Indexes.ts"
import * as BackgroundCheck from "../chain/repair/BackgroundCheck.ts"
import * as BlockHealth from "../chain/repair/BlockHealth.ts"
import { Snapshots } from "../chain/Snapshots.ts"
import * as SyncStatus from "../chain/SyncStatus.ts"
import * as TxIndex from "../chain/TxIndex.ts"
import * as Warnings from "../chain/Warnings.ts"
import * as DataDirectory from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import type { RelayValues, WalletValues } from "../config/values.ts"
import { type ConsensusParams, paramsOf, withOverrides } from "../consensus/params.ts"
import { signatureBackend } from "../consensus/signature.ts"
import { withAnchors } from "../light/anchors.ts"
import { LightPart } from "../light/LightPart.ts"
import * as NameAnswers from "../light/NameAnswers.ts"
import * as SyncReporter from "../light/SyncReporter.ts"
import * as FeeEstimator from "../mempool/fees/FeeEstimator.ts"
import * as LiveEvents from "../mempool/live/LiveEvents.ts"
import * as Mempool from "../mempool/Mempool.ts"
import * as Miner from "../mempool/mining/Miner.ts"
import type { BlockLimits } from "../mempool/mining/selectChunks.ts"
import type { Policy } from "../mempool/policy/Policy.ts"
import * as ErrorCount from "../metrics/countErrors.ts"
import * as NameEvents from "../names/events/NameEvents.ts"
import * as NameDb from "../names/NameDb.ts"
import { displayHash } from "../protocol/bytes.ts"
import { networks } from "../protocol/networks.ts"
import { publishing } from "../publish/publish.ts"
import * as DataHealth from "../storage/DataHealth.ts"
import type { StorageFailure } from "../storage/errors.ts"
import { version } from "../version.ts"
import { InvalidWalletRequest } from "../wallet/errors.ts"
import type { WalletRules } from "../wallet/WalletRules.ts"
import * as Wallets from "../wallet/Wallets.ts"
import { showImport } from "./importProgress.ts"
import * as LightStart from "./lightStart.ts"
import * as NodeMetrics from "./nodeMetrics.ts"
import { reindex } from "./reindex.ts"
import { collectGarbage, isLightSettled, releaseMemory } from "./releaseMemory.ts"
import { reportSync } from "./reportSync.ts"
import { restartNames } from "./restartNames.ts"
import { logSync } from "./syncLog.ts"

/**
 * A node without an interface: chain, names, mempool, wallets and peers, in a data directory. The daemon and the
 * embedded client add an interface to it.
 */

/** Receives the steps of the node's start. */
export type Tell = (step: string) => Effect.Effect<void>

/** The rules of the configured network, with changes for tests. */
export const paramsFor = (settings: Settings): ConsensusParams => {
  const { anchor } = settings
  const own = withOverrides(paramsOf(networks[settings.network]), {
    activation: settings.activation,
    ...(settings.limitsTimewarp ? { limitsTimewarp: true } : {}),
    ...(settings.minimumChainWork === undefined ? {} : { minimumChainWork: settings.minimumChainWork })
  })
  const params = anchor === "default" ? own : withAnchors(own, anchor === "none" ? [] : [anchor])
  if (settings.assumeValid === "default") return params
  return { ...params, assumeValid: settings.assumeValid === "none" ? undefined : settings.assumeValid }
}

const rulesOf = (wallet: WalletValues): WalletRules => ({
  addressType: wallet.addresstype,
  changeType: wallet.changetype,
  minFeeRate: wallet.mintxfee,
  fallbackFeeRate: wallet.fallbackfee,
  discardFeeRate: wallet.discardfee,
  consolidateFeeRate: wallet.consolidatefeerate,
  maxFee: wallet.maxtxfee,
  confirmTarget: wallet.txconfirmtarget,
  replaceable: wallet.walletrbf,
  // As upstream `CWallet::Create`, 0 keeps one.
  keypool: Math.max(1, wallet.keypool),
  spendUnconfirmedChange: wallet.spendzeroconfchange,
  avoidPartialSpends: wallet.avoidpartialspends,
  maxGroupingFee: wallet.maxapsfee,
  rejectLongChains: wallet.walletrejectlongchains,
  autoRenew: wallet.autorenew,
  broadcast: wallet.walletbroadcast
})

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

const MIB = 1024 * 1024

const MEGABYTE = 1_000_000

/** Bytes of a block file with `-fastprune` (upstream `node/blockstorage.cpp`, `FindNextBlockPos`). */
const SMALL_FILE = 0x10000

/** Beside a bundled svcd there is libsecp256k1 for the most usual platforms only. */
const SLOW_SIGNATURES = "signatures are checked without libsecp256k1, which takes many times as long: " +
  "install it beside svcd with npm install secp256k1@5"

/** The height from which on blocks are pruned (upstream `kernel/chainparams.cpp`, `nPruneAfterHeight`). */
const pruneAfter = ({ fastPrune, network }: Settings): number =>
  network === "mainnet" ? 100_000 : fastPrune ? 100 : 1_000

const pruningOf = (settings: Settings) => {
  const { fastPrune, prune } = settings
  const target = prune === "manual" || prune === undefined ? undefined : prune * MIB
  return {
    ...prune === undefined ? {} : { prune: { target, after: pruneAfter(settings) } },
    ...fastPrune ? { maxFileSize: SMALL_FILE } : {}
  }
}

/** Whether there are peers to connect to: until one has answered, the node cannot know what is missing. */
const expectsPeers = ({ addPeers, maxOutbound, maxPeers, network }: Settings): boolean =>
  maxPeers > 0 && (addPeers.length > 0 || (maxOutbound > 0 && networks[network].dnsSeeds.length > 0))

/** Chain, names and mempool, in the data directory. */
const stores = (settings: Settings, tell: Tell) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const directory = yield* DataDirectory.DataDirectory
    const { reindex: wanted } = settings
    if (wanted !== undefined) yield* attempt(() => reindex(directory, wanted))
    yield* tell("Loading block index…")
    const chain = Chain.layer({
      params: paramsFor(settings),
      blocksDirectory: directory.blocks,
      chainstateDirectory: directory.chainstate,
      temporaryDirectory: directory.path,
      pageSize: settings.pageSize,
      coinCacheBytes: settings.dbCache * MIB,
      verifyThreads: settings.verifyThreads,
      check: { blocks: settings.checkBlocks, level: settings.checkLevel },
      snapshotHash: settings.snapshotHash,
      ...pruningOf(settings)
    }).pipe(Layer.annotateLogs("subsystem", "chain"))
    const names = NameDb.layer({
      filename: directory.file("names.db"),
      pageSize: settings.pageSize,
      rebuildSearch: settings.reindexNames,
      searchBuilt: collectGarbage
    }).pipe(
      Layer.annotateLogs("subsystem", "names")
    )
    // The chain of a light node has no peers: it stays at genesis, and must not count as synced.
    const status = Layer.unwrapEffect(Effect.map(LightStart.lightRole(settings), (role) =>
      SyncStatus.layer({
        offline: settings.maxPeers === 0 && role !== "stays",
        expectsPeers: role === "stays" || expectsPeers(settings),
        maxTipAge: settings.maxTipAge
      })))
    const mempool = Mempool.layer({
      filename: directory.file("mempool.dat"),
      keep: settings.persistMempool,
      maxUsage: settings.maxMempool * MEGABYTE,
      expiryHours: settings.mempoolExpiry,
      policy: policyOf(settings.relay)
    }).pipe(Layer.annotateLogs("subsystem", "mempool"))
    const fees = settings.blocksOnly
      ? FeeEstimator.layerWithoutEstimates
      : FeeEstimator.layer({ filename: directory.file("fee_estimates.json") })
    const transactions = settings.txIndex
      ? TxIndex.layer({ directory: directory.chainstate, pageSize: settings.pageSize })
      : TxIndex.layerOff
    const indexes = Indexes.layer({
      directory: directory.chainstate,
      pageSize: settings.pageSize,
      params: paramsFor(settings),
      filters: settings.blockFilterIndex,
      spenders: settings.txoSpenderIndex,
      coinStats: settings.coinStatsIndex
    })
    const waiting = Layer.mergeAll(Miner.layer(blockLimitsOf(settings.relay)), fees).pipe(
      Layer.provideMerge(mempool),
      Layer.provideMerge(status),
      Layer.provideMerge(chain)
    )
    const stored = Layer.merge(SyncReporter.layer, LiveEvents.layer).pipe(
      Layer.provideMerge(NameAnswers.layer()),
      Layer.provideMerge(NameEvents.layer),
      Layer.provideMerge(LightStart.layer(settings)),
      Layer.provideMerge(Layer.mergeAll(waiting, names, transactions, indexes))
    )
    const wallets = Wallets.layer({
      directory: directory.path,
      chainstateDirectory: directory.chainstate,
      enabled: !settings.disableWallet,
      loadDefault: !settings.noWallet,
      limitNameChains: settings.limitNameChains,
      rules: rulesOf(settings.wallet),
      pageSize: settings.pageSize
    }).pipe(Layer.annotateLogs("subsystem", "wallet"))
    const watched = WatchList.layer({
      filename: directory.file("watched.json"),
      configured: settings.alerts.watch
    }).pipe(Layer.annotateLogs("subsystem", "names"))
    return ExpiringNames.layer.pipe(
      Layer.provideMerge(Layer.merge(wallets, watched)),
      Layer.provideMerge(stored)
    )
  }))

/** The network, over the stores. */
const peers = (settings: Settings) => LightStart.networkLayer(settings).pipe(Layer.annotateLogs("subsystem", "network"))

/** Logs blocks as they connect. Those of an import are summed up instead. */
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

/** Imports the files of the command line, and logs the result. */
const importBlocks = (files: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const sink = yield* ChainSink
    const control = yield* ChainControl
    const chain = yield* Chain.Chain
    const shown = yield* Effect.fork(showImport(standardTerminal()))
    const report = yield* sink.importFrom(files).pipe(Effect.ensuring(shown.interruptAsFork(shown.id())))
    const { elapsedMs, ...facts } = report
    if (facts.stored + facts.known + facts.refused + facts.orphans === 0) {
      return yield* Effect.logError(
        "nothing to import: the files hold no block of this network. Check them, and -network",
        {
          files: files.join(", "),
          network: chain.params.network.chainName
        }
      )
    }
    const timings = Object.entries(yield* control.timings).map(([what, ms]) => [what, Math.round(ms)] as const)
    yield* Effect.logInfo("import finished", {
      ...facts,
      seconds: Math.round(elapsedMs) / 1000,
      blocksPerSecond: Math.round(1000 * report.stored / Math.max(1, elapsedMs)),
      milliseconds: Object.fromEntries(timings)
    })
  })

/** Loads the snapshot of the command line as soon as the header of its base block is known. */
const loadSnapshot = (file: string) =>
  Effect.gen(function*() {
    const snapshots = yield* Snapshots
    if (yield* snapshots.began) {
      return yield* Effect.logInfo("a snapshot is loaded already: -loadsnapshot does nothing")
    }
    let waits = false
    const load = Effect.tapError(snapshots.load(file), (failure) => {
      if (waits || failure._tag !== "SnapshotRefused" || failure.cause !== "header") return Effect.void
      waits = true
      return Effect.logInfo("the snapshot waits for the header of its base block, which comes from peers", { file })
    })
    yield* Effect.retry(load, {
      while: (failure) => failure._tag === "SnapshotRefused" && failure.cause === "header",
      schedule: Schedule.spaced("1 second")
    })
  }).pipe(
    Effect.catchTag("SnapshotRefused", ({ reason }) => new ImportFailed({ file, reason }))
  )

/** The services of a node, from the disk to the network. They are idle until `start`. */
export const layer = (settings: Settings, tell: Tell) =>
  NodeMetrics.layer.pipe(
    Layer.provideMerge(peers(settings)),
    Layer.provideMerge(BackgroundCheck.layer(settings.backgroundCheck)),
    Layer.provideMerge(Layer.merge(BlockHealth.layer, Warnings.layer)),
    Layer.provideMerge(stores(settings, tell)),
    Layer.provideMerge(Scheduler.layer),
    Layer.provideMerge(DataHealth.layer),
    Layer.provide(ErrorCount.layer),
    spannedLayer({ open: "svcd.node.open", close: "svcd.node.close" })
  )

export interface StartOptions {
  readonly tell: Tell
  /** Runs once all services are at the tip of the stored chain: before files are imported. */
  readonly ready: Effect.Effect<void, never, Scope.Scope>
}

/**
 * Starts the services once they are built: brings names, indexes, wallets and mempool to the tip, then imports block
 * files in the background. Returns what ends the node: it never succeeds.
 */
export const start = (settings: Settings, { ready, tell }: StartOptions) =>
  Effect.gen(function*() {
    const chain = yield* Chain.Chain
    const control = yield* ChainControl
    const names = yield* NameDb.NameDb
    const index = yield* TxIndex.TxIndex
    const indexes = yield* Indexes.Indexes
    const mempool = yield* Mempool.Mempool
    const wallets = yield* Wallets.Wallets
    const status = yield* SyncStatus.SyncStatus
    const part = yield* LightPart
    const failed = yield* Deferred.make<never, ImportFailed | StorageFailure>()

    for (const warning of control.repairs) yield* Effect.logWarning(warning)
    yield* tell("Loading names…")
    yield* restartNames
    yield* control.register(names.follower)
    if (index.follower !== undefined) yield* control.register(index.follower)
    yield* Effect.forEach(indexes.followers, control.register, { discard: true })
    yield* Effect.forEach(wallets.loaded(), ({ follower }) => control.register(follower), { discard: true }).pipe(
      Effect.catchTag("BlocksPruned", () =>
        new InvalidWalletRequest({ code: "behind-pruned", reason: Wallets.BEHIND_PRUNED }))
    )
    yield* publishing(control.register(mempool.follower))
    yield* control.pruning.begin
    yield* Effect.forkScoped(withoutSpan(logBlocks))
    // Without peers there is nothing to catch up with.
    if (settings.maxPeers > 0) {
      yield* Effect.forkScoped(withoutSpan(reportSync))
    }
    yield* Effect.forkScoped(withoutSpan(logSync))
    // A light part beside the whole chain ends with the handover.
    const settled = Effect.suspend(() => {
      const light = part.current()
      if (light === undefined) {
        return Effect.negate(status.syncing)
      }
      return part.stays ? isLightSettled(light) : Effect.succeed(false)
    })
    yield* Effect.forkScoped(withoutSpan(releaseMemory(settled)))
    yield* ready
    const { header, height } = yield* chain.tip
    yield* Effect.logInfo("node started", {
      version,
      network: settings.network,
      height,
      hash: displayHash(header.hash),
      dataDir: settings.dataDir
    })
    if (signatureBackend() === "noble") {
      yield* Effect.logWarning(SLOW_SIGNATURES)
    }
    const load = settings.loadBlocks.length > 0 ? importBlocks(settings.loadBlocks) : Effect.void
    yield* load.pipe(
      Effect.zipRight(mempool.load),
      Effect.zipRight(status.loaded),
      // A defect ends the node as well: otherwise it would load for ever.
      Effect.catchAllCause((cause) =>
        Deferred.failCause(failed, cause)
      ),
      withoutSpan,
      Effect.forkScoped
    )
    if (settings.loadSnapshot !== undefined) {
      yield* loadSnapshot(settings.loadSnapshot).pipe(
        Effect.catchAllCause((cause) => Deferred.failCause(failed, cause)),
        withoutSpan,
        Effect.forkScoped
      )
    }
    // `raceAll` waits for a success, and these only fail.
    return Effect.raceFirst(Deferred.await(failed), Effect.raceFirst(control.failure, part.failure))
  }).pipe(Effect.withSpan("svcd.node.start"), Effect.annotateLogs("subsystem", "chain"))
