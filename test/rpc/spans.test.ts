import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option, type Tracer } from "effect"
import * as Dispatch from "../../src/rpc/Dispatch.ts"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"
import { contract } from "../../src/rpc/method/contract.ts"
import { method } from "../../src/rpc/method/method.ts"
import { RpcError } from "../../src/rpc/method/RpcError.ts"
import { FAKE_METHODS } from "../support/rpcServer.ts"
import { SpanLog } from "../support/spans.ts"

/** A method that reads before it refuses, so it needs a fiber. */
const refusing = method(
  contract({
    name: "refusing",
    group: "Hidden",
    summary: "Refuses after a read.",
    params: {},
    results: [],
    examples: []
  }),
  () => Effect.zipRight(Effect.yieldNow(), Effect.suspend(RpcError.shuttingDown))
)

const CALLER: Dispatch.Caller = { wallet: undefined, peer: "127.0.0.1:1", remote: false }

interface Facts {
  readonly name: string
  readonly kind: Tracer.SpanKind
  readonly failed: boolean
  readonly root: boolean
  readonly attributes: ReadonlyArray<string>
}

/** The spans of calls, as requests or in a batch. */
const spansOf = (body: string) =>
  Effect.gen(function*() {
    const log = new SpanLog()
    yield* Effect.gen(function*() {
      const { running } = yield* Lifecycle.Lifecycle
      yield* running
      const dispatch = yield* Dispatch.Dispatch
      return yield* dispatch.read(body).answer(CALLER)
    }).pipe(
      Effect.provide(
        Dispatch.layer({ methods: [...FAKE_METHODS, refusing] }).pipe(
          Layer.provideMerge(Lifecycle.layer),
          Layer.provideMerge(log.layer)
        )
      )
    )
    return log.spans.map(({ attributes, exit, kind, name, parent }): Facts => ({
      name,
      kind,
      failed: exit === undefined || Exit.isFailure(exit),
      root: Option.isNone(parent),
      attributes: [...attributes.keys()].filter((key) => key !== "code.stacktrace")
    }))
  })

const span = (name: string, failed = false): Facts => ({ name, kind: "server", failed, root: true, attributes: [] })

describe("spans of RPC calls", () => {
  it.live("a call makes one span, named after its method", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* spansOf("{\"id\":1,\"method\":\"slow\",\"params\":[1]}"), [span("svcd.rpc.slow")])
    }))

  it.live("each call of a batch makes its own span", () =>
    Effect.gen(function*() {
      const calls = "[{\"id\":1,\"method\":\"slow\",\"params\":[1]},{\"id\":2,\"method\":\"refusing\"}]"
      assert.deepStrictEqual(yield* spansOf(calls), [span("svcd.rpc.slow"), span("svcd.rpc.refusing", true)])
    }))

  it.live("the span of a call that fails ends with the failure", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* spansOf("{\"id\":1,\"method\":\"refusing\"}"), [span("svcd.rpc.refusing", true)])
    }))

  it.live("a method that does not exist makes no span: a caller cannot invent names", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* spansOf("{\"id\":1,\"method\":\"nosuch\"}"), [])
    }))

  it.live("a call that is answered without a fiber makes no span", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* spansOf("{\"id\":1,\"method\":\"getblockhash\",\"params\":[0]}"), [])
    }))
})
