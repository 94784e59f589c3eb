import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Logger } from "effect"
import type { AnswerMemory } from "../../src/rpc/CallerMemory.ts"
import { JsonNumber } from "../../src/rpc/json/json.ts"
import * as Param from "../../src/rpc/method/params.ts"
import { RpcError } from "../../src/rpc/method/RpcError.ts"
import { fakeMethod } from "../support/fakeMethod.ts"
import { FAKE_METHODS, GENESIS } from "../support/rpcServer.ts"
import { CALLER, setUp, UNKNOWN } from "./dispatching.ts"

describe("Dispatch", () => {
  it.scoped("reads a long body in parts, which split no character", () =>
    Effect.gen(function*() {
      const { dispatch } = yield* setUp()
      const id = "\u00e4\u{1f600}".repeat(400_000)
      for (const before of ["", "a", "ab"]) {
        const body = Buffer.from(`{"method":"nosuch","id":"${before}${id}"}`)
        const call = yield* dispatch.readLong(body)
        const { body: answer } = yield* call.answer(CALLER)
        assert.strictEqual(String(answer), `{"result":null,"error":${UNKNOWN},"id":"${before}${id}"}`)
      }
      const broken = yield* dispatch.readLong(
        Buffer.concat([Buffer.from(`["${id}`), Buffer.of(0xc3), Buffer.from("\"]")])
      )
      assert.match(String((yield* broken.answer(CALLER)).body), /-32700/)
    }))

  it.scoped("returns an id in its original spelling", () =>
    Effect.gen(function*() {
      const { answer } = yield* setUp()
      for (
        const id of [
          "1",
          "0",
          "-3",
          "1.5",
          "1e3",
          "1.10",
          "12345678901234567890",
          "\"abc\"",
          "\"\"",
          "\"äöü € 😀\"",
          "null",
          "true",
          "[1,{\"a\":2}]",
          "{\"__proto__\":1}"
        ]
      ) {
        const { body } = yield* answer(`{"id":${id},"method":"getblockcount"}`)
        assert.strictEqual(body, `{"result":0,"error":null,"id":${id}}`)
      }
    }))

  it.scoped("refuses bytes that are not UTF-8, and a byte order mark, as invalid JSON", () =>
    Effect.gen(function*() {
      const { answer } = yield* setUp()
      const body = Buffer.from("{\"id\":\"x\",\"method\":\"getblockcount\"}")
      const broken = Buffer.from(body)
      broken[7] = 0xff
      assert.strictEqual((yield* answer(body)).status, 200)
      assert.include((yield* answer(broken)).body, "Parse error")
      assert.include((yield* answer(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]))).body, "Parse error")
    }))

  it.scoped("has no methods from the prototype of objects", () =>
    Effect.gen(function*() {
      const { answer } = yield* setUp()
      for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty", ""]) {
        assert.strictEqual((yield* answer(`{"id":1,"method":"${name}"}`)).status, 404)
      }
    }))

  it.scoped("answers params nested 200,000 deep with a parse error", () =>
    Effect.gen(function*() {
      const { answer } = yield* setUp()
      const deep = `{"id":1,"method":"getblockcount","params":${"[".repeat(200_000)}${"]".repeat(200_000)}}`
      assert.include((yield* answer(deep)).body, "Parse error")
      assert.include((yield* answer("[".repeat(200_000))).body, "Parse error")
    }))

  it.scoped("answers synchronously if a method has its result ready, and otherwise asynchronously", () =>
    Effect.gen(function*() {
      const { dispatch } = yield* setUp()
      assert.isTrue(Exit.isExit(dispatch.read("{\"id\":1,\"method\":\"getblockcount\"}").answer(CALLER)))
      assert.isFalse(Exit.isExit(dispatch.read("{\"id\":1,\"method\":\"slow\",\"params\":[1]}").answer(CALLER)))
    }))

  it.scoped("counts the requests in a body, and knows which may end with their caller", () =>
    Effect.gen(function*() {
      const { dispatch } = yield* setUp()
      const count = (body: string): number => dispatch.read(body).count
      assert.deepStrictEqual([count("{"), count("{\"method\":\"x\"}"), count("[]"), count("[1,2,3]")], [1, 1, 0, 3])
      const mayEnd = (body: string): boolean => dispatch.read(body).mayEnd
      assert.isTrue(mayEnd("{\"method\":\"getblockcount\"}"))
      assert.isFalse(mayEnd("{\"method\":\"write\"}"))
      assert.isTrue(mayEnd("[{\"method\":\"getblockcount\"},{\"method\":\"waitforever\"}]"))
      assert.isFalse(mayEnd("[{\"method\":\"getblockcount\"},{\"method\":\"write\"}]"))
    }))

  it.scoped("answers -28 and the step in the warm-up, unknown methods too, envelope errors first (reference/rpc.md 1.9)", () =>
    Effect.gen(function*() {
      const { answer, lifecycle, observed } = yield* setUp({ warmUp: true })
      const warming = (step: string) => `{"result":null,"error":{"code":-28,"message":"${step}"},"id":1}`
      assert.deepStrictEqual(yield* answer("{\"id\":1,\"method\":\"help\"}"), {
        status: 500,
        body: warming("RPC server started")
      })
      yield* lifecycle.warmUp("Verifying blocks…")
      assert.deepStrictEqual(yield* answer("{\"id\":1,\"method\":\"nosuch\"}"), {
        status: 500,
        body: warming("Verifying blocks…")
      })
      assert.deepStrictEqual(yield* answer("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"stop\"}"), {
        status: 200,
        body: "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-28,\"message\":\"Verifying blocks…\"},\"id\":1}"
      })
      assert.strictEqual((yield* answer("{\"id\":1}")).status, 400)
      yield* lifecycle.running
      assert.strictEqual((yield* answer("{\"id\":1,\"method\":\"getblockcount\"}")).status, 200)
      assert.deepStrictEqual(observed.map(({ code }) => code), [-28, -28, -28, undefined])
    }))

  it.scoped("answers -9 once the node stops", () =>
    Effect.gen(function*() {
      const { answer, lifecycle } = yield* setUp()
      yield* lifecycle.stop
      assert.include(
        (yield* answer("{\"id\":1,\"method\":\"getblockcount\"}")).body,
        "{\"code\":-9,\"message\":\"Shutting down\"}"
      )
    }))

  it.scoped("ends a call that waits with -9 when the node stops", () =>
    Effect.gen(function*() {
      const { answer, lifecycle } = yield* setUp()
      const fiber = yield* Effect.fork(answer("{\"id\":1,\"method\":\"waitforever\"}"))
      yield* Effect.yieldNow()
      yield* lifecycle.stop
      const { body } = yield* Fiber.join(fiber)
      assert.include(body, "{\"code\":-9,\"message\":\"Shutting down\"}")
    }))

  it.scoped("turns defects into -32603 without internal details, and logs them with their cause", () =>
    Effect.gen(function*() {
      const logged: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ cause, message }) => logged.push(`${String(message)} ${Cause.pretty(cause)}`))
      )
      const { answer, observed } = yield* setUp()
      for (const how of ["throw", "die", "nan"]) {
        const { body, status } = yield* Effect.provide(
          answer(`{"id":1,"method":"broken","params":["${how}"]}`),
          logger
        )
        assert.deepStrictEqual(
          [status, body],
          [500, "{\"result\":null,\"error\":{\"code\":-32603,\"message\":\"Internal error\"},\"id\":1}"],
          how
        )
      }
      assert.strictEqual(logged.length, 3)
      assert.match(logged[0] ?? "", /^RPC method failed unexpectedly.*secret of the inside/s)
      assert.deepStrictEqual(
        observed,
        ["throw", "die", "nan"].map(() => ({ method: "broken", code: -32603, ran: true }))
      )
    }))

  it.scoped("reports method and outcome of every request to the observer, unknown methods under one name", () =>
    Effect.gen(function*() {
      const { answer, malformed, observed } = yield* setUp()
      yield* answer(
        "[{\"method\":\"getblockcount\",\"id\":1},{\"method\":\"x\",\"id\":1},{\"method\":\"y\"},{\"id\":5}]"
      )
      yield* answer("{\"method\":\"getblockhash\",\"params\":[9],\"id\":1}")
      yield* answer("{\"method\":\"getblockhash\",\"params\":[],\"id\":1}")
      yield* answer("not JSON")
      yield* answer("5")
      assert.deepStrictEqual(observed, [
        { method: "getblockcount", code: undefined, ran: true },
        { method: "unknown", code: -32601, ran: false },
        { method: "unknown", code: -32601, ran: false },
        { method: "getblockhash", code: -8, ran: true },
        { method: "getblockhash", code: -1, ran: true }
      ])
      assert.deepStrictEqual(malformed, [-32600, -32700, -32700])
    }))

  it.scoped("counts the calls that have begun and not ended", () =>
    Effect.gen(function*() {
      const { answer, dispatch, lifecycle } = yield* setUp()
      assert.strictEqual(dispatch.inFlight(), 0)
      const fiber = yield* Effect.fork(answer("{\"id\":1,\"method\":\"waitforever\"}"))
      yield* Effect.yieldNow()
      assert.strictEqual(dispatch.inFlight(), 1)
      yield* lifecycle.stop
      yield* Fiber.join(fiber)
      assert.strictEqual(dispatch.inFlight(), 0)
    }))

  it.scoped("lets waiting costly calls delay no other costly call, and ends them with their caller and the node", () =>
    Effect.gen(function*() {
      const define = (name: string, waits: boolean, handler: Effect.Effect<string>) =>
        fakeMethod({ name, params: {}, heavy: true, waits }, () => handler)
      const { answer, dispatch, lifecycle } = yield* setUp({
        methods: [define("search", true, Effect.never), define("costly", false, Effect.succeed("done"))]
      })
      const call = (name: string) => answer(`{"id":1,"method":"${name}"}`)
      const searches = yield* Effect.forEach(Array.from({ length: 6 }), () => Effect.fork(call("search")))
      yield* Effect.yieldNow()
      assert.include((yield* call("costly")).body, "done")
      assert.strictEqual(dispatch.inFlight(), 6)
      yield* Fiber.interruptAll(searches.slice(0, 3))
      assert.strictEqual(dispatch.inFlight(), 3)
      yield* lifecycle.stop
      for (const { body } of yield* Fiber.join(Fiber.all(searches.slice(3)))) assert.include(body, "-9")
      assert.strictEqual(dispatch.inFlight(), 0)
    }))

  it.scoped("lists the running calls until they end", () =>
    Effect.gen(function*() {
      const release = yield* Deferred.make<void>()
      const running = fakeMethod({ name: "running", params: {} }, (_, { running }) =>
        Effect.sync(() => running().map((call) => call.method)))
      const held = fakeMethod({ name: "held", params: {} }, () =>
        Effect.as(Deferred.await(release), null))
      const { answer } = yield* setUp({ methods: [running, held] })
      const fiber = yield* Effect.fork(answer("{\"id\":1,\"method\":\"held\"}"))
      yield* Effect.yieldNow()
      assert.include((yield* answer("{\"id\":1,\"method\":\"running\"}")).body, "[\"held\",\"running\"]")
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(fiber)
      assert.include((yield* answer("{\"id\":1,\"method\":\"running\"}")).body, "[\"running\"]")
    }))

  it.scoped("accepts a new method table", () =>
    Effect.gen(function*() {
      const { answer, dispatch } = yield* setUp({ methods: [] })
      assert.strictEqual((yield* answer("{\"id\":1,\"method\":\"getblockhash\",\"params\":[0]}")).status, 404)
      yield* dispatch.install(new Map(FAKE_METHODS.map((each) => [each.name, each])))
      assert.include((yield* answer("{\"id\":1,\"method\":\"getblockhash\",\"params\":[0]}")).body, GENESIS)
    }))

  it.scoped("answers errors of any code with the status of its kind", () =>
    Effect.gen(function*() {
      const failing = fakeMethod({ name: "failing", params: { code: Param.int32("") } }, ({ code }) =>
        new RpcError({ code, message: "x" }))
      const { answer } = yield* setUp({ methods: [failing] })
      const status = (code: number, version: string) =>
        Effect.map(answer(`{${version}"id":1,"method":"failing","params":[${code}]}`), (reply) =>
          reply.status)
      for (const [code, legacy] of [[-32600, 400], [-32601, 404], [-32603, 500], [-5, 500], [-1000, 500]] as const) {
        assert.deepStrictEqual([yield* status(code, ""), yield* status(code, "\"jsonrpc\":\"2.0\",")], [legacy, 200])
      }
    }))

  it.scoped("bounds the work of a body before it begins, and counts it in the memory of the caller", () =>
    Effect.gen(function*() {
      let ran = 0
      const costly = fakeMethod({
        name: "costly",
        summary: "Takes a megabyte for each unit.",
        params: {
          units: Param.costing((value) => value instanceof JsonNumber ? 1e6 * value.value : 0, Param.int32("Units."))
        }
      }, () => Effect.sync(() => ++ran))
      const { dispatch } = yield* setUp({ methods: [costly] })
      let held = 0
      const memory: AnswerMemory = {
        limit: 1e9,
        take: (bytes) => bytes <= 100e6 && (held += bytes) >= 0,
        give: (bytes) => void (held -= bytes),
        isLost: () => false
      }
      const told = (body: unknown) =>
        Effect.map(dispatch.read(JSON.stringify(body)).answer({ ...CALLER, memory }), ({ body }) => String(body))
      const call = (units: number) => ({ id: 1, method: "costly", params: [units] })
      assert.include(yield* told(call(90)), "\"result\":1")
      assert.strictEqual(held, 0)
      assert.include(yield* told(call(101)), "\"code\":-7")
      assert.include(yield* told(call(2_000)), "{\"code\":-8,\"message\":\"Range is too large\"}")
      assert.include(yield* told({ ...call(0), params: { units: 2_000 } }), "\"code\":-8")
      const batch = yield* told([90, 90, 90, 90, 90, 10].map(call))
      assert.lengthOf(batch.match(/"code":-8/g) ?? [], 1)
      assert.deepStrictEqual([ran, held], [6, 0])
    }))
})
