import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer, Logger } from "effect"
import * as ErrorCount from "../../src/metrics/countErrors.ts"
import { errors } from "../../src/metrics/metrics.ts"

const counted = () => ({ defect: errors.of("defect").value(), failure: errors.of("failure").value() })

/** What an effect adds to the counts, with its log dropped. */
const added = (effect: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const before = counted()
    yield* Effect.provide(effect, Layer.merge(Logger.remove(Logger.defaultLogger), ErrorCount.layer))
    const after = counted()
    return { defect: after.defect - before.defect, failure: after.failure - before.failure }
  })

describe("countErrors", () => {
  it.effect("counts what is logged as an error, and defects separately", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* added(Effect.logError("no room on the disk")), { defect: 0, failure: 1 })
      const failed = Effect.logError("it failed", Cause.fail(new Error("disk")))
      assert.deepStrictEqual(yield* added(failed), { defect: 0, failure: 1 })
      const died = Effect.logError("it broke", { peer: "x" }, Cause.die(new Error("undefined is not a function")))
      assert.deepStrictEqual(yield* added(died), { defect: 1, failure: 0 })
      assert.deepStrictEqual(yield* added(Effect.logFatal("the end")), { defect: 0, failure: 1 })
      // The daemon wraps an effect that is already wrapped.
      const twice = Effect.provide(Effect.logError("once"), ErrorCount.layer)
      assert.deepStrictEqual(yield* added(twice), { defect: 0, failure: 1 })
    }))

  it.effect("counts no warnings, and goes on logging", () =>
    Effect.gen(function*() {
      const lines: Array<unknown> = []
      const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => void lines.push(message)))
      const before = counted()
      yield* Effect.all([Effect.logWarning("odd"), Effect.logInfo("fine"), Effect.logError("bad")], { discard: true })
        .pipe(Effect.provide(Layer.provideMerge(ErrorCount.layer, logger)))
      assert.deepStrictEqual(counted(), { defect: before.defect, failure: before.failure + 1 })
      assert.deepStrictEqual(lines, [["odd"], ["fine"], ["bad"]])
    }))
})
