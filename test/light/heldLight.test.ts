import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { holdLight } from "../../src/light/heldLight.ts"
import { Light } from "../../src/light/Light.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { lightLayer } from "../support/lightNode.ts"

const onHeld = <A, E>(use: (light: typeof Light.Service) => Effect.Effect<A, E>) =>
  Effect.flatMap(
    temporaryDirectory,
    (directory) => Effect.scoped(Effect.flatMap(Light, use)).pipe(Effect.provide(lightLayer(directory)))
  )

describe("holdLight", () => {
  it.scopedLive("closes after the calls that use the node, and gives it to no new one", () =>
    onHeld((light) =>
      Effect.gen(function*() {
        let closed = false
        const held = yield* holdLight(
          light,
          Effect.sync(() => {
            closed = true
          })
        )
        const used = yield* Deferred.make<void>()
        const done = yield* Deferred.make<void>()
        const call = yield* Effect.fork(Effect.scoped(Effect.gen(function*() {
          assert.strictEqual(yield* held.hold, light)
          yield* Deferred.succeed(used, undefined)
          yield* Deferred.await(done)
          assert.isFalse(closed)
        })))
        yield* Deferred.await(used)
        const stopped = yield* Effect.fork(held.stop)
        yield* Effect.yieldNow()
        assert.isUndefined(held.current())
        assert.isUndefined(yield* Effect.scoped(held.hold))
        assert.isFalse(closed)
        yield* Deferred.succeed(done, undefined)
        yield* Fiber.join(call)
        yield* Fiber.join(stopped)
        assert.isTrue(closed)
      })
    ))
})
