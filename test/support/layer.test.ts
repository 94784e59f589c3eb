import { assert, describe, effect, it, scoped } from "@effect/vitest"
import { Clock, Context, Effect, Layer, TestClock } from "effect"
import { layer } from "./layer.ts"

class Answer extends Context.Tag("test/Answer")<Answer, number>() {}

const answer = Layer.succeed(Answer, 42)

describe("layer", () => {
  layer(answer)("with a name", (it) => {
    it.effect("gives its services to its tests", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* Answer, 42)
        yield* TestClock.setTime(1_000_000)
      }))
  })

  layer(answer)((it) => {
    it.effect("gives them without a name", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* Answer, 42)
        yield* TestClock.setTime(1_000_000)
      }))
  })

  it.effect("leaves other tests a clock of their own", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    }))

  it("leaves the methods of `it` as they were", () => {
    assert.strictEqual(it.effect, effect)
    assert.strictEqual(it.scoped, scoped)
  })
})
