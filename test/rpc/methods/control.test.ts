import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import * as NodeClock from "../../../src/base/NodeClock.ts"
import * as Dispatch from "../../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../../src/rpc/Lifecycle.ts"
import * as Control from "../../../src/rpc/methods/control.ts"
import { FAKE_METHODS } from "../../support/rpcServer.ts"

const CALLER: Dispatch.Caller = { wallet: undefined, peer: "127.0.0.1:1", remote: false }

const setUp = (options: Partial<Control.ControlOptions> = {}) =>
  Effect.gen(function*() {
    const context = yield* Layer.build(
      Dispatch.installed(
        Effect.map(Control.make({ version: "1.2.3", logPath: "/var/log/svcd", ...options }), (control) => [
          ...FAKE_METHODS,
          ...control
        ])
      ).pipe(Layer.provideMerge(Dispatch.layer()), Layer.provideMerge(Lifecycle.layer))
    )
    return yield* Effect.gen(function*() {
      const dispatch = yield* Dispatch.Dispatch
      const lifecycle = yield* Lifecycle.Lifecycle
      yield* lifecycle.running
      const call = (method: string, params = "[]") =>
        Effect.map(
          dispatch.read(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`).answer(CALLER),
          ({ body }) => JSON.parse(String(body))
        )
      return { call, lifecycle }
    }).pipe(Effect.provide(context))
  })

describe("help", () => {
  it.scoped("lists the methods under headings, without hidden ones", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      const { result } = yield* call("help")
      assert.match(result, /^== Blockchain ==\ngetblockcount\ngetblockhash height\n\n== Control ==\n/)
      assert.include(result, "\nhelp ( \"command\" )\n")
      assert.include(result, "\nstop\n")
      assert.notMatch(result, /^echo/m)
    }))

  it.scoped("describes one method, including a hidden one", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      assert.match((yield* call("help", "[\"getblockhash\"]")).result, /^getblockhash height\n\nReturns the hash/)
      assert.match((yield* call("help", "[\"echo\"]")).result, /^echo \( /)
      assert.strictEqual((yield* call("help", "{\"command\":\"help\"}")).result.split("\n")[0], "help ( \"command\" )")
    }))

  it.scoped("does not fail for an unknown method", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      assert.strictEqual((yield* call("help", "[\"nosuch\"]")).result, "help: unknown command: nosuch")
      assert.strictEqual((yield* call("help", "[\"__proto__\"]")).result, "help: unknown command: __proto__")
    }))

  it.scoped("returns the conversions of command lines", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      const { result } = yield* call("help", "[\"dump_all_command_conversions\"]")
      assert.deepInclude(result, ["getblockhash", 0, "height", false])
      assert.deepInclude(result, ["help", 0, "command", true])
    }))
})

describe("stop", () => {
  it.scoped("begins the stop and reports it", () =>
    Effect.gen(function*() {
      const { call, lifecycle } = yield* setUp()
      assert.strictEqual((yield* call("stop")).result, "svcd stopping")
      assert.strictEqual(lifecycle.phase()._tag, "Stopping")
      yield* lifecycle.stopRequested
    }))
})

describe("uptime", () => {
  it.scoped("counts whole seconds since the start", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      assert.strictEqual((yield* call("uptime")).result, 0)
      yield* TestClock.adjust("1999 millis")
      assert.strictEqual((yield* call("uptime")).result, 1)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* call("uptime")).result, 2)
    }))

  it.scoped("does not follow the time that setmocktime sets", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      const { set } = yield* NodeClock.MockTime
      yield* set(2_000_000_000)
      assert.strictEqual((yield* call("uptime")).result, 0)
      yield* set(undefined)
      assert.strictEqual((yield* call("uptime")).result, 0)
    }).pipe(Effect.provide(NodeClock.layer())))
})

describe("getrpcinfo", () => {
  it.scoped("lists itself", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      const { result } = yield* call("getrpcinfo")
      assert.strictEqual(result.logpath, "/var/log/svcd")
      assert.strictEqual(result.active_commands.length, 1)
      assert.strictEqual(result.active_commands[0].method, "getrpcinfo")
      assert.isTrue(Number.isInteger(result.active_commands[0].duration))
    }))
})

describe("getmemoryinfo", () => {
  it.scoped("supports only stats", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      const zeros = { used: 0, free: 0, total: 0, locked: 0, chunks_used: 0, chunks_free: 0 }
      for (const params of ["[]", "[\"stats\"]", "[null]"]) {
        assert.deepStrictEqual((yield* call("getmemoryinfo", params)).result, { locked: zeros })
      }
      assert.deepStrictEqual((yield* call("getmemoryinfo", "[\"mallocinfo\"]")).error, {
        code: -8,
        message: "mallocinfo mode not available"
      })
      assert.deepStrictEqual((yield* call("getmemoryinfo", "[\"x\"]")).error, { code: -8, message: "unknown mode x" })
      assert.strictEqual((yield* call("getmemoryinfo", "[5]")).error.code, -3)
    }))
})

describe("logging", () => {
  const categories = () => {
    const current = new Map([["rpc", false], ["network", true]])
    return {
      current: Effect.sync(() => new Map(current)),
      set: (category: string, on: boolean) => Effect.sync(() => void current.set(category, on))
    }
  }

  it.scoped("reads and changes categories; a category both included and excluded is off", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp({ logging: categories() })
      assert.deepStrictEqual((yield* call("logging")).result, { rpc: false, network: true })
      assert.deepStrictEqual((yield* call("logging", "[[\"rpc\"]]")).result, { rpc: true, network: true })
      assert.deepStrictEqual((yield* call("logging", "[[\"all\"],[\"network\"]]")).result, {
        rpc: true,
        network: false
      })
      assert.deepStrictEqual((yield* call("logging", "{\"exclude\":[\"all\"]}")).result, { rpc: false, network: false })
    }))

  it.scoped("changes nothing if a category is unknown", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp({ logging: categories() })
      assert.deepStrictEqual((yield* call("logging", "[[\"rpc\",\"x\"]]")).error, {
        code: -8,
        message: "unknown logging category x"
      })
      assert.deepStrictEqual((yield* call("logging")).result, { rpc: false, network: true })
    }))

  it.scoped("exists only if categories can be switched", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      assert.strictEqual((yield* call("logging")).error.code, -32601)
    }))
})

describe("echo", () => {
  it.scoped("returns its arguments as they were written", () =>
    Effect.gen(function*() {
      const context = yield* Layer.build(
        Dispatch.installed(Control.make({ version: "1", logPath: "" })).pipe(
          Layer.provideMerge(Dispatch.layer()),
          Layer.provideMerge(Lifecycle.layer)
        )
      )
      yield* Effect.gen(function*() {
        const dispatch = yield* Dispatch.Dispatch
        yield* Effect.flatMap(Lifecycle.Lifecycle, (lifecycle) => lifecycle.running)
        const echo = (params: string, method = "echo") =>
          Effect.map(
            dispatch.read(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`).answer(CALLER),
            ({ body }) => String(body).slice(String(body).indexOf("result") + 8, -8)
          )
        for (
          const params of ["[]", "[1e3,1.10,12345678901234567890]", "[null]", "[1,null]", "[{\"a\":[1.0]},\"ä\",true]"]
        ) {
          assert.strictEqual(yield* echo(params), params)
          assert.strictEqual(yield* echo(params, "echojson"), params)
        }
        assert.strictEqual(yield* echo("{\"arg1\":7}"), "[null,7]")
        assert.include(yield* echo("[0,1,2,3,4,5,6,7,8,9,10]"), "echo ( ")
        assert.strictEqual(yield* echo("[\"x\"]", "echoipc"), "\"x\"")
      }).pipe(Effect.provide(context))
    }))
})

describe("rpc.discover", () => {
  it.scoped("describes the methods", () =>
    Effect.gen(function*() {
      const { call } = yield* setUp()
      const { result } = yield* call("rpc.discover")
      assert.strictEqual(result.info.version, "1.2.3")
      assert.include(result.methods.map((each: { name: string }) => each.name), "getblockhash")
    }))
})
