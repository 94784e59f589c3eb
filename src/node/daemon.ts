import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { join } from "node:path"
import type { BindFailed } from "../base/listening.ts"
import { Budget } from "../base/MemoryBudget.ts"
import * as NodeClock from "../base/NodeClock.ts"
import * as Chain from "../chain/Chain.ts"
import type { ImportFailed } from "../chain/errors.ts"
import { rebuildRequested } from "../chain/repair/rebuild.ts"
import { snapshotDirectory } from "../chain/snapshot/snapshotState.ts"
import * as SyncStatus from "../chain/SyncStatus.ts"
import * as Warnings from "../chain/Warnings.ts"
import * as DataDirectory from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import { Health, type HealthReport } from "../http/health.ts"
import { Pages } from "../http/Pages.ts"
import * as RpcServer from "../http/RpcServer.ts"
import { isSyncing } from "../light/syncReport.ts"
import { SyncReporter } from "../light/SyncReporter.ts"
import * as ErrorCount from "../metrics/countErrors.ts"
import { blockchainSyncing, rpcInFlight } from "../metrics/metrics.ts"
import * as MetricsServer from "../metrics/MetricsServer.ts"
import { sampleProcess } from "../metrics/processMetrics.ts"
import { partsInUse, shownMetrics } from "../metrics/shownMetrics.ts"
import { NameEvents } from "../names/events/NameEvents.ts"
import { PeerManager } from "../network/PeerManager.ts"
import * as Publishers from "../publish/Publishers.ts"
import type { ZeroMqMissing } from "../publish/zeroMq.ts"
import { AnswerOptions } from "../rpc/AnswerOptions.ts"
import { callerLimit } from "../rpc/CallerMemory.ts"
import * as Dispatch from "../rpc/Dispatch.ts"
import * as Lifecycle from "../rpc/Lifecycle.ts"
import { LogControl } from "../rpc/LogControl.ts"
import { allMethods } from "../rpc/methods/all.ts"
import * as ReadThread from "../rpc/reader/ReadThread.ts"
import { recordCall, recordMalformed, recordRefusal } from "../rpc/recordCalls.ts"
import { DataHealth } from "../storage/DataHealth.ts"
import { checkDisk, watchDisk } from "../storage/diskSpace.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { InvalidWalletRequest, WalletDamaged } from "../wallet/errors.ts"
import { Wallets } from "../wallet/Wallets.ts"
import type { WebhookMisconfigured } from "../webhooks/errors.ts"
import { Webhooks } from "../webhooks/Webhooks.ts"
import { alertMailLayer } from "./alertMail.ts"
import { alertsOfNode } from "./alerts.ts"
import { checkGivenFiles } from "./givenFiles.ts"
import * as Logging from "./logging.ts"
import * as Memory from "./memory.ts"
import * as Node from "./node.ts"
import { NodeMetrics } from "./nodeMetrics.ts"
import { notifyOfNames, notifyOfNode, notifyOfShutdown, notifyOfWallets } from "./notifications.ts"
import * as NodePages from "./pages.ts"
import { rpcCookie } from "./rpcCookie.ts"
import { checkWebhooks, webhooksLayer } from "./webhooks.ts"

/** Most restarts for repair within an hour: a disk that damages more than that makes them useless. */
export const RESTARTS_AN_HOUR = 2

const HOUR_MS = 3_600_000

const logStorage = (what: string, { message: reason }: { readonly message: string }): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError(what, { reason }), "subsystem", "storage")

/**
 * Decides whether a failed node starts again in the same process: only if it requested a rebuild of its chain state,
 * which happens at a start. Logs each failure once.
 */
export class Restarts {
  private readonly chainstateDirectory: string
  private times: ReadonlyArray<number> = []

  constructor(chainstateDirectory: string) {
    this.chainstateDirectory = chainstateDirectory
  }

  private isRequested(): boolean {
    return [this.chainstateDirectory, snapshotDirectory(this.chainstateDirectory)].some(rebuildRequested)
  }

  readonly mayMend = (failure: { readonly _tag: string; readonly message: string }): Effect.Effect<boolean> =>
    Effect.gen(this, function*() {
      const reason = failure.message
      if (failure._tag !== "StorageCorrupted" || !this.isRequested()) {
        yield* Effect.logError("node stops", { reason })
        return false
      }
      const now = yield* Clock.currentTimeMillis
      this.times = this.times.filter((time) => now - time < HOUR_MS)
      if (this.times.length >= RESTARTS_AN_HOUR) {
        yield* logStorage("chain state damaged repeatedly within an hour: check the disk", failure)
        return false
      }
      this.times = [...this.times, now]
      yield* logStorage("node restarts to rebuild its chain state", failure)
      return true
    })
}

/** The settings that change answers. */
const answerOptions = (settings: Settings): typeof AnswerOptions.Service => {
  const { allowExpired, banTime, nameEncoding, nameHashIndex, nameHistory, requireProof, valueEncoding } = settings
  return { allowExpired, banTime, nameEncoding, nameHashIndex, nameHistory, requireProof, valueEncoding }
}

/** The report until the node is built. */
const starting = ({ network }: Settings): HealthReport => ({
  network,
  initializing: true,
  syncing: true,
  phase: undefined,
  proof: undefined,
  light: false,
  blockHeight: 0,
  names: undefined,
  peers: 0,
  doubts: [],
  notices: []
})

/** Reports the health of the node to /health and /ready, from before there is a chain. */
class NodeHealth {
  private report: Effect.Effect<HealthReport>

  constructor(first: HealthReport) {
    this.report = Effect.succeed(first)
  }

  readonly service = Health.of({ report: Effect.suspend(() => this.report) })

  become(report: Effect.Effect<HealthReport>): void {
    this.report = report
  }
}

/** Counts each call, and logs it if the log shows such entries: otherwise there is no cost. */
const noteCalls = ({ rpcDocCheck }: Settings, switches: Logging.DebugSwitches) =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const log = Runtime.runFork(yield* Effect.runtime())
    const budget = yield* Budget
    return Dispatch.layer({
      checksAnswers: rpcDocCheck,
      maxValues: Dispatch.valuesWithin(callerLimit(budget, "rpc_bodies")),
      observe: (call) => {
        recordCall(call)
        if (switches.state("rpc") !== true) return
        const { abandoned, error, method, seconds } = call
        const how = abandoned ? { abandoned } : { error: error?.code }
        const facts = { method, milliseconds: Math.round(seconds * 1e6) / 1000, ...how }
        log(Effect.logDebug("call", facts).pipe(Effect.annotateLogs("subsystem", "rpc")))
      },
      observeMalformed: recordMalformed
    })
  }))

const logControl = ({ logFile }: Settings, switches: Logging.DebugSwitches) =>
  Layer.succeed(LogControl, {
    path: logFile ?? "",
    categories: {
      current: Effect.sync(() => switches.all),
      set: (category, on) => Effect.sync(() => switches.set(category, on))
    }
  })

/** The sampler of the metrics endpoint, which answers from before there is a node. */
class Sampling {
  private current = sampleProcess

  readonly sample = Effect.suspend(() => this.current)

  become(sample: Effect.Effect<void>): void {
    this.current = sample
  }
}

const metricsEndpoint = (
  { alerts, metrics, metricsDetail }: Settings,
  { sample }: Sampling
): Layer.Layer<never, BindFailed> => {
  if (metrics === undefined) return Layer.empty
  const hasAlerts = alerts.mail !== undefined || alerts.watch.length > 0
  const table = () => shownMetrics({ detail: metricsDetail, parts: partsInUse(hasAlerts) })
  return Layer.discard(MetricsServer.layer({ listen: metrics, table, sample }))
}

/** Samples a node's metrics for as long as the node is running. */
const sampleNode = (sampling: Sampling) =>
  Effect.gen(function*() {
    const { sample } = yield* NodeMetrics
    const webhooks = yield* Webhooks
    const dispatch = yield* Dispatch.Dispatch
    const calls = Effect.sync(() => rpcInFlight.set(dispatch.inFlight()))
    yield* Effect.acquireRelease(
      Effect.sync(() => sampling.become(Effect.all([calls, webhooks.sample, sample], { discard: true }))),
      () => Effect.sync(() => sampling.become(sampleProcess))
    )
  })

/** Why a daemon ends without a request to stop. */
export type DaemonEnded =
  | BindFailed
  | ImportFailed
  | InvalidWalletRequest
  | StorageFailure
  | WalletDamaged
  | WebhookMisconfigured
  | ZeroMqMissing

/** Starts the node behind the listener, and lets it answer as soon as possible. Returns what ends the daemon. */
const start = (
  settings: Settings,
  { health, sampling, started }: {
    readonly health: NodeHealth
    readonly sampling: Sampling
    readonly started: Effect.Effect<void>
  }
) =>
  Effect.gen(function*() {
    const chain = yield* Chain.Chain
    const reporter = yield* SyncReporter
    const status = yield* SyncStatus.SyncStatus
    const manager = yield* PeerManager
    const lifecycle = yield* Lifecycle.Lifecycle
    const server = yield* RpcServer.RpcServer
    const pages = yield* Pages
    const data = yield* DataHealth
    const { changes } = yield* Wallets
    const warnings = yield* Warnings.Warnings
    const webhooks = yield* Webhooks
    const events = yield* NameEvents
    yield* notifyOfWallets(settings.notify, changes)
    // This scope closes before the stores do.
    yield* Effect.addFinalizer(() => server.drain)
    yield* Effect.addFinalizer(() => notifyOfShutdown(settings.notify))
    yield* sampleNode(sampling)
    const report = Effect.gen(function*() {
      const now = yield* reporter.report
      const { tip } = yield* chain.progress
      const { inbound, outbound } = yield* manager.count
      return {
        network: settings.network,
        initializing: false,
        syncing: isSyncing(now),
        phase: now.phase,
        proof: now.proof,
        light: now.window !== undefined,
        blockHeight: tip.height,
        names: { height: now.height, complete: now.synced },
        peers: inbound + outbound,
        doubts: yield* data.doubts,
        notices: yield* data.notices
      }
    })
    const documents = yield* NodePages.pagesOfNode(settings)
    const alerts = yield* alertsOfNode
    const ready = Effect.sync(() => health.become(report)).pipe(
      Effect.zipRight(pages.install(documents)),
      Effect.zipRight(lifecycle.running),
      Effect.zipRight(webhooks.start),
      Effect.zipRight(
        notifyOfNode(settings.notify, { events: chain.events, syncing: status.syncing, warnings: warnings.raised })
      ),
      Effect.zipRight(notifyOfNames(settings.notify, { log: events, syncing: status.syncing })),
      Effect.zipRight(alerts),
      Effect.zipRight(started)
    )
    const ended = yield* Node.start(settings, { tell: lifecycle.warmUp, ready })
    return Effect.raceFirst(ended, lifecycle.stopRequested)
  })

/** The listener, with the credentials of the settings or of a cookie. */
const rpcListener = (settings: Settings) =>
  Layer.unwrapScoped(Effect.map(
    settings.cookie === undefined ? Effect.succeed(settings.rpc.credentials) : rpcCookie(settings.cookie),
    (credentials) =>
      RpcServer.layer({
        listen: settings.rpc,
        credentials,
        hashedUsers: settings.hashedUsers,
        permissions: settings.permissions,
        binds: settings.rpcBinds,
        allowed: settings.rpcAllowed,
        limits: {
          concurrentRequests: settings.rpcWorkQueue,
          idleTimeout: settings.rpcTimeout * 1000,
          headersTimeout: settings.rpcTimeout * 1000
        },
        rateLimit: settings.rateLimit,
        maxRequestSize: settings.maxRequestSize,
        onRefused: recordRefusal
      })
  ))

/**
 * The daemon. It runs until the user stops it or until it fails; an interruption shuts it down cleanly. Runs `started` when the node
 * answers, also after a restart for repair.
 */
export const run = (settings: Settings, started: Effect.Effect<void> = Effect.void) => {
  const health = new NodeHealth(starting(settings))
  const sampling = new Sampling()
  const switches = new Logging.DebugSwitches({
    level: settings.logLevel,
    debugSubsystems: settings.debugSubsystems
  })
  blockchainSyncing.set(1)
  const listener = rpcListener(settings).pipe(
    Layer.provideMerge(noteCalls(settings, switches)),
    Layer.provide(Layer.succeed(Health, health.service)),
    Layer.provideMerge(NodePages.layer(settings))
  )
  const parts = Layer.unwrapEffect(Effect.map(Lifecycle.Lifecycle, ({ warmUp }) => Node.layer(settings, warmUp)))
  const daemon = Dispatch.installed(allMethods).pipe(
    Layer.provide(ReadThread.layer({ namesFile: join(settings.dataDir, "names.db") })),
    Layer.provideMerge(webhooksLayer(settings)),
    Layer.provideMerge(alertMailLayer(settings)),
    Layer.provideMerge(parts),
    Layer.provideMerge(Publishers.layer(settings.zmq)),
    Layer.provideMerge(Layer.succeed(AnswerOptions, answerOptions(settings))),
    Layer.provideMerge(logControl(settings, switches)),
    Layer.provideMerge(Layer.merge(listener, metricsEndpoint(settings, sampling))),
    Layer.provideMerge(Lifecycle.layer),
    Layer.provideMerge(
      DataDirectory.layer({ path: settings.dataDir, network: settings.network }).pipe(
        Layer.annotateLogs("subsystem", "storage")
      )
    ),
    Layer.provideMerge(NodeClock.layer(settings.mockTime)),
    // One budget for RPC, which answers before there is a node, and for the peers of the node.
    Layer.provideMerge(Memory.layer)
  )
  const restarts = new Restarts(join(settings.dataDir, "chainstate"))
  return Effect.scoped(
    Effect.raceFirst(Effect.flatten(start(settings, { health, sampling, started })), watchDisk(settings.dataDir))
  ).pipe(
    Effect.provide(daemon),
    // Before there is a data directory.
    (running) =>
      Effect.all([checkWebhooks(settings), checkGivenFiles(settings), checkDisk(settings.dataDir), running], {
        discard: true
      }),
    Effect.tapError(() => Effect.sync(() => health.become(Effect.succeed(starting(settings))))),
    Effect.retry({ while: restarts.mayMend }),
    // Logged after everything is closed: a reader of it may move the data directory.
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) || Exit.isInterrupted(exit) ? Effect.logInfo("node stopped") : Effect.void
    ),
    Effect.tapDefect((cause) => Effect.logError("node stops: internal error", cause)),
    Effect.provide(ErrorCount.layer),
    Effect.provide(
      Logging.layerTo(settings.logFile, {
        format: settings.logFormat,
        level: settings.logLevel,
        debugSubsystems: settings.debugSubsystems,
        switches
      })
    )
  )
}
