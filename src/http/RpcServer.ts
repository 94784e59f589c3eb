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
import { afterDelay, cancelTimer } from "../base/turns.ts"
import type { CallerNet, PermissionSettings } from "../config/accessKinds.ts"
import type { HashedUser } from "../config/hashedUser.ts"
import type { Credentials } from "../config/settings.ts"
import { Dispatch } from "../rpc/Dispatch.ts"
import { Lifecycle } from "../rpc/Lifecycle.ts"
import { Health } from "./health.ts"
import { HttpService } from "./HttpService.ts"
import { Pages } from "./Pages.ts"
import { UNLIMITED } from "./permissions.ts"

/** The RPC listener (reference/rpc.md 1): plain Node for requests, one Effect per answer. */
export class RpcServer extends Context.Tag("svcd/RpcServer")<RpcServer, {
  /** With the actual port if port 0 was configured. */
  readonly address: Address
  /** Refuses new requests and waits for running ones, up to a time limit, before their services close. */
  readonly drain: Effect.Effect<void>
}>() {}

export interface RpcServerConfig {
  /** An empty host is every interface, port 0 any free one. */
  readonly listen: Address
  /** One user with a password. Without any user, no credentials are required. */
  readonly credentials: Credentials | undefined
  readonly hashedUsers?: ReadonlyArray<Redacted.Redacted<HashedUser>>
  /** Further addresses to listen on. */
  readonly binds?: ReadonlyArray<Address>
  /** Networks of allowed callers; empty to allow all. */
  readonly allowed?: ReadonlyArray<CallerNet>
  /** What users may call; everything by default. */
  readonly permissions?: PermissionSettings
  /** Requests per minute and client; 0 for the default, -1 for no limit (reference/rpc.md 9.1). */
  readonly rateLimit: number
  /** Bytes; 0 for the default. */
  readonly maxRequestSize: number
  /** Called with the status of each request refused before the dispatcher. */
  readonly onRefused?: (status: number) => void
  readonly limits?: Partial<RpcLimits>
  /** For tests: with `false`, Node's server reads every request. */
  readonly fastLane?: boolean
}

/** Times are in milliseconds. */
export interface RpcLimits {
  /** Without a running call. Beyond this, a new connection closes another (`HttpConnections`). */
  readonly connections: number
  /** Calls that may end early, and as many others (`OpenCalls`). Nearly all end in their first turn. */
  readonly concurrentRequests: number
  /** Readers of streams, besides the connections and calls. Beyond this, a new one ends another. */
  readonly readers: number
  /** Between two requests of a connection, and without progress of an answer. */
  readonly idleTimeout: number
  readonly headersTimeout: number
  /** For a whole request. */
  readonly requestTimeout: number
  /** Until the answer to wrong credentials. */
  readonly penalty: number
  /** For running requests when the node stops. */
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

/** Bytes of request line and headers. */
const MAX_HEADER_SIZE = 8_192

/** Milliseconds between Node's checks for timeouts. */
const CHECK_INTERVAL = 5_000

/** Milliseconds for answers in transit when the listener closes. */
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
      // Node would silently drop headers beyond 1,000 lines. The fast lane reads all of MAX_HEADER_SIZE.
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

/** Frees the port, and closes the remaining connections after a moment for answers in transit. */
const close = (server: Server, service: HttpService): Effect.Effect<void> =>
  Effect.async((resume) => {
    const timer = afterDelay(LAST_MOMENT, () => service.closeAll())
    service.closeIdle()
    server.close(() => {
      cancelTimer(timer)
      resume(Effect.void)
    })
  })

/** Answers -28 until the node is running. On release, running requests get some time before the port is freed. */
export const layer = (
  config: RpcServerConfig
): Layer.Layer<RpcServer, BindFailed, Budget | Dispatch | Lifecycle | Health | Pages> =>
  Layer.scoped(RpcServer, make(config))
