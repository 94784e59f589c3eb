import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Scope } from "effect"
import { connect } from "node:net"
import * as MemoryBudget from "../../src/base/MemoryBudget.ts"
import { eventually } from "../support/eventually.ts"
import { fakeMethod } from "../support/fakeMethod.ts"
import { FAKE_METHODS, postText, testServer } from "../support/rpcServer.ts"
import { COUNT, HASH, padded, sent, times, together, untilInFlight } from "./manyCalls.ts"

/** Knows whether an answer was ever kept: it may be dropped between two looks. */
class WatchedBudget extends MemoryBudget.MemoryBudget {
  hadAnswer = false

  override open(options: MemoryBudget.AccountOptions): MemoryBudget.MemoryAccount {
    const account = super.open(options)
    return {
      ...account,
      take: (kind, bytes) => {
        const isTaken = account.take(kind, bytes)
        if (isTaken && kind === "rpc_answers") this.hadAnswer = true
        return isTaken
      }
    }
  }
}

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
      const long = fakeMethod({ name: "long", params: {} }, () => Effect.succeed("x".repeat(32_000_000)))
      const served: Array<string> = []
      const budget = new WatchedBudget(2 ** 30)
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
      yield* eventually("the answer waited and was dropped", () => budget.hadAnswer && budget.held("rpc_answers") === 0)
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
