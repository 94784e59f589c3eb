import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Schedule, Scope } from "effect"
import { Agent, type IncomingHttpHeaders, request } from "node:http"
import { connect, createServer, type Socket } from "node:net"
import { metricsOf } from "../../src/metrics/families.ts"
import * as MetricsServer from "../../src/metrics/MetricsServer.ts"

const LOOPBACK = { host: "127.0.0.1", port: 0 }

const { counter, gauge, table: TABLE } = metricsOf("test")
const level = gauge("server_level", "Level.")
counter("server_total", "Total.")

const SILENT = Logger.remove(Logger.defaultLogger)

const started = (config: Partial<MetricsServer.MetricsServerConfig> = {}, logs = SILENT) =>
  Effect.map(
    Layer.build(Layer.provide(MetricsServer.layer({ listen: LOOPBACK, table: () => TABLE, ...config }), logs)),
    (context) => Context.get(context, MetricsServer.MetricsServer).address.port
  )

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

const ask = (port: number, method: string, path: string, body?: string, agent?: Agent) =>
  Effect.async<Answer, Error>((resume) => {
    const sent = request({ host: "127.0.0.1", port, method, path, agent: agent ?? false }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk))
      response.on("end", () => {
        resume(Effect.succeed({ status: response.statusCode, headers: response.headers, text }))
      })
    })
    sent.on("error", (error) => resume(Effect.fail(error)))
    sent.end(body)
  })

const dialled = (port: number) =>
  Effect.acquireRelease(
    Effect.async<Socket, Error>((resume) => {
      const socket = connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
      socket.once("error", (error) => resume(Effect.fail(error)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const closed = (socket: Socket) =>
  Effect.async<void>((resume) => {
    socket.on("error", () => {}).once("close", () => resume(Effect.void)).resume()
  })

describe("MetricsServer", () => {
  it.scopedLive("serves the current metrics at /metrics", () =>
    Effect.gen(function*() {
      let scrapes = 0
      const port = yield* started({ sample: Effect.sync(() => level.set(++scrapes)) })
      const first = yield* ask(port, "GET", "/metrics")
      assert.strictEqual(first.status, 200)
      assert.strictEqual(first.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
      assert.strictEqual(
        first.text,
        "# HELP server_level Level.\n# TYPE server_level gauge\nserver_level 1\n" +
          "# HELP server_total Total.\n# TYPE server_total counter\nserver_total 0\n"
      )
      assert.include((yield* ask(port, "GET", "/metrics?x=1")).text, "server_level 2\n")
    }))

  it.scopedLive("answers HEAD with the headers of GET and no body", () =>
    Effect.gen(function*() {
      const port = yield* started()
      const get = yield* ask(port, "GET", "/metrics")
      const { headers, status, text } = yield* ask(port, "HEAD", "/metrics")
      assert.deepStrictEqual([status, text], [200, ""])
      assert.strictEqual(headers["content-length"], String(Buffer.byteLength(get.text)))
    }))

  it.scopedLive("answers 404 for other paths and 405 to other verbs, and reads no bodies", () =>
    Effect.gen(function*() {
      const port = yield* started()
      for (const path of ["/", "/metrics/", "/metricsx", "/nothing"]) {
        assert.strictEqual((yield* ask(port, "GET", path)).status, 404, path)
      }
      const posted = yield* ask(port, "POST", "/metrics", "")
      assert.deepStrictEqual([posted.status, posted.headers["allow"]], [405, "GET, HEAD"])
      const socket = yield* dialled(port)
      socket.write("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nsome of it")
      yield* closed(socket)
    }))

  it.scopedLive("serves several requests on a connection", () =>
    Effect.gen(function*() {
      const port = yield* started()
      const agent = yield* Effect.acquireRelease(
        Effect.sync(() => new Agent({ keepAlive: true, maxSockets: 1 })),
        (agent) => Effect.sync(() => agent.destroy())
      )
      for (let i = 0; i < 3; i++) {
        assert.strictEqual((yield* ask(port, "GET", "/metrics", undefined, agent)).status, 200)
      }
    }))

  it.scopedLive("closes silent connections, and connections with slow requests", () =>
    Effect.gen(function*() {
      const port = yield* started({ limits: { timeout: 100 } })
      const silent = yield* dialled(port)
      const slow = yield* dialled(port)
      slow.write("GET /metrics HTTP/1.1\r\nX-")
      yield* Effect.all([closed(silent), closed(slow)], { concurrency: "unbounded" })
    }))

  it.scopedLive("accepts connections up to its limit, and again after some close", () =>
    Effect.gen(function*() {
      const port = yield* started({ limits: { connections: 2 } })
      const [first] = [yield* dialled(port), yield* dialled(port)]
      const third = yield* dialled(port)
      let answer = ""
      third.setEncoding("utf8").on("data", (text: string) => void (answer += text))
      third.write("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      yield* closed(third)
      assert.strictEqual(answer, "")
      first?.destroy()
      const again = yield* Effect.retry(ask(port, "GET", "/metrics"), Schedule.spaced("5 millis"))
      assert.strictEqual(again.status, 200)
    }))

  it.scopedLive("answers 500 if the metrics cannot be read, and logs the reason", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ cause, logLevel, message }) =>
          logged.push(`${logLevel.label} ${String(message)} ${String(cause)}`)
        )
      )
      const port = yield* started({ sample: Effect.die(new Error("no tip")) }, logger)
      const { status, text } = yield* ask(port, "GET", "/metrics")
      assert.deepStrictEqual([status, text], [500, "Internal error\n"])
      assert.match(logged.at(-1) ?? "", /^ERROR metrics request failed unexpectedly.*no tip/s)
    }))

  it.scopedLive("reports the address that it cannot bind, and the reason", () =>
    Effect.gen(function*() {
      const taken = yield* started()
      const error = yield* Effect.flip(started({ listen: { host: "127.0.0.1", port: taken } }))
      assert.strictEqual(error._tag, "BindFailed")
      assert.strictEqual(
        error.message,
        `cannot listen on 127.0.0.1:${taken} for metrics: the address is in use; another program, or another svcd, ` +
          "listens there"
      )
    }))

  it.live("frees its port and closes its connections with its scope", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const port = yield* Scope.extend(started(), scope)
      const outer = yield* Scope.make()
      const socket = yield* Scope.extend(dialled(port), outer)
      yield* Scope.close(scope, Exit.void)
      yield* closed(socket)
      const rebound = yield* Effect.async<boolean>((resume) => {
        const server = createServer().once("error", () => resume(Effect.succeed(false)))
        server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
      })
      assert.isTrue(rebound)
      yield* Scope.close(outer, Exit.void)
    }))
})
