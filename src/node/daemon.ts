import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import type { CertificateUnusable } from "../base/givenCertificate.ts"
import type { BindFailed } from "../base/listening.ts"
import { Chain } from "../chain/Chain.ts"
import type { ImportFailed } from "../chain/errors.ts"
import { rebuildRequested } from "../chain/repair/rebuild.ts"
import { snapshotDirectory } from "../chain/snapshot/snapshotState.ts"
import { SyncStatus } from "../chain/SyncStatus.ts"
import { Warnings } from "../chain/Warnings.ts"
import { cookieOf } from "../config/cookie.ts"
import { credentialsOf, type Settings } from "../config/settings.ts"
import { zmqPublishers } from "../config/zmqOptions.ts"
import * as ErrorCount from "../metrics/countErrors.ts"
import { blockchainSyncing } from "../metrics/metrics.ts"
import { NameEvents } from "../names/events/NameEvents.ts"
import * as Publishers from "../publish/Publishers.ts"
import type { ZeroMqMissing } from "../publish/zeroMq.ts"
import { Lifecycle } from "../rpc/Lifecycle.ts"
import { LogControl } from "../rpc/LogControl.ts"
import { checkDisk, watchDisk } from "../storage/diskSpace.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { InvalidWalletRequest, WalletDamaged } from "../wallet/errors.ts"
import type { WebhookMisconfigured } from "../webhooks/errors.ts"
import { checkGivenFiles } from "./givenFiles.ts"
import { baseLayer } from "./layers/base.ts"
import { dnsOfNode } from "./layers/dnsServer.ts"
import { electrumOfNode } from "./layers/electrumServer.ts"
import { listenerLayer } from "./layers/listener.ts"
import { methodsLayer } from "./layers/methods.ts"
import { metricsLayer } from "./layers/metrics.ts"
import { logStarted, partsLayer } from "./layers/node.ts"
import { NodeSettings, wholeSettings } from "./layers/NodeSettings.ts"
import * as Logging from "./logging.ts"
import { notifyOfNames, notifyOfNode, notifyOfShutdown } from "./notifications.ts"
import { rpcCookie } from "./rpcCookie.ts"
import { checkWebhooks } from "./webhooks.ts"

/** Restarts for repair within an hour: a disk that damages more makes them useless. */
export const RESTARTS_AN_HOUR = 2

const HOUR_MS = 3_600_000

const logStorage = (what: string, { message: reason }: { readonly message: string }): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError(what, { reason }), "subsystem", "storage")

/**
 * Restarts only a node that requested a rebuild of its chain state, which happens at a start. Logs each failure once.
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

const logControl = ({ log }: Settings, switches: Logging.DebugSwitches) =>
  Layer.succeed(LogControl, {
    path: log.file ?? "",
    categories: {
      current: Effect.sync(() => switches.all),
      set: (category, on) => Effect.sync(() => switches.set(category, on))
    }
  })

export type DaemonEnded =
  | BindFailed
  | CertificateUnusable
  | ImportFailed
  | InvalidWalletRequest
  | StorageFailure
  | WalletDamaged
  | WebhookMisconfigured
  | ZeroMqMissing

/** How far a node is when it begins to answer. */
export interface NodeStarted {
  readonly height: number
  /** The whole chain was never known here, or a long time ago. */
  readonly initialDownload: boolean
}

type OnStarted = (facts: NodeStarted) => Effect.Effect<void>

/** Runs the operator's commands and `started` once the node answers. Returns what ends the daemon. */
const start = ({ notify }: Settings, started: OnStarted) =>
  Effect.gen(function*() {
    const { subscription, tip } = yield* Chain
    const events = yield* subscription
    const { initialDownload, syncing } = yield* SyncStatus
    const warnings = yield* Warnings
    const log = yield* NameEvents
    const { ended } = yield* Lifecycle
    // This scope closes before the node does.
    yield* Effect.addFinalizer(() => notifyOfShutdown(notify))
    yield* notifyOfNode(notify, { events, syncing, warnings: warnings.raised })
    yield* notifyOfNames(notify, { log, syncing })
    yield* logStarted
    yield* started({ height: (yield* tip).height, initialDownload: yield* initialDownload })
    return ended
  })

const listeners = (settings: Settings, switches: Logging.DebugSwitches) => {
  const cookie = cookieOf(settings)
  const listener = Layer.unwrapScoped(Effect.map(
    cookie === undefined ? Effect.succeed(credentialsOf(settings.rpc)) : rpcCookie(cookie),
    (credentials) => listenerLayer(settings, { credentials, showsCalls: () => switches.state("rpc") === true })
  ))
  return settings.metrics.listen === undefined ? listener : Layer.merge(listener, Layer.discard(metricsLayer(settings)))
}

/**
 * Runs the daemon until the user stops it or it fails; an interruption shuts it down cleanly. Runs `started` each time
 * the node begins to answer, even after a restart for repair.
 */
export const run = (settings: Settings, started: OnStarted = () => Effect.void) => {
  const { chain: { dataDir }, log } = settings
  const switches = new Logging.DebugSwitches(log)
  const daemon = methodsLayer(settings).pipe(
    Layer.provideMerge(Layer.merge(dnsOfNode(settings), electrumOfNode(settings))),
    Layer.provideMerge(partsLayer()),
    Layer.provideMerge(logControl(settings, switches)),
    Layer.provideMerge(listeners(settings, switches)),
    Layer.provideMerge(Publishers.layer(zmqPublishers(settings.zmq))),
    Layer.provideMerge(baseLayer()),
    Layer.provideMerge(Layer.succeed(NodeSettings, wholeSettings(settings)))
  )
  const restarts = new Restarts(join(dataDir, "chainstate"))
  return Effect.scoped(
    Effect.raceFirst(Effect.flatten(start(settings, started)), watchDisk(dataDir))
  ).pipe(
    Effect.provide(daemon),
    (running) =>
      Effect.all([
        Effect.sync(() => blockchainSyncing.set(1)),
        checkWebhooks(settings),
        checkGivenFiles(settings),
        checkDisk(dataDir),
        running
      ], {
        discard: true
      }),
    Effect.retry({ while: restarts.mayMend }),
    // Logged after everything is closed: a reader of it may move the data directory.
    Effect.onExit((exit) =>
      Exit.isSuccess(exit) || Exit.isInterrupted(exit) ? Effect.logInfo("node stopped") : Effect.void
    ),
    Effect.tapDefect((cause) => Effect.logError("node stops: internal error", cause)),
    Effect.provide(ErrorCount.layer),
    Effect.provide(Logging.layerTo(log.file, { ...log, switches }))
  )
}
