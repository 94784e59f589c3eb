import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { string } from "../../src/rpc/method/params.ts"
import { inTime } from "../support/eventually.ts"
import { fakeMethod } from "../support/fakeMethod.ts"
import { FAKE_METHODS, GENESIS, testServer } from "../support/rpcServer.ts"

describe("calls with large parameters", () => {
  it.scopedLive("run one at a time, and smaller calls beside them", () =>
    Effect.gen(function*() {
      let [running, most] = [0, 0]
      const busy = fakeMethod({
        name: "busy",
        summary: "Takes some turns of the event loop.",
        params: { text: string("Any text.") }
      }, () =>
        Effect.gen(function*() {
          running += 1
          most = Math.max(most, running)
          for (let i = 0; i < 20; i++) {
            yield* Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
          }
          running -= 1
          return "done"
        }))
      const { post } = yield* testServer({ methods: [...FAKE_METHODS, busy] })
      const large = { id: 1, method: "busy", params: ["x".repeat(600_000)] }
      const [first, ...answers] = yield* Effect.all(
        [
          post({ id: 1, method: "getblockhash", params: [0] }),
          ...Array.from({ length: 4 }, () => post(large)),
          post([large, large])
        ],
        { concurrency: "unbounded" }
      )
      assert.include(first?.text, GENESIS)
      for (const { text } of answers) assert.include(text, "done")
      assert.strictEqual(most, 1)
    }))

  it.scopedLive("do not delay the small calls of a long batch", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const held = fakeMethod(
        { name: "held", summary: "Waits for the test.", params: { text: string("Any text.") } },
        () => Effect.zipRight(Deferred.succeed(begun, undefined), Effect.as(Deferred.await(mayEnd), "done"))
      )
      const { post } = yield* testServer({ methods: [...FAKE_METHODS, held] })
      const large = yield* Effect.fork(post({ id: 1, method: "held", params: ["x".repeat(600_000)] }))
      yield* inTime(Deferred.await(begun), "the large call begins")
      // Each call counts with 200 bytes for each of its values: all together weigh more than one large call.
      const batch = Array.from({ length: 1_000 }, (_, id) => ({ id, method: "getblockhash", params: [0] }))
      const { text } = yield* inTime(post(batch), "the batch is answered beside it")
      assert.lengthOf(text.split(GENESIS), batch.length + 1)
      yield* Deferred.succeed(mayEnd, undefined)
      assert.include((yield* inTime(Fiber.join(large), "the large call ends")).text, "done")
    }))
})
