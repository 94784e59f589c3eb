import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { existsSync } from "node:fs"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { spannedLayer } from "../base/spans.ts"
import { Chain } from "../chain/Chain.ts"
import type { BlocksPruned, ImportFailed } from "../chain/errors.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import type { DecodedConfig, EmbeddedConfig } from "../client/config.ts"
import { type ClientFailure, type EmbeddedOpenFailure, InternalError, InvalidConfig } from "../client/errors.ts"
import { endWithScope, Lifespan } from "../client/Lifespan.ts"
import { changesBy } from "../client/liveChanges.ts"
import { NameClient } from "../client/NameClient.ts"
import { progressOf, readyOf, REPORT_INTERVAL } from "../client/readiness.ts"
import * as DataDirectory from "../config/DataDirectory.ts"
import { decodeNodeOptions } from "../config/nodeOptions.ts"
import type { Settings } from "../config/settings.ts"
import { LightPart } from "../light/LightPart.ts"
import { makeNameAnswers } from "../light/NameAnswers.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import { completeNames } from "../names/completeNames.ts"
import * as Publishers from "../publish/Publishers.ts"
import { type StorageFailure, StorageUnavailable } from "../storage/errors.ts"
import { Wallets } from "../wallet/Wallets.ts"
import * as EmbeddedNames from "./embeddedNames.ts"
import * as EmbeddedOperations from "./embeddedOperations.ts"
import * as LightClient from "./lightClient.ts"
import * as Memory from "./memory.ts"
import * as Node from "./node.ts"

/** Threads for script checks: the program around the node needs cores and memory too. */
const MAX_THREADS = 3

/**
 * The settings of a node inside a program: the daemon's defaults with the client's configuration. Neither environment
 * nor svcd.conf is read: only the program's configuration counts.
 */
export const embeddedSettings = (
  { embedded, network }: DecodedConfig,
  cores = availableParallelism()
): Either.Either<Settings, InvalidConfig> => {
  const { anchor, bootstrapPeers, dataDir, disableWallet, maxPeers, sync } = embedded
  return Either.mapLeft(
    decodeNodeOptions({
      network,
      dataDir,
      // A program that uses names is no server: it connects to peers and accepts no connections.
      listen: "",
      maxPeers,
      maxOutbound: maxPeers,
      bootstrapPeers,
      verifyThreads: Math.min(cores - 1, MAX_THREADS),
      disableWallet,
      // A directory with a part of the chain, too, can stay with the window.
      sync: sync ?? "full",
      anchor
    }),
    (problem) => new InvalidConfig(problem)
  )
}

/** Seconds that a wallet stays unlocked: the longest time; the end of the client locks it. */
const UNLOCK_SECONDS = 100_000_000

const tell = (step: string): Effect.Effect<void> => Effect.logDebug("starting", { step })

const openWallet = ({ wallet = "", walletPassphrase }: EmbeddedConfig) =>
  Effect.gen(function*() {
    const wallets = yield* Wallets
    if (!wallets.enabled) return
    const open = wallets.get(wallet) ?? (yield* Effect.catchTag(
      wallets.load(wallet, undefined),
      "InvalidWalletRequest",
      ({ reason }) => new InvalidConfig({ field: "wallet", reason })
    ))
    if (walletPassphrase === undefined) return
    yield* Effect.mapError(
      open.vault.unlock(walletPassphrase, UNLOCK_SECONDS),
      (failure) => new InvalidConfig({ field: "walletPassphrase", reason: failure.message })
    )
  })

/** What ended the node, as its client reports it: a file that cannot be imported, a failed store, or a defect. */
export const asClientFailure = (ended: Effect.Effect<never, ImportFailed | StorageFailure>) =>
  ended.pipe(
    Effect.catchTag(
      "ImportFailed",
      ({ file, reason }): Effect.Effect<never, ClientFailure> =>
        new StorageUnavailable({ file, doing: "reading", reason })
    ),
    Effect.catchAllDefect((defect) =>
      Effect.zipRight(
        Effect.logError("internal error: the embedded node stops", defect),
        new InternalError({ reason: String(defect) })
      )
    )
  )

/** Runs the node, and ends the client if the node fails. The program is notified, and goes on. */
const start = (settings: Settings, lifespan: Lifespan) =>
  Effect.gen(function*() {
    const ended = yield* Node.start(settings, { tell, ready: Effect.void })
    yield* asClientFailure(ended).pipe(
      Effect.catchAll((failure) =>
        Effect.zipRight(
          Effect.logError("node stops", { reason: failure.message }),
          Effect.sync(() => lifespan.end(failure))
        )
      ),
      Effect.forkScoped
    )
  })

/** Whether blocks are missing. Offline, all names of a whole chain are available before the mempool is loaded. */
const missingBlocks = ({ maxPeers }: Settings) =>
  Effect.gen(function*() {
    const chain = yield* Chain
    const status = yield* SyncStatus
    return maxPeers === 0
      ? Effect.zipWith(chain.progress, chain.tip, ({ behind, importing }, { chainwork }) =>
        behind || importing !== undefined || chainwork < chain.params.minimumChainWork)
      : status.syncing
  })

const make = (config: DecodedConfig, settings: Settings) =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const lifespan = new Lifespan()
    yield* start(settings, lifespan)
    yield* openWallet(config.embedded)
    const missing = yield* missingBlocks(settings)
    const reporter = yield* SyncReporter
    const part = yield* LightPart
    const answers = yield* makeNameAnswers(missing)
    const { requireProof } = config
    const names = yield* EmbeddedNames.make({ answers, report: reporter.report, requireProof })
    const source = {
      report: reporter.report,
      interval: REPORT_INTERVAL,
      best: part.stays ? "signatures" : "full"
    } as const
    const operations = yield* EmbeddedOperations.make({
      config: config.embedded,
      names: yield* completeNames(missing),
      lifespan,
      scope
    })
    yield* endWithScope(lifespan)
    return NameClient.of({
      mode: "embedded",
      // Not through `guard`: programs call it a hundred thousand times a second.
      resolveName: (name, options) => Effect.suspend(() => lifespan.reason() ?? names.resolveName(name, options)),
      listNames: (filter) => lifespan.during(names.listNames(filter)),
      findNames: (filter) => lifespan.stream(names.findNames(filter)),
      changes: changesBy((filter) => lifespan.stream(names.changes(filter))),
      freshness: lifespan.guard(names.freshness),
      progress: lifespan.stream(progressOf(source)),
      ready: (level = requireProof ?? "work") => lifespan.during(readyOf(source, level)),
      failure: lifespan.failure,
      ...operations
    })
  })

const openFailure = (
  failure: Layer.Layer.Error<ReturnType<typeof Node.layer>> | BlocksPruned | EmbeddedOpenFailure
): EmbeddedOpenFailure => {
  switch (failure._tag) {
    case "InvalidWalletRequest":
      return new InvalidConfig({ field: "wallet", reason: failure.message })
    case "BlocksPruned":
    case "ValidatedByOtherRules":
      return new InvalidConfig({ field: "dataDir", reason: failure.message })
    case "BindFailed":
      return new InvalidConfig({ field: "maxPeers", reason: failure.message })
    default:
      return failure
  }
}

/** The client with its node, whose services can be used as well. */
export const nodeAndClient = (config: DecodedConfig, settings: Settings) =>
  Layer.scoped(NameClient, make(config, settings)).pipe(
    Layer.provideMerge(Node.layer(settings, tell)),
    Layer.provide(Publishers.layerSilent),
    Layer.provide(DataDirectory.layer({ path: settings.dataDir, network: settings.network })),
    Layer.provide(Memory.layer),
    Layer.mapError(openFailure),
    spannedLayer({ open: "svcd.embedded.open", close: "svcd.embedded.close" })
  )

/**
 * Runs a node in this process for as long as the layer lives; its services stay private. Names are available once the
 * layer is built: at the stored height, while the node syncs. It logs through the logger of the program, and counts in
 * its metrics.
 */
export const layer = (config: DecodedConfig): Layer.Layer<NameClient, EmbeddedOpenFailure> =>
  Layer.unwrapEffect(
    Effect.flatMap(embeddedSettings(config), (settings) =>
      Effect.map(isLight(config, settings), (light) =>
        light
          ? lightClient(config, settings)
          : Layer.map(nodeAndClient(config, settings), Context.pick(NameClient))))
  )

/**
 * Whether the client is light: in a directory without a whole chain if the configuration says so; by default on a
 * network with anchors, if nothing asks for more than a light client has.
 */
export const isLight = (
  { embedded, requireProof }: Pick<DecodedConfig, "embedded" | "requireProof">,
  settings: Settings
): Either.Either<boolean, InvalidConfig> => {
  const has = (...path: ReadonlyArray<string>): boolean => existsSync(join(settings.dataDir, ...path))
  const { sync, wallet, walletPassphrase } = embedded
  const isFull = has("chainstate", "chainstate.db") || has("chainstate_snapshot", "chainstate.db")
  if (sync === "full" || isFull) return Either.right(false)
  if (sync === "light") {
    return requireProof === "full"
      ? Either.left(new InvalidConfig({ field: "requireProof", reason: "a light client has no answer that is full" }))
      : Either.right(true)
  }
  const needsMore = requireProof === "full" || wallet !== undefined || walletPassphrase !== undefined ||
    has("wallet.json") || has("wallets")
  return Either.right(Node.paramsFor(settings).anchors.length > 0 && !needsMore)
}

/** A light client: names from headers and the last blocks of the chain. For directories without a whole chain. */
const lightClient = (
  { requireProof }: DecodedConfig,
  settings: Settings
): Layer.Layer<NameClient, EmbeddedOpenFailure> =>
  LightClient.layer(settings, requireProof).pipe(
    Layer.provide(DataDirectory.layer({ path: settings.dataDir, network: settings.network })),
    Layer.provide(Memory.layer),
    Layer.mapError(openFailure)
  )
