import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { DataHealth, layer } from "../../src/storage/DataHealth.ts"

describe("DataHealth", () => {
  it.effect("a doubt remains until it is withdrawn, even if it is withdrawn repeatedly", () =>
    Effect.gen(function*() {
      const health = yield* DataHealth
      const repaired = yield* health.doubt({ what: "names.db", reason: "page 7 has changed" })
      assert.deepStrictEqual(yield* health.doubts, [{ what: "names.db", reason: "page 7 has changed" }])
      yield* repaired
      yield* repaired
      assert.deepStrictEqual(yield* health.doubts, [])
    }).pipe(Effect.provide(layer)))

  it.effect("a part is registered while its scope is open, with its findings", () =>
    Effect.gen(function*() {
      const health = yield* DataHealth
      yield* Effect.scoped(Effect.gen(function*() {
        yield* health.register({
          what: "blocks",
          unit: "blocks",
          total: Effect.succeed(9),
          check: () => Effect.succeed(undefined)
        })
        yield* health.checked("blocks", 4)
        yield* health.damaged("blocks")
        const [part] = yield* health.progress
        assert.deepStrictEqual(part, { what: "blocks", unit: "blocks", total: 9, checked: 4, passes: 0, damaged: 1 })
      }))
      assert.deepStrictEqual(yield* health.parts, [])
    }).pipe(Effect.provide(layer)))
})
