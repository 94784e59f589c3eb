import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { request as requestHttp } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import { request as requestHttps } from "node:https"
import { dnsConnections, dnsQueries } from "../../../src/metrics/dnsMetrics.ts"
import { TEST_CERTIFICATE } from "../../support/certificate.ts"
import { eventually } from "../../support/eventually.ts"
import { ANY_PORT, certificateFiles, connectTo, startServer } from "./liveServer.ts"
import { answerOf, questionFor } from "./questions.ts"

const TYPE = "application/dns-message"

interface Asked {
  readonly port: number
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly secure?: boolean
}

interface Got {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

const ask = (
  { body, headers = {}, method = body === undefined ? "GET" : "POST", path = "/dns-query", port, secure = false }: Asked
) =>
  Effect.async<Got, Error>((resume) => {
    const options = { port, host: "127.0.0.1", path, method, headers, ca: TEST_CERTIFICATE, agent: false }
    const sent = (secure ? requestHttps : requestHttp)(options, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("end", () =>
        resume(Effect.succeed({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(pieces)
        })))
    })
    sent.on("error", (error) => resume(Effect.fail(error)))
    sent.end(body)
  })

const pathOf = (question: Buffer): string => `/dns-query?dns=${question.toString("base64url")}`

describe("DNS over HTTP", () => {
  const plain = { http: [ANY_PORT] }

  it.scoped("answers GET, HEAD and POST, for as long as the answer may be kept", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer(plain)
      const before = dnsQueries.of("https").value()
      for (
        const [question, ttl] of [[questionFor("a.bit", { id: 0 }), 600], [
          questionFor("hot.bit", { id: 0 }),
          30
        ]] as const
      ) {
        const expected = answerOf(question, { ttls: [ttl] })
        const answers = [
          yield* ask({ port, path: pathOf(question) }),
          yield* ask({ port, body: question, headers: { "content-type": TYPE } })
        ]
        for (const { body, headers, status } of answers) {
          assert.deepStrictEqual([status, body], [200, expected])
          assert.deepInclude(headers, { "content-type": TYPE, "cache-control": `max-age=${ttl}` })
        }
        const head = yield* ask({ port, path: pathOf(question), method: "HEAD" })
        assert.deepStrictEqual([head.status, head.headers["content-length"], head.body.length], [
          200,
          `${expected.length}`,
          0
        ])
      }
      assert.strictEqual(dnsQueries.of("https").value() - before, 6)
    }))

  it.scoped("refuses what is not a question, and lives on", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer(plain)
      const statusOf = (asked: Omit<Asked, "port">) => Effect.map(ask({ port, ...asked }), ({ status }) => status)
      const dns = { "content-type": TYPE }
      assert.strictEqual(
        yield* statusOf({ body: questionFor("a.bit"), headers: { "content-type": "text/plain" } }),
        415
      )
      assert.strictEqual(yield* statusOf({ body: Buffer.alloc(70_000), headers: dns }), 413)
      assert.strictEqual(
        yield* statusOf({ body: Buffer.alloc(70_000), headers: { ...dns, "transfer-encoding": "chunked" } }),
        413
      )
      assert.strictEqual(yield* statusOf({ body: Buffer.alloc(11), headers: dns }), 400)
      assert.strictEqual(yield* statusOf({ path: pathOf(questionFor("drop.bit")) }), 400)
      assert.strictEqual(yield* statusOf({ path: pathOf(questionFor("transfer.bit")) }), 400)
      assert.strictEqual(yield* statusOf({ path: "/other" }), 404)
      assert.strictEqual(yield* statusOf({ method: "PUT" }), 405)
      assert.strictEqual(yield* statusOf({ path: pathOf(questionFor("a.bit")) }), 200)
    }))

  it.scoped("takes the client of a proxy from its header, and nobody else's word for it", () =>
    Effect.gen(function*() {
      const server = yield* startServer(plain)
      const path = pathOf(questionFor("a.bit"))
      for (const forwarded of ["192.0.2.1", "127.0.0.1, 192.0.2.2", "2001:db8::1", "unknown", ""]) {
        yield* ask({ port: server.port, path, headers: { "x-forwarded-for": forwarded } })
      }
      yield* ask({ port: server.port, path })
      const addresses = server.seen.map(({ client }) => client.address)
      assert.deepStrictEqual(addresses, ["192.0.2.1", "192.0.2.2", "2001:db8::1", "0.0.0.0", "0.0.0.0", "127.0.0.1"])
    }))

  it.scoped("is busy beyond its places for work, and ends work whose client leaves", () =>
    Effect.gen(function*() {
      const server = yield* startServer(plain, { work: 1 })
      const path = pathOf(questionFor("slow.bit"))
      const client = yield* connectTo(server.port)
      client.socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      yield* eventually("one is under way", () => server.working() === 1)
      assert.strictEqual((yield* ask({ port: server.port, path })).status, 503)
      client.socket.destroy()
      yield* eventually("it is interrupted", () => server.interrupted() === 1)
    }))

  it.scoped("closes idle connections", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer(plain)
      const before = dnsConnections.value()
      const client = yield* connectTo(port)
      yield* eventually("it is open", () => dnsConnections.value() === before + 1)
      yield* TestClock.adjust("12 seconds")
      yield* eventually("it is closed", () => client.closed)
    }))
})

describe("DNS over HTTPS", () => {
  it.scoped("answers HTTP/1.1 and several questions at once over HTTP/2", () =>
    Effect.gen(function*() {
      const server = yield* startServer({ https: [ANY_PORT], ...yield* certificateFiles })
      const { port } = server
      const question = questionFor("a.bit", { id: 0 })
      const old = yield* ask({ port, secure: true, path: pathOf(question) })
      assert.deepStrictEqual([old.status, old.body], [200, answerOf(question)])
      const session = yield* Effect.acquireRelease(
        Effect.sync(() => connectHttp2(`https://127.0.0.1:${port}`, { ca: TEST_CERTIFICATE })),
        (open) => Effect.sync(() => open.destroy())
      )
      const got = new Map<string, unknown>()
      for (const name of ["slow.bit", "hot.bit", "a.bit"]) {
        const stream = session.request({ ":path": pathOf(questionFor(name, { id: 0 })) })
        stream.on("response", (headers) => got.set(name, headers["cache-control"]))
        stream.resume()
      }
      yield* eventually("two answers", () => got.size === 2)
      assert.deepStrictEqual([got.get("hot.bit"), got.get("a.bit")], ["max-age=30", "max-age=600"])
      yield* server.open
      yield* eventually("the slow one", () => got.get("slow.bit") === "max-age=600")
      const posted = session.request({ ":path": "/dns-query", ":method": "POST", "content-type": TYPE })
      const pieces: Array<Buffer> = []
      posted.on("data", (piece: Buffer) => pieces.push(piece))
      posted.end(question)
      yield* eventually("the answer to POST", () => Buffer.concat(pieces).equals(answerOf(question)))
    }))
})
