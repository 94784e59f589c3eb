import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { Decisions, type RefusedBlock } from "./Decisions.ts"

const block = (height: number): RefusedBlock => ({ height, hash: new Uint8Array(32).fill(height) })

const begun = <A, E>(effect: Effect.Effect<A, E>) => Effect.zipLeft(Effect.fork(effect), Effect.yieldNow())

describe("decisions of operators", () => {
  it.effect("forbidden blocks count until any withdrawal begins", () =>
    Effect.gen(function*() {
      const decisions = new Decisions()
      yield* decisions.refusing(Effect.succeed(block(1)))
      yield* decisions.refusing(Effect.succeed(block(2)))
      yield* decisions.refusing(Effect.succeed(undefined))
      assert.deepStrictEqual(decisions.refused, [block(1), block(2)])
      const end = yield* Deferred.make<void>()
      const withdrawal = yield* begun(decisions.allowing(Deferred.await(end)))
      assert.deepStrictEqual(decisions.refused, [])
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(withdrawal)
      yield* decisions.refusing(Effect.succeed(block(3)))
      assert.deepStrictEqual(decisions.refused, [block(3)])
    }))

  it.effect("a block does not count if a withdrawal ran at any time while it was forbidden", () =>
    Effect.gen(function*() {
      const decisions = new Decisions()
      const [answered, ended] = [yield* Deferred.make<RefusedBlock>(), yield* Deferred.make<void>()]
      const whole = yield* begun(decisions.refusing(Deferred.await(answered)))
      yield* decisions.allowing(Effect.void)
      yield* Deferred.succeed(answered, block(1))
      yield* Fiber.join(whole)
      assert.deepStrictEqual(decisions.refused, [])

      const withdrawal = yield* begun(decisions.allowing(Deferred.await(ended)))
      yield* decisions.refusing(Effect.succeed(block(2)))
      yield* Deferred.succeed(ended, undefined)
      yield* Fiber.join(withdrawal)
      assert.deepStrictEqual(decisions.refused, [])
    }))

  it.effect("a withdrawal that is interrupted has ended", () =>
    Effect.gen(function*() {
      const decisions = new Decisions()
      yield* Fiber.interrupt(yield* begun(decisions.allowing(Effect.never)))
      yield* decisions.refusing(Effect.succeed(block(1)))
      assert.deepStrictEqual(decisions.refused, [block(1)])
    }))
})
