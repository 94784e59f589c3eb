import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { createServer, type Server } from "node:http"
import { type Address, formatHostPort } from "../base/addresses.ts"
import { type BindFailed, codeOrName, listenOn } from "../base/listening.ts"
import { Budget } from "../base/MemoryBudget.ts"
import type { Credentials } from "../config/settings.ts"
import { Dispatch } from "../rpc/Dispatch.ts"
import { Lifecycle } from "../rpc/Lifecycle.ts"
import { Health } from "./health.ts"
import { HttpService } from "./HttpService.ts"
import { Pages } from "./Pages.ts"

/** The RPC listener (reference/rpc.md 1): plain Node where every request passes, one Effect where an answer is made. */
export class RpcServer extends Context.Tag("svcd/RpcServer")<RpcServer, {
  /** Where it listens; with the port that was found where 0 was asked for. */
  readonly address: Address
  /** Takes no more requests and waits, within a time, for those that run: before what they need is closed. */
  readonly drain: Effect.Effect<void>
}>() {}

export interface RpcServerConfig {
  /** An empty host is every interface, port 0 any free one. */
  readonly listen: Address
  /** `undefined`: no credentials are asked for. */
  readonly credentials: Credentials | undefined
  /** Requests a minute and client; 0 for the default, -1 for no limit (reference/rpc.md 9.1). */
  readonly rateLimit: number
  /** Bytes; 0 for the default. */
  readonly maxRequestSize: number
  /** Is told the status of each request that was turned away before it came to the dispatcher. */
  readonly onRefused?: (status: number) => void
  /** For tests. */
  readonly limits?: Partial<RpcLimits>
  /** For tests: `false` has Node's own server read every request. */
  readonly fastLane?: boolean
}

/** Bounds that nobody has to configure. Times are in milliseconds. */
export interface RpcLimits {
  /** When there are so many, the one that was used least lately goes for a new one. */
  readonly connections: number
  /** Requests that are being carried out. Nearly all end in the turn that they begin in. */
  readonly concurrentRequests: number
  /** Between two requests of a connection, and without progress of an answer. */
  readonly idleTimeout: number
  readonly headersTimeout: number
  /** For a whole request. */
  readonly requestTimeout: number
  /** Until wrong credentials are answered. */
  readonly penalty: number
  /** How long requests that run when the node stops have to end. */
  readonly stopTimeout: number
}

const LIMITS: RpcLimits = {
  connections: 512,
  concurrentRequests: 1_024,
  idleTimeout: 30_000,
  headersTimeout: 30_000,
  requestTimeout: 120_000,
  penalty: 250,
  stopTimeout: 3_000
}

const DEFAULT_MAX_REQUEST_SIZE = 33_554_432

/** Request line and headers, in bytes. */
const MAX_HEADER_SIZE = 8_192

/** How often Node looks for connections whose time is up, in milliseconds. */
const CHECK_INTERVAL = 5_000

/** For answers that are on their way when the listener closes, in milliseconds. */
const LAST_MOMENT = 500

const make = (config: RpcServerConfig) =>
  Effect.gen(function*() {
    const lifecycle = yield* Lifecycle
    const runtime = yield* Effect.runtime<never>()
    const run = Runtime.runFork(runtime)
    const limits = { ...LIMITS, ...config.limits }
    const maxRequestSize = config.maxRequestSize > 0 ? config.maxRequestSize : DEFAULT_MAX_REQUEST_SIZE

    const service = new HttpService({
      dispatch: yield* Dispatch,
      health: yield* Health,
      pages: yield* Pages,
      phase: lifecycle.phase,
      run,
      credentials: config.credentials,
      ownName: config.listen.host,
      connections: limits.connections,
      rateLimit: config.rateLimit,
      maxRequestSize,
      budget: yield* Budget,
      concurrentRequests: limits.concurrentRequests,
      idleTimeout: limits.idleTimeout,
      penalty: limits.penalty,
      fastLane: config.fastLane ?? true,
      onRefused: config.onRefused
    })

    const server = createServer({
      maxHeaderSize: MAX_HEADER_SIZE,
      requireHostHeader: false,
      keepAliveTimeout: limits.idleTimeout,
      headersTimeout: limits.headersTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL, limits.headersTimeout)
    })
    service.attach(server)

    const drain = Effect.zipRight(lifecycle.stop, service.drained(limits.stopTimeout))
    const address = yield* Effect.acquireRelease(
      listenOn(server, config.listen, "RPC"),
      () => Effect.zipRight(drain, close(server, service))
    )
    // Such as too many open files; the listener goes on, and who could not connect tries again.
    server.on("error", (error) => run(Effect.logWarning("RPC listener", { code: codeOrName(error) })))
    yield* Effect.logInfo("RPC listening", { address: formatHostPort(address) })
    return RpcServer.of({ address, drain })
  }).pipe(Effect.annotateLogs("subsystem", "rpc"))

/** Frees the port; gives answers that are on their way a moment, then ends what connections are left. */
const close = (server: Server, service: HttpService): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = setTimeout(() => service.closeAll(), LAST_MOMENT)
    service.closeIdle()
    server.close(() => {
      clearTimeout(timer)
      resume(Effect.void)
    })
  })

/**
 * The listener. It answers from the moment it is built, -28 until the lifecycle says that the node is running. When
 * it is released, requests that run are finished, within a time, before the port is freed.
 */
export const layer = (
  config: RpcServerConfig
): Layer.Layer<RpcServer, BindFailed, Budget | Dispatch | Lifecycle | Health | Pages> =>
  Layer.scoped(RpcServer, make(config))
