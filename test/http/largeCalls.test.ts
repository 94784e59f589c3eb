import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { method } from "../../src/rpc/method/method.ts"
import { string } from "../../src/rpc/method/params.ts"
import { ANY_RESULT } from "../support/anyResult.ts"
import { FAKE_METHODS, GENESIS, testServer } from "../support/rpcServer.ts"

describe("calls with large parameters", () => {
  it.scopedLive("run one at a time, and smaller calls beside them", () =>
    Effect.gen(function*() {
      let [running, most] = [0, 0]
      const busy = method({
        name: "busy",
        group: "Hidden",
        summary: "Takes some turns of the event loop.",
        params: { text: string("Any text.") },
        results: ANY_RESULT,
        examples: [],
        handler: () =>
          Effect.gen(function*() {
            running += 1
            most = Math.max(most, running)
            for (let i = 0; i < 20; i++) {
              yield* Effect.async<void>((resume) => void setImmediate(() => resume(Effect.void)))
            }
            running -= 1
            return "done"
          })
      })
      const { post } = yield* testServer({ methods: [...FAKE_METHODS, busy] })
      const large = { id: 1, method: "busy", params: ["x".repeat(600_000)] }
      const [first, ...answers] = yield* Effect.all(
        [post({ id: 1, method: "getblockhash", params: [0] }), ...Array.from({ length: 6 }, () => post(large))],
        { concurrency: "unbounded" }
      )
      assert.include(first?.text, GENESIS)
      for (const { text } of answers) assert.include(text, "done")
      assert.strictEqual(most, 1)
    }))
})
