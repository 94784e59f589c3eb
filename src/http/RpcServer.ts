import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import { createServer, type Server } from "node:http"
import { type Address, formatHostPort } from "../base/addresses.ts"
import { type BindFailed, listenOn } from "../base/listening.ts"
import { Budget } from "../base/MemoryBudget.ts"
import { withLoneSpan } from "../base/spans.ts"
import type { CallerNet, PermissionSettings } from "../config/accessKinds.ts"
import type { HashedUser } from "../config/hashedUser.ts"
import type { Credentials } from "../config/settings.ts"
import { Dispatch } from "../rpc/Dispatch.ts"
import { Lifecycle } from "../rpc/Lifecycle.ts"
import { Health } from "./health.ts"
import { HttpService } from "./HttpService.ts"
import { Pages } from "./Pages.ts"
import { UNLIMITED } from "./permissions.ts"

/** The RPC listener (reference/rpc.md 1): plain Node for every request, one Effect for each answer. */
export class RpcServer extends Context.Tag("svcd/RpcServer")<RpcServer, {
  /** Where it listens, with the actual port if port 0 was configured. */
  readonly address: Address
  /** Takes no more requests and waits, up to a time, for running ones, before their services are closed. */
  readonly drain: Effect.Effect<void>
}>() {}

export interface RpcServerConfig {
  /** An empty host is every interface, port 0 any free one. */
  readonly listen: Address
  /** One user with a password. Without any user no credentials are required. */
  readonly credentials: Credentials | undefined
  /** Further users. */
  readonly hashedUsers?: ReadonlyArray<Redacted.Redacted<HashedUser>>
  /** Further addresses to listen on. */
  readonly binds?: ReadonlyArray<Address>
  /** The networks whose callers are answered; without any, all are. */
  readonly allowed?: ReadonlyArray<CallerNet>
  /** What users may call; without it, everything. */
  readonly permissions?: PermissionSettings
  /** Requests a minute and client; 0 for the default, -1 for no limit (reference/rpc.md 9.1). */
  readonly rateLimit: number
  /** Bytes; 0 for the default. */
  readonly maxRequestSize: number
  /** Called with the status of each request that is refused before it reaches the dispatcher. */
  readonly onRefused?: (status: number) => void
  readonly limits?: Partial<RpcLimits>
  /** For tests: `false` has Node's own server read every request. */
  readonly fastLane?: boolean
}

/** Limits. Times are in milliseconds. */
export interface RpcLimits {
  /** Connections without a running call. Beyond this a new one closes another (`HttpConnections`). */
  readonly connections: number
  /** Calls that may end early, and the same number of others (`OpenCalls`). Nearly all end in the turn in which they begin. */
  readonly concurrentRequests: number
  /** Readers of streams at the same time, beside the connections and calls. Beyond this a new one ends another. */
  readonly readers: number
  /** Between two requests of a connection, and without progress of an answer. */
  readonly idleTimeout: number
  readonly headersTimeout: number
  /** For a whole request. */
  readonly requestTimeout: number
  /** Until the answer to wrong credentials. */
  readonly penalty: number
  /** Time that running requests get when the node stops. */
  readonly stopTimeout: number
}

const LIMITS: RpcLimits = {
  connections: 512,
  concurrentRequests: 1_024,
  readers: 1_024,
  idleTimeout: 30_000,
  headersTimeout: 30_000,
  requestTimeout: 120_000,
  penalty: 250,
  stopTimeout: 3_000
}

const DEFAULT_MAX_REQUEST_SIZE = 33_554_432

/** Request line and headers, in bytes. */
const MAX_HEADER_SIZE = 8_192

/** How often Node checks connections for timeouts, in milliseconds. */
const CHECK_INTERVAL = 5_000

/** For answers on their way when the listener closes, in milliseconds. */
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
      users: { credentials: config.credentials, hashed: config.hashedUsers ?? [] },
      permissions: config.permissions ?? UNLIMITED,
      allowed: config.allowed ?? [],
      ownName: config.listen.host,
      connections: limits.connections,
      rateLimit: config.rateLimit,
      maxRequestSize,
      budget: yield* Budget,
      concurrentRequests: limits.concurrentRequests,
      readers: limits.readers,
      idleTimeout: limits.idleTimeout,
      penalty: limits.penalty,
      fastLane: config.fastLane ?? true,
      onRefused: config.onRefused
    })

    const newServer = (): Server => {
      const server = createServer({
        maxHeaderSize: MAX_HEADER_SIZE,
        requireHostHeader: false,
        keepAliveTimeout: limits.idleTimeout,
        headersTimeout: limits.headersTimeout,
        requestTimeout: Math.max(limits.requestTimeout, limits.headersTimeout),
        connectionsCheckingInterval: Math.min(CHECK_INTERVAL, Math.ceil(limits.headersTimeout / 4))
      })
      // Node would drop the headers beyond the first 1,000 lines without a word; the fast lane reads all of MAX_HEADER_SIZE.
      server.maxHeadersCount = 0
      service.attach(server)
      return server
    }

    const drain = Effect.zipRight(lifecycle.stop, service.drained(limits.stopTimeout)).pipe(
      Effect.withSpan("svcd.http.drain")
    )
    const listen = (wanted: Address) =>
      Effect.gen(function*() {
        const server = newServer()
        const address = yield* Effect.acquireRelease(
          listenOn(server, wanted, "RPC"),
          () => Effect.zipRight(drain, close(server, service))
        )
        yield* Effect.logInfo("RPC listening", { address: formatHostPort(address) })
        return address
      })
    const address = yield* listen(config.listen)
    yield* Effect.forEach(config.binds ?? [], listen, { discard: true })
    return RpcServer.of({ address, drain })
  }).pipe(withLoneSpan("svcd.http.listen"), Effect.annotateLogs("subsystem", "rpc"))

/** Frees the port; gives answers on their way a moment, then closes the remaining connections. */
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
 * The listener. It answers as soon as it is built, with -28 until the lifecycle reports that the node is running. On
 * release it finishes running requests, up to a time, before it frees the port.
 */
export const layer = (
  config: RpcServerConfig
): Layer.Layer<RpcServer, BindFailed, Budget | Dispatch | Lifecycle | Health | Pages> =>
  Layer.scoped(RpcServer, make(config))
