import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as Lifecycle from "../../src/rpc/Lifecycle.ts"

describe("Lifecycle", () => {
  it.effect("goes from step to step, runs and stops", () =>
    Effect.gen(function*() {
      const lifecycle = yield* Lifecycle.Lifecycle
      assert.deepStrictEqual(lifecycle.phase(), { _tag: "WarmUp", step: "RPC server started" })
      yield* lifecycle.warmUp("Loading block index…")
      assert.deepStrictEqual(lifecycle.phase(), { _tag: "WarmUp", step: "Loading block index…" })
      yield* lifecycle.running
      assert.deepStrictEqual(lifecycle.phase(), { _tag: "Running" })
      yield* lifecycle.warmUp("too late")
      assert.deepStrictEqual(lifecycle.phase(), { _tag: "Running" })
      yield* lifecycle.stop
      assert.deepStrictEqual(lifecycle.phase(), { _tag: "Stopping" })
      yield* lifecycle.running
      assert.deepStrictEqual(lifecycle.phase(), { _tag: "Stopping" })
    }).pipe(Effect.provide(Lifecycle.layer)))

  it.effect("wakes the fiber that waits for a stop request, in the warm-up too, and however often it is made", () =>
    Effect.gen(function*() {
      const lifecycle = yield* Lifecycle.Lifecycle
      const waiting = yield* Effect.fork(lifecycle.stopRequested)
      yield* Effect.yieldNow()
      assert.isNull(waiting.unsafePoll())
      yield* lifecycle.stop
      yield* lifecycle.stop
      yield* Fiber.join(waiting)
      yield* lifecycle.stopRequested
    }).pipe(Effect.provide(Lifecycle.layer)))
})
