import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { type Address, formatHostPort } from "../base/addresses.ts"
import { type BindFailed, listenOn } from "../base/listening.ts"
import { CONTENT_TYPE, exposition } from "./exposition.ts"
import type { Table } from "./families.ts"

/** GET /metrics on its own address, without credentials (docs/metrics.md). */
export class MetricsServer extends Context.Tag("svcd/MetricsServer")<MetricsServer, {
  /** With the actual port if port 0 was configured. */
  readonly address: Address
}>() {}

export interface MetricsServerConfig {
  /** An empty host is every interface, port 0 any free one. */
  readonly listen: Address
  /** The exported metrics of the registry. */
  readonly table: () => Table
  /** Runs before each answer, for values that are cheaper to read than to record. */
  readonly sample?: Effect.Effect<void>
  /** For tests. */
  readonly limits?: Partial<MetricsLimits>
}

export interface MetricsLimits {
  /** A collector needs one. */
  readonly connections: number
  /** Milliseconds for headers, for a request, between two requests, and without progress of an answer. */
  readonly timeout: number
}

const LIMITS: MetricsLimits = { connections: 32, timeout: 5_000 }

/** Bytes of request line and headers. */
const MAX_HEADER_SIZE = 8_192

/** Milliseconds between Node's checks for timeouts. */
const CHECK_INTERVAL = 1_000

/** Frees the port and closes every connection. A collector that misses an answer retries. */
const close = (server: Server): Effect.Effect<void> =>
  Effect.async((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

interface Reply {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

const refusal = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  body: `${text}\n`,
  headers: { "Content-Type": "text/plain; charset=utf-8", ...headers }
})

const NOT_FOUND = refusal(404, "Not found: the metrics are at /metrics")
const NOT_GET = refusal(405, "Only GET and HEAD", { Allow: "GET, HEAD" })
const FAILED = refusal(500, "Internal error")

const isMetrics = (url: string): boolean => url === "/metrics" || url.startsWith("/metrics?")

/** A request with a body, which is not read, is the connection's last. */
const send = (request: IncomingMessage, response: ServerResponse, { body, headers, status }: Reply): void => {
  if (response.destroyed) return
  const hasBody = request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"]) > 0
  response.writeHead(status, {
    ...headers,
    "Content-Length": Buffer.byteLength(body),
    ...hasBody ? { Connection: "close" } : {}
  })
  response.end(request.method === "HEAD" ? undefined : body)
}

type Run = (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>

const serve = (server: Server, run: Run, scrape: Effect.Effect<string>): void => {
  server.on("request", (request, response) => {
    if (!isMetrics(request.url ?? "")) return send(request, response, NOT_FOUND)
    if (request.method !== "GET" && request.method !== "HEAD") return send(request, response, NOT_GET)
    run(scrape.pipe(
      Effect.tap((body) => Effect.logDebug("metrics served", { characters: body.length })),
      Effect.map((body): Reply => ({ status: 200, body, headers: { "Content-Type": CONTENT_TYPE } })),
      Effect.catchAllCause((cause) => Effect.as(Effect.logError("metrics request failed unexpectedly", cause), FAILED)),
      Effect.map((reply) => send(request, response, reply))
    ))
  })
}

export const make = (
  { limits, listen: address, sample = Effect.void, table }: MetricsServerConfig
): Effect.Effect<typeof MetricsServer.Service, BindFailed, Scope.Scope> =>
  Effect.gen(function*() {
    // Interrupts answers when the scope closes.
    const run = yield* FiberSet.makeRuntime<never, void>()
    const one = yield* Effect.makeSemaphore(1)
    const scrape = one.withPermits(1)(Effect.zipRight(sample, Effect.suspend(() => exposition(table()))))
    const { connections, timeout } = { ...LIMITS, ...limits }
    const server = createServer({
      maxHeaderSize: MAX_HEADER_SIZE,
      keepAliveTimeout: timeout,
      headersTimeout: timeout,
      requestTimeout: timeout,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL, timeout)
    })
    server.maxConnections = connections
    server.setTimeout(timeout, (socket) => socket.destroy())
    serve(server, run, scrape)
    const bound = yield* Effect.acquireRelease(listenOn(server, address, "metrics"), () => close(server))
    yield* Effect.logInfo("metrics listening", { address: formatHostPort(bound) })
    return MetricsServer.of({ address: bound })
  }).pipe(Effect.annotateLogs("subsystem", "metrics"))

export const layer = (config: MetricsServerConfig): Layer.Layer<MetricsServer, BindFailed> =>
  Layer.scoped(MetricsServer, make(config))
