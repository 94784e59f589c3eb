import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Logger, Schema, TestClock } from "effect"
import * as Dispatch from "../../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../../src/rpc/Lifecycle.ts"
import { methodHelp } from "../../../src/rpc/method/help.ts"
import { methodTable } from "../../../src/rpc/method/methodTable.ts"
import { openRpc } from "../../../src/rpc/method/openRpc.ts"
import { type OwnMethod, ownMethod } from "../../../src/rpc/method/ownMethod.ts"
import { RpcError } from "../../../src/rpc/method/RpcError.ts"

class Greeting extends Context.Tag("test/Greeting")<Greeting, { readonly word: string }>() {}

const greet = ownMethod({
  name: "greet",
  summary: "Greets.",
  params: {
    guest: Schema.String.annotations({ description: "The guest." }),
    times: Schema.optional(Schema.Number.pipe(Schema.int(), Schema.between(1, 3)))
  },
  results: Schema.Struct({ greetings: Schema.Array(Schema.String), at: Schema.DateFromString }),
  right: "read",
  handler: ({ times = 1, guest }) =>
    Effect.map(Greeting, ({ word }) => ({
      greetings: Array.from({ length: times }, () => `${word} ${guest}`),
      at: new Date(0)
    }))
})

/** A method that breaks in one way. */
const brokenBy = <I>(results: Schema.Schema<string, I>, handler: () => Effect.Effect<string, RpcError>) =>
  ownMethod({ name: "broken", params: {}, results, timeout: "10 seconds", handler })

const breaking = (handler: () => Effect.Effect<string, RpcError>) => brokenBy(Schema.String, handler)

/** The answer to a call of a method, and what the log says meanwhile. */
const called = (one: OwnMethod<Greeting>, params: unknown) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => void lines.push(`${String(message)} ${String(cause)}`))
    const services = Context.make(Greeting, { word: "hello" })
    const layer = Dispatch.layer({ methods: [one.withServices(services)], checksAnswers: true }).pipe(
      Layer.provideMerge(Lifecycle.layer),
      Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger))
    )
    const reply = yield* Effect.gen(function*() {
      yield* Effect.flatMap(Lifecycle.Lifecycle, ({ running }) => running)
      const { read } = yield* Dispatch.Dispatch
      return yield* read(JSON.stringify({ id: 1, method: one.name, params })).answer({
        wallet: undefined,
        peer: "127.0.0.1:1",
        remote: false
      })
    }).pipe(Effect.provide(layer))
    const { error, result } = JSON.parse(String(reply.body))
    return { code: error?.code as unknown, message: String(error?.message), result: result as unknown, lines }
  })

describe("a method of an application", () => {
  it.effect("decodes parameters by position and by name, and encodes its result", () =>
    Effect.gen(function*() {
      const at = "1970-01-01T00:00:00.000Z"
      assert.deepStrictEqual((yield* called(greet, ["you"])).result, { greetings: ["hello you"], at })
      assert.deepStrictEqual((yield* called(greet, { times: 2, guest: "you" })).result, {
        greetings: ["hello you", "hello you"],
        at
      })
    }))

  it.effect("refuses what its schemas refuse, and names the parameter", () =>
    Effect.gen(function*() {
      assert.include(yield* called(greet, [5]), { code: -3 })
      assert.include(yield* called(greet, []), { code: -1 })
      assert.include(yield* called(greet, ["you", 1, 2]), { code: -1 })
      const tooMany = yield* called(greet, ["you", 4])
      assert.strictEqual(tooMany.code, -8)
      assert.match(tooMany.message, /^times: /)
    }))

  it.effect("answers with the RpcError of its handler", () =>
    Effect.gen(function*() {
      const failing = breaking(() => new RpcError({ code: -4, message: "not today" }))
      assert.include(yield* called(failing, []), { code: -4, message: "not today" })
    }))

  const defects: ReadonlyArray<readonly [string, OwnMethod]> = [
    [
      "throws",
      breaking(() => {
        throw new Error("a defect")
      })
    ],
    ["dies", breaking(() => Effect.die("a defect"))],
    ["fails with no RpcError", breaking(() => Effect.fail("odd" as unknown as RpcError))],
    ["interrupts itself", breaking(() => Effect.interrupt)],
    ["returns what its schema forbids", breaking(() => Effect.succeed(5 as unknown as string))],
    [
      "returns what is not JSON",
      brokenBy(
        Schema.transform(Schema.instanceOf(Map), Schema.String, {
          strict: true,
          decode: () => "",
          encode: () => new Map()
        }),
        () => Effect.succeed("x")
      )
    ]
  ]
  it.effect.each(defects)("is -32603 and a line in the log if it %s", ([, method]) =>
    Effect.gen(function*() {
      const { code, lines, message } = yield* called(method, [])
      assert.deepStrictEqual([code, message], [-32603, "Internal error"])
      assert.strictEqual(lines.filter((line) => line.includes("RPC method failed unexpectedly")).length, 1)
    }))

  it.effect("is -32603 if it never answers, at the end of its time", () =>
    Effect.gen(function*() {
      // Not even one that cannot be interrupted is waited for.
      const asked = yield* Effect.fork(called(breaking(() => Effect.uninterruptible(Effect.never)), []))
      yield* TestClock.adjust("9 seconds")
      assert.isNull(asked.unsafePoll())
      yield* TestClock.adjust("1 seconds")
      const { code, lines } = yield* Fiber.join(asked)
      assert.strictEqual(code, -32603)
      assert.match(lines.join(), /no answer within 10s/)
    }))

  it("is in the help and in the OpenRPC document", () => {
    const made = greet.withServices(Context.make(Greeting, { word: "hello" }))
    assert.match(
      methodHelp(made),
      /^greet "guest" \( times \)\n\nGreets\.\n\nArguments:\n1\. guest +\(string, required\) The guest\./
    )
    assert.match(methodHelp(made), /"greetings": \[/)
    const [described] = JSON.parse(JSON.stringify(openRpc(methodTable([made]), "1"))).methods
    assert.strictEqual(described.name, "greet")
    assert.deepStrictEqual(
      described.params.map(({ name, required }: { name: string; required: boolean }) => [name, required]),
      [
        ["guest", true],
        ["times", false]
      ]
    )
    assert.strictEqual(made.right, "read")
  })

  it("has in its help what its schemas say of optional parameters", () => {
    const made = ownMethod({
      name: "pick",
      params: {
        from: Schema.optional(Schema.Literal("a", "b").annotations({ description: "The list." })),
        most: Schema.optionalWith(Schema.Number, { default: () => 1 })
      },
      results: Schema.Null,
      handler: () => Effect.succeed(null)
    }).withServices(Context.empty())
    assert.match(methodHelp(made), /1\. from +\(string, optional\) The list\.\n2\. most +\(numeric, optional\)/)
  })
})
