import type * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { existsSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { syncDirectoryNow } from "../../base/atomicFile.ts"
import { withoutSpan } from "../../base/spans.ts"
import { attempt } from "../../chain/attempt.ts"
import * as ChainParts from "../../chain/Chain.ts"
import { ChainControl } from "../../chain/ChainControl.ts"
import type { ChainEvent } from "../../chain/ChainEvent.ts"
import * as Indexes from "../../chain/indexes/Indexes.ts"
import * as BlockHealth from "../../chain/repair/BlockHealth.ts"
import { requestRebuild } from "../../chain/repair/rebuild.ts"
import { chainStateInUse, dropSnapshot, snapshotDirectory } from "../../chain/snapshot/snapshotState.ts"
import * as SyncStatus from "../../chain/SyncStatus.ts"
import * as TxIndex from "../../chain/TxIndex.ts"
import * as Warnings from "../../chain/Warnings.ts"
import type { EmbeddedOpenFailure } from "../../client/errors.ts"
import { PRUNE_ON_REQUEST } from "../../config/chainKinds.ts"
import { DataDirectory } from "../../config/DataDirectory.ts"
import type { Settings } from "../../config/settings.ts"
import { signatureBackend } from "../../consensus/signature.ts"
import { Samples } from "../../metrics/Samples.ts"
import { displayHash } from "../../protocol/bytes.ts"
import { networks } from "../../protocol/networks.ts"
import * as Publishers from "../../publish/Publishers.ts"
import { guarded } from "../../storage/Database.ts"
import { lightRole } from "../lightStart.ts"
import { sampleMemory } from "../memory.ts"
import {
  baseLayer,
  following,
  inBackground,
  inNode,
  leavingHost,
  type NodeBase,
  openFailure,
  starting
} from "./base.ts"
import { type ChainOptionsGiven, chainSettings, NodeSettings, optionsOfConfig } from "./NodeSettings.ts"
import { paramsFor } from "./rules.ts"
import { optionalFollowers, sampleChain, sampleIndexes } from "./samples.ts"

/** The chain of a node, and the parts that need only headers and blocks. */

/** What to rebuild from the stored blocks: the chain state with the names, or all indexes as well. */
export type Reindex = "chainstate" | "all"

interface ReindexDirectories {
  readonly path: string
  readonly chainstate: string
}

/** Databases derived from blocks, besides `chainstate.db`. Wallets keep theirs: it has the order of arrival. */
const isIndex = (name: string): boolean => /^[a-z]+\.db/.test(name) && !/^(chainstate|wallet)\.db/.test(name)

const removeFrom = (directory: string, isDerived: (name: string) => boolean): void => {
  const names = readdirSync(directory).filter(isDerived)
  for (const name of names) rmSync(join(directory, name), { force: true })
  if (names.length > 0) syncDirectoryNow(directory)
}

/**
 * Removes the files to rebuild before they are opened. The chain state goes last and through its marker: a node killed
 * meanwhile rebuilds it at the next start, without the flag. Throws `StorageUnavailable`.
 */
export const reindex = ({ chainstate, path }: ReindexDirectories, what: Reindex): void => {
  // A validated snapshot is the node's own chain state. Any other cannot be rebuilt from the stored blocks.
  chainStateInUse(chainstate)
  dropSnapshot(snapshotDirectory(chainstate))
  if (!existsSync(join(chainstate, "chainstate.db"))) return
  guarded({ file: chainstate, doing: "reindexing", remedy: "" }, () => {
    removeFrom(path, (name) => name.startsWith("names.db"))
    if (what === "all") removeFrom(chainstate, isIndex)
  })
  requestRebuild({
    chainstateDirectory: chainstate,
    reason: what === "all" ? "asked for by -reindex" : "asked for by -reindex-chainstate"
  })
}

const MIB = 1024 * 1024

/** Bytes of a block file with `-fastprune` (upstream `node/blockstorage.cpp`, `FindNextBlockPos`). */
const SMALL_FILE = 0x10000

/** A bundled svcd has libsecp256k1 only for the most usual platforms. */
const SLOW_SIGNATURES = "signatures are checked without libsecp256k1, which takes many times as long: " +
  "install it beside svcd with npm install secp256k1@5"

/** Upstream `kernel/chainparams.cpp`, `nPruneAfterHeight`. */
const pruneAfter = ({ fastPrune, network }: Settings["chain"]): number =>
  network === "mainnet" ? 100_000 : fastPrune ? 100 : 1_000

const pruningOf = (chain: Settings["chain"]) => {
  const { fastPrune, prune } = chain
  const target = prune === PRUNE_ON_REQUEST ? undefined : prune * MIB
  return {
    ...prune === 0 ? {} : { prune: { target, after: pruneAfter(chain) } },
    ...fastPrune ? { maxFileSize: SMALL_FILE } : {}
  }
}

/** Until a peer has answered, a node with peers cannot know what is missing. */
const expectsPeers = ({ chain: { network }, peers: { bootstrapPeers, maxOutbound, maxPeers } }: Settings): boolean =>
  maxPeers > 0 && (bootstrapPeers.length > 0 || (maxOutbound > 0 && networks[network].dnsSeeds.length > 0))

const rebuiltOf = ({ reindex, reindexChainstate }: Settings["chain"]) =>
  reindex ? "all" : reindexChainstate ? "chainstate" : undefined

const chainOf = ({ chain }: Settings) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const directory = yield* DataDirectory
    const wanted = rebuiltOf(chain)
    if (wanted !== undefined) yield* attempt(() => reindex(directory, wanted))
    yield* starting("Loading block index…")
    return ChainParts.layer({
      params: paramsFor(chain),
      blocksDirectory: directory.blocks,
      chainstateDirectory: directory.chainstate,
      temporaryDirectory: directory.path,
      pageSize: chain.pageSize,
      coinCacheBytes: chain.dbCache * MIB,
      verifyThreads: chain.verifyThreads,
      check: { blocks: chain.checkBlocks, level: chain.checkLevel },
      snapshotHash: chain.snapshotHash,
      ...pruningOf(chain)
    }).pipe(Layer.annotateLogs("subsystem", "chain"))
  }))

/** The chain of a light node has no peers: it stays at genesis, and must not count as synced. */
export const expectedPeers = (settings: Settings) =>
  Effect.map(lightRole(settings), (role): SyncStatus.ExpectedPeers => ({
    offline: settings.peers.maxPeers === 0 && role !== "stays",
    expectsPeers: role === "stays" || expectsPeers(settings)
  }))

const statusOf = (settings: Settings) =>
  Layer.unwrapEffect(
    Effect.map(expectedPeers(settings), (peers) => SyncStatus.layer({ ...peers, maxTipAge: settings.chain.maxTipAge }))
  )

const indexesOf = ({ chain }: Settings) =>
  Layer.unwrapEffect(Effect.map(DataDirectory, ({ chainstate }) => {
    const place = { directory: chainstate, pageSize: chain.pageSize }
    return Layer.merge(
      chain.txIndex ? TxIndex.layer(place) : TxIndex.layerOff,
      Indexes.layer({
        ...place,
        params: paramsFor(chain),
        filters: chain.blockFilterIndex !== "0",
        spenders: chain.txoSpenderIndex,
        coinStats: chain.coinStatsIndex,
        scripts: chain.electrumIndex
      })
    )
  }))

/** Completes when the files of the options are imported. */
export class FilesImported extends Context.Tag("svcd/FilesImported")<FilesImported, Deferred.Deferred<void>>() {}

const logged = (events: Stream.Stream<ChainEvent>): Effect.Effect<void> =>
  Stream.runForEach(events, (event) => {
    if (event._tag === "BlockDisconnected") {
      return Effect.logInfo("block disconnected", {
        height: event.block.height,
        hash: displayHash(event.block.hash)
      })
    }
    const { block, imported, transactions } = event
    const facts = { height: block.height, hash: displayHash(block.hash), transactions }
    return imported ? Effect.logDebug("new block", facts) : Effect.logInfo("new block", facts)
  })

const running = (settings: Settings) =>
  Layer.scopedDiscard(
    Effect.gen(function*() {
      const control = yield* ChainControl
      const status = yield* SyncStatus.SyncStatus
      const { add } = yield* Samples
      for (const warning of control.repairs) yield* Effect.logWarning(warning)
      if (signatureBackend() === "noble") yield* Effect.logWarning(SLOW_SIGNATURES)
      yield* inBackground(control.failure)
      const { subscription } = yield* ChainParts.Chain
      yield* Effect.forkScoped(withoutSpan(logged(yield* subscription)))
      const imported = yield* FilesImported
      if (settings.chain.loadBlocks.length === 0) yield* Deferred.succeed(imported, undefined)
      else yield* status.load(Deferred.await(imported))
      yield* status.loaded
      yield* add(yield* sampleChain)
      yield* add(yield* sampleMemory)
    }).pipe(Effect.annotateLogs("subsystem", "chain"))
  )

/** Indexes catch up before anything above the chain is built. */
const indexing = Layer.scopedDiscard(Effect.gen(function*() {
  const { add } = yield* Samples
  yield* Effect.forEach(yield* optionalFollowers, following, { discard: true })
  yield* add(yield* sampleIndexes)
}))

/** The services that a `Chain` includes: coins, sink, control, and the base of the node. */
export type ProvidedByChain =
  | NodeBase
  | ChainParts.ChainServices
  | FilesImported
  | Indexes.Indexes
  | SyncStatus.SyncStatus
  | TxIndex.TxIndex
  | Warnings.Warnings

export const chainLayer = () =>
  Layer.unwrapEffect(Effect.map(NodeSettings, ({ settings }) =>
    Layer.mergeAll(
      running(settings),
      indexing,
      BlockHealth.layer,
      Warnings.layer
    ).pipe(
      Layer.provideMerge(Layer.merge(statusOf(settings), indexesOf(settings))),
      Layer.provideMerge(Layer.effect(FilesImported, Deferred.make<void>())),
      Layer.provideMerge(chainOf(settings))
    ))).pipe(inNode)

/** The best chain, in a data directory. */
export class NodeChain extends ChainParts.Chain {
  /**
   * Opens or begins the chain of a data directory. It gets no blocks until a `PeerManager` is built over it. The layers
   * above take its network and its directory.
   */
  static layer(options: ChainOptionsGiven): Layer.Layer<ProvidedByChain, EmbeddedOpenFailure> {
    return chainLayer().pipe(
      Layer.provideMerge(baseLayer()),
      Layer.provideMerge(Layer.merge(Layer.effect(NodeSettings, chainSettings(options)), Publishers.layerSilent)),
      leavingHost,
      Layer.mapError(openFailure)
    )
  }

  /** As `layer`, with options that the program reads: `{ dataDir: Config.string("NODE_DIR") }`. */
  static layerConfig(
    options: Config.Config.Wrap<ChainOptionsGiven>
  ): Layer.Layer<ProvidedByChain, EmbeddedOpenFailure | ConfigError.ConfigError> {
    return optionsOfConfig(options, NodeChain.layer)
  }
}
