import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer, Logger, Redacted } from "effect"
import { Agent, request } from "node:http"
import * as MemoryBudget from "../../src/base/MemoryBudget.ts"
import { turnOfEventLoop } from "../../src/base/turns.ts"
import { Health } from "../../src/http/health.ts"
import * as Pages from "../../src/http/Pages.ts"
import * as RpcServer from "../../src/http/RpcServer.ts"
import * as Dispatch from "../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import { HEALTHY } from "../support/healthy.ts"
import { GENESIS, postText, type TestServer, testServer } from "../support/rpcServer.ts"
import { COUNT, HASH, sent, together } from "./manyCalls.ts"

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

const CREDENTIALS = { user: "alice", password: Redacted.make("pa:ss wörd") }
const RIGHT = basic("alice", "pa:ss wörd")

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
          ["POST", "/?a=1", 401],
          ["POST", "/rpc/?a=1", 401],
          ["POST", "//", 404],
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
          ...HEALTHY,
          syncing: true,
          phase: undefined,
          proof: undefined,
          blockHeight: 7,
          names: { height: 9, complete: true },
          peers: 2
        })
      })
      yield* post(COUNT, { headers: { authorization: RIGHT } })
      for (let i = 0; i < 5; i++) {
        const { headers, status, text } = yield* http({ path: "/health" })
        assert.deepStrictEqual([status, headers["content-type"]], [200, "application/json"])
        assert.deepStrictEqual(JSON.parse(text), {
          status: "healthy",
          network: "regtest",
          block_height: 7,
          peers: 2,
          syncing: true,
          names_height: 9
        })
      }
      const ready = yield* http({ path: "/ready" })
      assert.deepStrictEqual([ready.status, JSON.parse(ready.text).status], [503, "syncing"])
      const names = yield* http({ path: "/ready?names=1" })
      assert.deepStrictEqual([names.status, JSON.parse(names.text).status], [200, "ready"])
      const head = yield* http({ method: "HEAD", path: "/health" })
      assert.deepStrictEqual([head.status, head.text, head.headers["content-length"]], [200, "", "100"])
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
