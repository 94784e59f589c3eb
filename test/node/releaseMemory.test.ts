import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { collectGarbageUpTo, isLightSettled, releaseMemory } from "../../src/node/releaseMemory.ts"

describe("release of memory after a sync", () => {
  it.scoped("waits until the node stays at the tip, and releases once", () =>
    Effect.gen(function*() {
      let settled = false
      let released = 0
      yield* Effect.forkScoped(releaseMemory(Effect.sync(() => settled), Effect.sync(() => void released++)))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(released, 0)
      settled = true
      yield* TestClock.adjust("2 seconds")
      settled = false
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(released, 0, "the node was at the tip between two phases only")
      settled = true
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(released, 1)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(released, 1)
    }))

  it.effect("knows when a light part has nothing to do", () =>
    Effect.gen(function*() {
      const at = (phase: "headers" | "window" | "ready", unchecked: number) =>
        isLightSettled({
          progress: Effect.succeed({
            phase,
            unchecked,
            tip: { height: 1, hash: new Uint8Array(32) },
            headers: 1,
            blocks: 1,
            of: 1,
            names: 1
          })
        })
      assert.isFalse(yield* at("window", 0))
      assert.isFalse(yield* at("ready", 3))
      assert.isTrue(yield* at("ready", 0))
    }))

  it.effect("collects the garbage of this thread", () =>
    Effect.gen(function*() {
      const gone = new WeakRef({ some: "object" })
      // The heap of a test process may be above the limit of a node.
      yield* collectGarbageUpTo(Infinity)
      assert.isUndefined(gone.deref())
    }))
})
