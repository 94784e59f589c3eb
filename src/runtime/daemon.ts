import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Chain from "../chain/Chain.ts"
import type { ImportFailed } from "../chain/errors.ts"
import * as NodeClock from "../chain/NodeClock.ts"
import * as SyncStatus from "../chain/SyncStatus.ts"
import * as DataDirectory from "../config/DataDirectory.ts"
import type { Settings } from "../config/settings.ts"
import type { ListenFailed } from "../network/errors.ts"
import { PeerManager } from "../network/PeerManager.ts"
import * as Dispatch from "../rpc/Dispatch.ts"
import { Health, type HealthReport } from "../rpc/health.ts"
import * as Lifecycle from "../rpc/Lifecycle.ts"
import { allMethods } from "../rpc/methods/all.ts"
import { NodeOptions } from "../rpc/NodeOptions.ts"
import * as RpcServer from "../rpc/RpcServer.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { InvalidWalletRequest, WalletDamaged } from "../wallet/errors.ts"
import * as Logging from "./logging.ts"
import * as Node from "./node.ts"

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

/** Starts the node behind the listener, and lets it answer as soon as it can. Returns what ends the daemon. */
const start = (settings: Settings, health: NodeHealth) =>
  Effect.gen(function*() {
    const chain = yield* Chain.Chain
    const status = yield* SyncStatus.SyncStatus
    const manager = yield* PeerManager
    const lifecycle = yield* Lifecycle.Lifecycle
    const server = yield* RpcServer.RpcServer
    // This scope closes before the stores do.
    yield* Effect.addFinalizer(() => server.drain)
    const report = Effect.gen(function*() {
      const { tip } = yield* chain.progress
      const { inbound, outbound } = yield* manager.count
      return {
        initializing: false,
        syncing: yield* status.syncing,
        blockHeight: tip.height,
        peers: inbound + outbound
      }
    })
    const ready = Effect.zipRight(Effect.sync(() => health.become(report)), lifecycle.running)
    const ended = yield* Node.start(settings, { tell: lifecycle.warmUp, ready })
    return Effect.raceFirst(ended, lifecycle.stopRequested)
  })

/** The daemon: runs until somebody asks it to stop, or it cannot go on. Interrupting it stops it in good order. */
export const run = (settings: Settings) => {
  const health = new NodeHealth()
  const listener = RpcServer.layer({
    listen: settings.rpc,
    credentials: settings.rpc.credentials,
    rateLimit: settings.rateLimit,
    maxRequestSize: settings.maxRequestSize
  }).pipe(Layer.provideMerge(noteCalls(settings)), Layer.provide(Layer.succeed(Health, health.service)))
  const parts = Layer.unwrapEffect(Effect.map(Lifecycle.Lifecycle, ({ warmUp }) => Node.layer(settings, warmUp)))
  const daemon = Dispatch.installed(allMethods).pipe(
    Layer.provideMerge(parts),
    Layer.provideMerge(Layer.succeed(NodeOptions, answerOptions(settings))),
    Layer.provideMerge(listener),
    Layer.provideMerge(Lifecycle.layer),
    Layer.provideMerge(DataDirectory.layer({ path: settings.dataDir, network: settings.network })),
    Layer.provideMerge(NodeClock.layer(settings.mockTime))
  )
  return Effect.scoped(Effect.flatten(start(settings, health))).pipe(
    Effect.provide(daemon),
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
