import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Logger, Redacted, Scope } from "effect"
import { Agent, request } from "node:http"
import { connect, type Socket } from "node:net"
import * as MemoryBudget from "../../src/base/MemoryBudget.ts"
import { turnOfEventLoop } from "../../src/base/turnOfEventLoop.ts"
import { Health } from "../../src/http/health.ts"
import * as Pages from "../../src/http/Pages.ts"
import * as RpcServer from "../../src/http/RpcServer.ts"
import * as Dispatch from "../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import { method } from "../../src/rpc/method/method.ts"
import { ANY_RESULT } from "../support/anyResult.ts"
import { eventually } from "../support/eventually.ts"
import { FAKE_METHODS, GENESIS, postText, type TestServer, testServer } from "../support/rpcServer.ts"

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

const CREDENTIALS = { user: "alice", password: Redacted.make("pa:ss wörd") }
const RIGHT = basic("alice", "pa:ss wörd")

const COUNT = { id: 1, method: "getblockcount" }
const HASH = { id: 1, method: "getblockhash", params: [0] }

const padded = (size: number): string => JSON.stringify(COUNT).padEnd(size, " ")

const times = <A>(count: number, value: A): ReadonlyArray<A> => Array.from({ length: count }, () => value)

/** Runs an effect per number, all at the same time. */
const together = <A, E, R>(count: number, each: (at: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(Array.from({ length: count }, (_, at) => at), each, { concurrency: "unbounded" })

/** Sends text over a new connection, which stays open with the scope. */
const sent = (port: number, text: string) =>
  Effect.acquireRelease(
    Effect.async<Socket>((resume) => {
      const socket = connect(port, "127.0.0.1", () => socket.write(text, () => resume(Effect.succeed(socket))))
      socket.on("error", () => {})
      socket.resume()
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** Waits until so many calls run. */
const untilInFlight = ({ dispatch }: Pick<TestServer, "dispatch">, count: number) =>
  eventually(`${count} calls in flight`, () => dispatch.inFlight() === count)

describe("replies", () => {
  it.scopedLive("are JSON with exactly that content type, a length, a date and one newline (reference/rpc.md 1.3)", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const { headers, status, text } = yield* post(HASH)
      assert.deepStrictEqual([status, text], [200, `{"result":"${GENESIS}","error":null,"id":1}\n`])
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["content-length"], String(text.length))
      assert.isString(headers.date)
      assert.isUndefined(headers["transfer-encoding"])
    }))

  it.scopedLive("count their length in bytes", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const { headers, text } = yield* post({ id: "äöü € 😀", method: "getblockcount" })
      assert.strictEqual(text, "{\"result\":0,\"error\":null,\"id\":\"äöü € 😀\"}\n")
      assert.strictEqual(headers["content-length"], String(Buffer.byteLength(text)))
    }))

  it.scopedLive("have no body and no content type for a notification", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const { headers, status, text } = yield* post({ jsonrpc: "2.0", method: "getblockcount" })
      assert.deepStrictEqual([status, text, headers["content-type"]], [204, "", undefined])
    }))

  it.scopedLive("have the statuses of JSON-RPC errors, as JSON", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const statuses: Array<number> = []
      for (
        const body of [{ id: 1, method: "x" }, { id: 1 }, "", { ...HASH, params: [9] }, { ...HASH, params: ["x"] }]
      ) {
        const { headers, status } = yield* post(body)
        assert.strictEqual(headers["content-type"], "application/json")
        statuses.push(status)
      }
      assert.deepStrictEqual(statuses, [404, 400, 500, 500, 500])
    }))

  it.scopedLive("do not depend on the content type of the request", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      for (const type of ["application/json; charset=utf-8", "text/plain", "application/x-www-form-urlencoded"]) {
        assert.strictEqual(
          (yield* post(COUNT, { headers: { "content-type": type, accept: "text/html" } })).status,
          200
        )
      }
    }))

  it.scopedLive("pass the caller and the wallet of the path to methods", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const wallet = (path: string) =>
        Effect.map(post({ id: 1, method: "whoami" }, { path }), ({ text }) => JSON.parse(text).result)
      assert.deepStrictEqual((yield* wallet("/")).wallet, null)
      assert.deepStrictEqual((yield* wallet("/wallet/")).wallet, "")
      const { peer, remote, wallet: name } = yield* wallet("/wallet/a%20b")
      assert.deepStrictEqual([remote, name], [false, "a b"])
      assert.match(peer, /^127\.0\.0\.1:\d+$/)
    }))
})

describe("checks before the body (reference/rpc.md 1.1)", () => {
  it.scopedLive("answer verbs and paths in the reference node's order", () =>
    Effect.gen(function*() {
      const { http } = yield* testServer({ credentials: CREDENTIALS })
      const status = (method: string, path: string) => Effect.map(http({ method, path }), (answer) => answer.status)
      for (
        const [method, path, expected] of [
          ["GET", "/", 405],
          ["GET", "/rpc", 405],
          ["HEAD", "/", 405],
          ["PUT", "/", 405],
          ["GET", "/wallet/x", 405],
          ["POST", "/", 401],
          ["POST", "/rpc", 401],
          ["POST", "/wallet/x", 401],
          ["GET", "/nothing", 404],
          ["POST", "/nothing", 404],
          ["GET", "/metrics", 404],
          ["POST", "/?a=1", 404],
          ["POST", "/wallet", 404],
          ["DELETE", "/", 405],
          ["DELETE", "/nothing", 405],
          ["OPTIONS", "/", 501],
          ["PATCH", "/nothing", 501],
          ["POST", "/health", 405],
          ["DELETE", "/health", 405]
        ] as const
      ) {
        assert.strictEqual(yield* status(method, path), expected, `${method} ${path}`)
      }
    }))

  it.scopedLive("say in plain text that nothing is at a path", () =>
    Effect.gen(function*() {
      const { http } = yield* testServer()
      for (const request of [{ method: "GET", path: "/nosuch" }, { method: "POST", path: "/nosuch", body: "{}" }]) {
        const { headers, status, text } = yield* http(request)
        assert.strictEqual(status, 404)
        assert.match(text, /^Nothing is at this path: JSON-RPC takes POST at \/ /)
        assert.strictEqual(headers["content-type"], "text/plain; charset=utf-8")
      }
    }))

  it.scopedLive("answer in plain text that only POST is handled", () =>
    Effect.gen(function*() {
      const { http } = yield* testServer()
      const { headers, text } = yield* http({ method: "GET", path: "/" })
      assert.strictEqual(text, "JSONRPC server handles only POST requests")
      assert.strictEqual(headers["content-type"], "text/plain; charset=utf-8")
      assert.strictEqual((yield* http({ method: "DELETE", path: "/" })).text, "")
    }))

  it.scopedLive("check the declared size before path and credentials", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer({ credentials: CREDENTIALS, maxRequestSize: 2_000 })
      const announced = (path: string, size: number) =>
        converse(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`, 1)
      assert.match(
        yield* announced("/", 2_001),
        /^HTTP\/1\.1 413 .*\r\nConnection: close\r\n.*\r\nRequest body too large$/s
      )
      assert.match(yield* announced("/nothing", 99_999_999_999), /^HTTP\/1\.1 413 /)
      assert.match(yield* announced("/", 2_000), /^HTTP\/1\.1 401 /)
    }))
})

describe("authentication (reference/rpc.md 1.4)", () => {
  it.scopedLive(
    "answers missing credentials at once, and wrong ones after 250 ms",
    () =>
      Effect.gen(function*() {
        const strict = yield* testServer({ credentials: CREDENTIALS, limits: { penalty: 60_000 } })
        const [atOnce, missing] = yield* Effect.timed(strict.post(COUNT))
        assert.deepStrictEqual([missing.status, missing.text], [401, ""])
        assert.strictEqual(missing.headers["www-authenticate"], "Basic realm=\"jsonrpc\"")
        assert.isBelow(Duration.toMillis(atOnce), 30_000)
        const { post } = yield* testServer({ credentials: CREDENTIALS })
        for (
          const header of [basic("alice", "wrong"), basic("bob", "pa:ss wörd"), "Basic ???", "Bearer abc", "Basic"]
        ) {
          const [late, wrong] = yield* Effect.timed(post(COUNT, { headers: { authorization: header } }))
          assert.deepStrictEqual([wrong.status, wrong.text, wrong.headers["www-authenticate"]], [
            401,
            "",
            "Basic realm=\"jsonrpc\""
          ])
          assert.isAtLeast(Duration.toMillis(late), 245, header)
        }
        assert.strictEqual((yield* post(COUNT, { headers: { authorization: RIGHT } })).status, 200)
      })
  )

  it.scopedLive("does not execute a refused call", () =>
    Effect.gen(function*() {
      const { lifecycle, post } = yield* testServer({ credentials: CREDENTIALS })
      yield* post({ id: 1, method: "stop" })
      yield* post({ id: 1, method: "stop" }, { headers: { authorization: basic("alice", "wrong") } })
      assert.strictEqual(lifecycle.phase()._tag, "Running")
    }))

  const guesses = (post: TestServer["post"], count: number, wait: number) =>
    together(
      count,
      (at) => Effect.timeoutOption(post(COUNT, { headers: { authorization: basic("alice", `guess ${at}`) } }), wait)
    )

  it.scopedLive("answers right credentials at once while 200 connections wait for the answers to wrong ones", () =>
    Effect.gen(function*() {
      let refused = 0
      const { http, port, post } = yield* testServer({
        credentials: CREDENTIALS,
        limits: { penalty: 600_000 },
        onRefused: () => refused += 1
      })
      const guess = postText(JSON.stringify(COUNT), `Authorization: ${basic("alice", "guess")}\r\n`)
      yield* together(200, () => sent(port, guess))
      assert.strictEqual((yield* http({ path: "/health" })).status, 200)
      assert.strictEqual((yield* post(COUNT, { headers: { authorization: RIGHT } })).status, 200)
      assert.strictEqual(refused, 0)
    }))

  it.scopedLive(
    "checks at most as many guesses in 250 ms as the connection limit, even if clients disconnect",
    () =>
      Effect.gen(function*() {
        let judged = 0
        const { post } = yield* testServer({
          credentials: CREDENTIALS,
          limits: { connections: 16 },
          onRefused: () => judged += 1
        })
        // More connections evict those that wait, whose guesses keep their places.
        const since = performance.now()
        yield* guesses(post, 200, 200).pipe(Effect.ignore)
        // Its answer comes after those to all earlier guesses.
        yield* post(COUNT, { headers: { authorization: basic("alice", "the last guess") } })
        assert.isAtLeast(judged, 1)
        assert.isAtMost(judged, 16 * Math.ceil((performance.now() - since) / 250))
      })
  )

  it.scopedLive("serves an admitted connection while other clients guess", () =>
    Effect.gen(function*() {
      const { http, port } = yield* testServer({ credentials: CREDENTIALS, limits: { penalty: 60_000 } })
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const one = (authorization: string, at = port) =>
        Effect.async<number>((resume) => {
          const outgoing = request({ port: at, method: "POST", agent, headers: { authorization } }, (incoming) => {
            incoming.resume().on("end", () => resume(Effect.succeed(incoming.statusCode ?? 0)))
          })
          outgoing.end(JSON.stringify(COUNT))
        })
      assert.strictEqual(yield* one(RIGHT), 200)
      yield* together(40, (at) =>
        sent(port, postText(JSON.stringify(COUNT), `Authorization: ${basic("alice", `guess ${at}`)}\r\n`)))
      assert.strictEqual((yield* http({ path: "/health" })).status, 200)
      const [took, status] = yield* Effect.timed(one(RIGHT))
      assert.strictEqual(status, 200)
      assert.isBelow(Duration.toMillis(took), 30_000)
      const quick = yield* testServer({ credentials: CREDENTIALS })
      assert.strictEqual(yield* one(RIGHT, quick.port), 200)
      assert.strictEqual(yield* one(basic("alice", "guess"), quick.port), 401, "other credentials are judged")
      agent.destroy()
    }))

  it.scopedLive("accepts any credentials if none are required", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      assert.strictEqual((yield* post(COUNT, { headers: { authorization: basic("x", "y") } })).status, 200)
      assert.strictEqual((yield* post(COUNT, { headers: { authorization: "Bearer x" } })).status, 200)
    }))
})

describe("health (reference/rpc.md 1.12)", () => {
  it.scopedLive("is served without credentials and beyond the rate limit, to GET and HEAD", () =>
    Effect.gen(function*() {
      const { http, post } = yield* testServer({
        credentials: CREDENTIALS,
        rateLimit: 1,
        health: Effect.as(turnOfEventLoop, {
          initializing: false,
          syncing: true,
          phase: undefined,
          proof: undefined,
          blockHeight: 7,
          peers: 2,
          doubts: [],
          notices: []
        })
      })
      yield* post(COUNT, { headers: { authorization: RIGHT } })
      for (let i = 0; i < 5; i++) {
        const { headers, status, text } = yield* http({ path: "/health" })
        assert.deepStrictEqual([status, headers["content-type"]], [200, "application/json"])
        assert.deepStrictEqual(JSON.parse(text), { status: "healthy", block_height: 7, peers: 2, syncing: true })
      }
      const ready = yield* http({ path: "/ready" })
      assert.deepStrictEqual([ready.status, JSON.parse(ready.text).status], [503, "syncing"])
      const head = yield* http({ method: "HEAD", path: "/health" })
      assert.deepStrictEqual([head.status, head.text, head.headers["content-length"]], [200, "", "63"])
    }))
})

describe("warm-up (reference/rpc.md 1.9)", () => {
  it.scopedLive("is answered with -28 and the step, credentials first", () =>
    Effect.gen(function*() {
      const { lifecycle, post } = yield* testServer({ warmUp: true, credentials: CREDENTIALS })
      const headers = { authorization: RIGHT }
      assert.strictEqual((yield* post(COUNT)).status, 401)
      yield* lifecycle.warmUp("Loading block index…")
      const { status, text } = yield* post(COUNT, { headers })
      assert.deepStrictEqual([status, JSON.parse(text).error], [500, { code: -28, message: "Loading block index…" }])
      yield* lifecycle.running
      assert.strictEqual((yield* post(COUNT, { headers })).status, 200)
    }))
})

describe("limits (reference/rpc.md 1.11)", () => {
  it.scopedLive("allow a body of the maximum size and no byte more", () =>
    Effect.gen(function*() {
      const refusals: Array<number> = []
      const { converse, post } = yield* testServer({
        maxRequestSize: 2_000,
        onRefused: (status) => refusals.push(status)
      })
      assert.strictEqual((yield* post(padded(2_000))).status, 200)
      const { headers, status, text } = yield* post(padded(2_001))
      assert.deepStrictEqual([status, text, headers["content-type"]], [
        413,
        "Request body too large",
        "text/plain; charset=utf-8"
      ])
      const chunk = (size: number): string => `${size.toString(16)}\r\n${" ".repeat(size)}\r\n`
      const chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
      assert.match(
        yield* converse(`${chunked}${chunk(1_500)}${chunk(1_500)}`),
        /^HTTP\/1\.1 413 .*Request body too large$/s
      )
      assert.deepStrictEqual(refusals, [413, 413])
      assert.strictEqual((yield* post(COUNT)).status, 200)
    }))

  it.scopedLive("let a client that sends too much read the reason while it still sends", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer({ maxRequestSize: 2_000 })
      const { status } = yield* post(padded(5_000_000))
      assert.strictEqual(status, 413)
    }))

  it.scopedLive("allow 8.5 MB by default, and refuse more than 32 MiB", () =>
    Effect.gen(function*() {
      const { converse, post } = yield* testServer()
      assert.strictEqual((yield* post(padded(8_500_000))).status, 200)
      const announced = yield* converse("POST / HTTP/1.1\r\nContent-Length: 33554433\r\n\r\n{")
      assert.match(announced, /^HTTP\/1\.1 413 /)
    }))

  it.scopedLive("answer too many requests with 429 and Retry-After, and keep the connection", () =>
    Effect.gen(function*() {
      const { converse, post } = yield* testServer({ rateLimit: 20 })
      const statuses: Array<number> = []
      for (let id = 0; id < 30; id++) {
        const { headers, status, text } = yield* post({ ...COUNT, id })
        statuses.push(status)
        if (status !== 429) continue
        assert.deepStrictEqual([text, headers["content-type"]], ["Too many requests", "text/plain; charset=utf-8"])
        assert.match(headers["retry-after"] ?? "", /^[1-3]$/)
      }
      assert.strictEqual(statuses.indexOf(429), 20)
      const body = JSON.stringify(COUNT)
      const answers = yield* converse(postText(body) + postText(body), 2)
      assert.strictEqual(answers.split("HTTP/1.1 429 ").length, 3)
      assert.notInclude(answers, "Connection: close")
    }))

  it.scopedLive("count a batch by its members", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer({ rateLimit: 20 })
      assert.strictEqual((yield* post(times(15, COUNT))).status, 200)
      assert.strictEqual((yield* post(times(6, COUNT))).status, 429)
      assert.strictEqual((yield* post(times(5, COUNT))).status, 200)
      assert.strictEqual((yield* post([])).status, 429)
    }))

  it.scopedLive("do not disturb 1000 calls in a row", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const agent = new Agent({ keepAlive: true, maxSockets: 4 })
      const sockets = new Set<unknown>()
      agent.on("free", (socket) => sockets.add(socket))
      const one = Effect.async<number>((resume) => {
        const outgoing = request({ port, method: "POST", agent }, (incoming) => {
          incoming.resume().on("end", () => resume(Effect.succeed(incoming.statusCode ?? 0)))
        })
        outgoing.end(JSON.stringify(COUNT))
      })
      const statuses = yield* together(1_000, () => one)
      agent.destroy()
      assert.deepStrictEqual([...new Set(statuses)], [200])
      assert.strictEqual(sockets.size, 4)
    }))

  it.scopedLive("refuse requests while too many calls run, and serve them afterwards", () =>
    Effect.gen(function*() {
      const server = yield* testServer({ limits: { concurrentRequests: 3 } })
      const { http, post } = server
      const slow = yield* Effect.fork(together(3, (id) => post({ id, method: "slow", params: [400] })))
      yield* untilInFlight(server, 3)
      const { headers, status, text } = yield* post(COUNT)
      assert.deepStrictEqual([status, text, headers["content-type"]], [
        503,
        "Work queue depth exceeded",
        "text/plain; charset=utf-8"
      ])
      assert.strictEqual((yield* http({ path: "/health" })).status, 200)
      assert.deepStrictEqual((yield* Fiber.join(slow)).map((answer) => answer.status), [200, 200, 200])
      assert.strictEqual((yield* post(COUNT)).status, 200)
    }))

  it.scopedLive("answer 200 requests at once, each with its own id", () =>
    Effect.gen(function*() {
      const { post } = yield* testServer()
      const answers = yield* together(200, (id) => post({ ...HASH, id, jsonrpc: "2.0" }))
      assert.deepStrictEqual(answers.map(({ text }) => JSON.parse(text).id), answers.map((_, id) => id))
    }))
})

describe("connections (reference/rpc.md 1.3)", () => {
  const body = (id: number, method = "getblockcount", params: ReadonlyArray<unknown> = []): string =>
    JSON.stringify({ id, method, params })

  it.scopedLive("answer pipelined requests in order, one after the other", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer()
      const text = [body(1, "slow", [100]), body(2), body(3, "slow", [20]), body(4)].map((each) => postText(each)).join(
        ""
      )
      const answer = yield* converse(text, 4)
      assert.deepStrictEqual([...answer.matchAll(/"id":(\d)/g)].map(([, id]) => Number(id)), [1, 2, 3, 4])
    }))

  it.scopedLive("answer hundreds of requests in one packet", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer()
      const answer = yield* converse(Array.from({ length: 500 }, (_, id) => postText(body(id))).join(""), 500)
      assert.strictEqual(answer.split("\"result\":0").length, 501)
    }))

  it.scopedLive("keep refusals and answers in order", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer()
      const refused = "GET / HTTP/1.1\r\n\r\n"
      const answer = yield* converse(refused.repeat(300) + postText(body(1)) + refused, 302)
      assert.deepStrictEqual([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status), [
        ...Array(300).fill("405"),
        "200",
        "405"
      ])
    }))

  it.scopedLive("accept chunked bodies, Expect: 100-continue, and requests without Host", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer({ maxRequestSize: 1_000 })
      const text = body(42)
      const chunked = `POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n${text.slice(0, 5)}\r\n${
        (text.length - 5).toString(16)
      }\r\n${text.slice(5)}\r\n0\r\n\r\n`
      assert.match(yield* converse(chunked, 1), /^HTTP\/1\.1 200 .*"id":42/s)
      const expecting = yield* converse(postText(text, "Expect: 100-continue\r\n"), 1)
      assert.match(expecting, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 .*"id":42/s)
      const tooLarge = yield* converse("POST / HTTP/1.1\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n")
      assert.match(tooLarge, /^HTTP\/1\.1 413 /)
    }))

  it.scopedLive("stay open in HTTP/1.1 unless the client closes, and close in HTTP/1.0 without keep-alive", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer()
      const text = body(1)
      const old = (head: string): string => `POST / HTTP/1.0\r\nContent-Length: ${text.length}\r\n${head}\r\n${text}`
      /** The number of answers to a request and one more, on one connection. */
      const answered = (first: string, second: string) =>
        Effect.map(converse(first + second), (text) => text.split("\"result\":0").length - 1)
      const last = postText(text, "Connection: close\r\n")
      assert.strictEqual(yield* answered(postText(text), last), 2)
      assert.strictEqual(yield* answered(last, last), 1)
      assert.strictEqual(yield* answered(old(""), old("")), 1)
      assert.strictEqual(yield* answered(old("Connection: keep-alive\r\n"), old("")), 2)
      assert.match(yield* converse(last), /\r\nConnection: close\r\n/)
    }))

  it.scopedLive("are closed when they are idle", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer({ limits: { idleTimeout: 300, headersTimeout: 300, requestTimeout: 600 } })
      const [afterAnswer] = yield* Effect.timed(converse(postText(body(1))))
      const [halfHeader, header] = yield* Effect.timed(converse("POST / HTTP/1.1\r\nX-Slow: "))
      const [halfBody] = yield* Effect.timed(converse("POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n{"))
      for (const took of [afterAnswer, halfHeader, halfBody]) assert.isBelow(Duration.toMillis(took), 15_000)
      assert.strictEqual(header, "")
    }))

  it.scopedLive("are bounded in number", () =>
    Effect.gen(function*() {
      const { port, post } = yield* testServer({ limits: { connections: 5 } })
      const open = Array.from({ length: 8 }, () => connect(port, "127.0.0.1"))
      yield* eventually("three are closed", () => open.filter(({ destroyed }) => destroyed).length === 3)
      // Other clients are served by the listener in the meantime: it has seen all eight.
      assert.strictEqual((yield* post(COUNT)).status, 200)
      assert.strictEqual(open.filter((socket) => !socket.destroyed && socket.readyState === "open").length, 4)
      for (const socket of open) socket.destroy()
      assert.strictEqual((yield* post(COUNT)).status, 200)
    }))

  it.scopedLive("of slow clients do not delay other clients", () =>
    Effect.gen(function*() {
      const { port, post } = yield* testServer()
      yield* together(100, (at) =>
        sent(port, at % 2 === 0 ? "POST / HTTP/1.1\r\nX-Slow: " : "POST / HTTP/1.1\r\nContent-Length: 5000\r\n\r\n{"))
      const [took] = yield* Effect.timed(Effect.forEach(times(10, HASH), (each) =>
        post(each)))
      assert.isBelow(Duration.toMillis(took), 15_000)
    }))

  it.scopedLive("that break in the middle of a request have no effect on others", () =>
    Effect.gen(function*() {
      const { port, post } = yield* testServer()
      for (let i = 0; i < 50; i++) {
        yield* Effect.async<void>((resume) => {
          const socket = connect(port, "127.0.0.1", () => {
            socket.write(postText(body(1)).slice(0, 20 + i))
            socket.resetAndDestroy()
          })
          socket.on("error", () => {})
          socket.on("close", () => resume(Effect.void))
        })
      }
      assert.strictEqual((yield* post(HASH)).status, 200)
    }))

  it.scopedLive("that break end waiting calls, and no others", () =>
    Effect.gen(function*() {
      const server = yield* testServer({ limits: { stopTimeout: 50 } })
      const { dispatch, port, post } = server
      /** A client that disconnects once its call runs. */
      const gone = (method: string, params: ReadonlyArray<unknown>) =>
        Effect.gen(function*() {
          const socket = yield* sent(port, postText(body(1, method, params)))
          yield* untilInFlight(server, 1)
          socket.destroy()
        })
      yield* gone("waitforever", [])
      yield* untilInFlight(server, 0)
      yield* gone("slow", [5_000])
      // A later request on another connection: the server has seen the end of this one.
      assert.strictEqual((yield* post(COUNT)).status, 200)
      const caller = { wallet: undefined, peer: "", remote: false }
      const reply = yield* dispatch.read(body(1, "getrpcinfo")).answer(caller)
      assert.deepStrictEqual(
        JSON.parse(String(reply.body)).result.active_commands.map((call: { method: string }) => call.method),
        ["slow", "getrpcinfo"]
      )
    }))

  it.scopedLive("of clients that do not read their answers are closed", () =>
    Effect.gen(function*() {
      const long = method({
        name: "long",
        group: "Hidden",
        summary: "",
        params: {},
        results: ANY_RESULT,
        examples: [],
        handler: () => Effect.succeed("x".repeat(32_000_000))
      })
      const served: Array<string> = []
      const budget = new MemoryBudget.MemoryBudget(2 ** 30)
      const { port, post } = yield* testServer({
        methods: [...FAKE_METHODS, long],
        budget,
        limits: { idleTimeout: 300 },
        observe: ({ method }) => served.push(method)
      })
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => {})
      socket.pause()
      socket.write(postText(body(1, "long")) + postText(body(2, "long")))
      yield* eventually("the answer waits for the client", () => budget.held("rpc_answers") > 0)
      yield* eventually("the answer is dropped", () => budget.held("rpc_answers") === 0)
      assert.deepStrictEqual(served, ["long"], "the second answer was not made while the first was unread")
      const ended = Effect.async<number>((resume) => {
        let received = 0
        socket.on("data", (part) => {
          received += part.length
        })
        socket.on("close", () => resume(Effect.succeed(received)))
        socket.resume()
      })
      assert.isBelow(yield* ended, 32_000_000)
      assert.strictEqual((yield* post(COUNT)).status, 200)
    }), 30_000)

  it.scopedLive("execute nothing after the last answer", () =>
    Effect.gen(function*() {
      const served: Array<string> = []
      const { converse } = yield* testServer({ maxRequestSize: 100, observe: ({ method }) => served.push(method) })
      const large = postText(padded(200))
      const answer = yield* converse(postText(body(1)) + large + postText(body(2, "getblockhash", [0])))
      assert.deepStrictEqual([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status), ["200", "413"])
      assert.deepStrictEqual(served, ["getblockcount"])
    }))

  it.scopedLive("get an answer even if the observer has a defect", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer({
        observe: () => {
          throw new Error("secret of the inside")
        }
      })
      for (const each of [body(1), body(1, "slow", [1])]) {
        const answer = yield* converse(postText(each), 1)
        assert.match(answer, /^HTTP\/1\.1 500 .*\r\nContent-Type: text\/plain.*\r\nInternal error$/s)
      }
    }))

  it.scopedLive("with invalid HTTP get 400 or are closed", () =>
    Effect.gen(function*() {
      const { converse, post } = yield* testServer()
      for (
        const text of [
          "garbage\r\n\r\n",
          "\0\0\0\0\r\n\r\n",
          "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
          "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
          "POST / HTTP/9.9\r\n\r\n",
          `GET /${"x".repeat(200_000)} HTTP/1.1\r\n\r\n`
        ]
      ) {
        const answer = yield* converse(text)
        assert.isTrue(answer === "" || /^HTTP\/1\.1 400 Bad Request\r\n.*Connection: close\r\n/s.test(answer), answer)
      }
      assert.strictEqual((yield* post(HASH)).status, 200)
    }))

  it.scopedLive("with invalid HTTP after requests get 400 after the earlier answers", () =>
    Effect.gen(function*() {
      for (const fastLane of [true, false]) {
        const refusals: Array<number> = []
        const { converse } = yield* testServer({ fastLane, onRefused: (status) => void refusals.push(status) })
        const statuses = (text: string) =>
          Effect.map(converse(text), (answers) => [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, each]) => each))
        for (const bad of ["garbage\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"]) {
          assert.deepStrictEqual(yield* statuses(postText(body(1)) + bad), ["200", "400"])
          assert.deepStrictEqual(yield* statuses(postText(body(1, "slow", [20])) + bad), ["200", "400"])
          const unknown = postText(body(1)).replace("/", "/nothing")
          assert.deepStrictEqual(yield* statuses(unknown + unknown + bad + bad), ["404", "404", "400"])
          assert.deepStrictEqual(yield* statuses(postText(body(1), "Connection: close\r\n") + bad), ["200"])
        }
        assert.deepStrictEqual(refusals.filter((status) => status === 400).length, 6)
        const broken = `${postText("", "Transfer-Encoding: chunked\r\n").replace(/Content-Length: 0\r\n/, "")}zz\r\n`
        assert.deepStrictEqual(yield* statuses(broken), [])
      }
    }))

  it.scopedLive("accept 8192 bytes of headers, and not many more", () =>
    Effect.gen(function*() {
      const { converse } = yield* testServer()
      assert.match(yield* converse(postText(body(1), `X-Long: ${"x".repeat(7_900)}\r\n`), 1), /^HTTP\/1\.1 200 /)
      assert.match(yield* converse(postText(body(1), `X-Long: ${"x".repeat(8_300)}\r\n`)), /^HTTP\/1\.1 400 /)
    }))
})

describe("stopping (reference/rpc.md 1.10)", () => {
  /** A server in its own scope, which the test closes. */
  const closable = (options: Parameters<typeof testServer>[0] = {}) =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const server = yield* Scope.extend(testServer(options), scope)
      const close = Scope.close(scope, Exit.void)
      yield* Effect.addFinalizer(() => close)
      return { ...server, close }
    })

  const refused = (port: number) =>
    Effect.async<boolean>((resume) => {
      const socket = connect(port, "127.0.0.1")
      socket.on("connect", () => {
        socket.destroy()
        resume(Effect.succeed(false))
      })
      socket.on("error", () => resume(Effect.succeed(true)))
    })

  it.scopedLive("answers stop before the listener closes, with Connection: close", () =>
    Effect.gen(function*() {
      const { close, lifecycle, port, post } = yield* closable()
      const closing = yield* Effect.fork(Effect.zipRight(lifecycle.stopRequested, close))
      const { headers, status, text } = yield* post({ id: 1, method: "stop" })
      assert.deepStrictEqual([status, text], [200, "{\"result\":\"svcd stopping\",\"error\":null,\"id\":1}\n"])
      assert.strictEqual(headers.connection, "close")
      yield* Fiber.join(closing)
      assert.isTrue(yield* refused(port))
    }))

  it.scopedLive("refuses other requests with 503 while the answer to stop is delayed", () =>
    Effect.gen(function*() {
      const { close, http, lifecycle, post } = yield* closable()
      const closing = yield* Effect.fork(Effect.zipRight(lifecycle.stopRequested, close))
      const stopping = yield* Effect.fork(post({ id: 1, method: "stop", params: [400] }))
      yield* eventually("the node stops", () => lifecycle.phase()._tag === "Stopping")
      for (const { headers, status } of [yield* post(COUNT), yield* http({ path: "/health" })]) {
        assert.deepStrictEqual([status, headers.connection], [503, "close"])
      }
      assert.strictEqual((yield* Fiber.join(stopping)).status, 200)
      yield* Fiber.join(closing)
    }))

  it.scopedLive("ends waiting calls with -9, and finishes the others", () =>
    Effect.gen(function*() {
      const server = yield* closable()
      const { close, post } = server
      const waiting = yield* Effect.fork(post({ id: 1, method: "waitforever" }))
      const slow = yield* Effect.fork(post({ id: 2, method: "slow", params: [300] }))
      yield* untilInFlight(server, 2)
      yield* close
      assert.include((yield* Fiber.join(waiting)).text, "{\"code\":-9,\"message\":\"Shutting down\"}")
      assert.include((yield* Fiber.join(slow)).text, "\"result\":\"done\"")
    }))

  it.scopedLive("has a time limit, for running calls and for silent clients", () =>
    Effect.gen(function*() {
      const server = yield* closable({ limits: { stopTimeout: 200 } })
      const { close, port, post } = server
      yield* sent(port, "POST / HTTP/1.1\r\nX-Slow: ")
      const slow = yield* Effect.fork(Effect.either(post({ id: 1, method: "slow", params: [60_000] })))
      yield* untilInFlight(server, 1)
      const [took] = yield* Effect.timed(close)
      assert.isBelow(Duration.toMillis(took), 30_000)
      const answer = yield* Fiber.join(slow)
      assert.strictEqual(answer._tag === "Right" ? answer.right.status : 0, 503)
      assert.isTrue(yield* refused(port))
    }))
})

describe("the address", () => {
  const listenOn = (host: string, port: number) =>
    Layer.build(
      RpcServer.layer({ listen: { host, port }, credentials: undefined, rateLimit: 0, maxRequestSize: 0 }).pipe(
        Layer.provide(Dispatch.layer()),
        Layer.provide(Lifecycle.layer),
        Layer.provide(Pages.layer),
        Layer.provide(MemoryBudget.layer),
        Layer.provide(Layer.succeed(Health, { report: Effect.never }))
      )
    ).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))

  it.scopedLive("is reported if it is in use", () =>
    Effect.gen(function*() {
      const { port } = yield* testServer()
      const error = yield* Effect.flip(listenOn("127.0.0.1", port))
      assert.strictEqual(error._tag, "BindFailed")
      assert.strictEqual(error.code, "EADDRINUSE")
      assert.match(
        error.message,
        new RegExp(`^cannot listen on 127\\.0\\.0\\.1:${port} for RPC: the address is in use`)
      )
    }))

  it.scopedLive("is reported if this machine does not have it", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(listenOn("203.0.113.7", 8336))
      assert.match(error.message, /^cannot listen on 203\.0\.113\.7:8336 for RPC: this machine has no such address$/)
    }))

  it.scopedLive("is free again once the layer is released", () =>
    Effect.gen(function*() {
      const { port } = yield* Effect.scoped(testServer())
      yield* listenOn("127.0.0.1", port)
    }))
})
