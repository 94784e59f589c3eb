import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Agent, request } from "node:http"
import { postText, testServer } from "../support/rpcServer.ts"
import { COUNT, HASH, padded, times, together, untilInFlight } from "./manyCalls.ts"

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

  it.scopedLive("refuse requests while too many calls run to their end, and serve them afterwards", () =>
    Effect.gen(function*() {
      const server = yield* testServer({ limits: { concurrentRequests: 6 } })
      const { http, post } = server
      const slow = yield* Effect.fork(together(3, (id) => post({ id, method: "write", params: [400] })))
      yield* untilInFlight(server, 3)
      const { headers, status, text } = yield* post({ id: 9, method: "write" })
      assert.deepStrictEqual([status, text, headers["content-type"]], [
        503,
        "Work queue depth exceeded",
        "text/plain; charset=utf-8"
      ])
      assert.strictEqual((yield* http({ path: "/health" })).status, 200)
      // Calls that end with their callers have places of their own.
      assert.strictEqual((yield* post(COUNT)).status, 200)
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
