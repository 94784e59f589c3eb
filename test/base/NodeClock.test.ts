import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import * as NodeClock from "../../src/base/NodeClock.ts"

describe("NodeClock", () => {
  it.live("the clock stays at a set time, and continues with the real time after a reset", () =>
    Effect.gen(function*() {
      const clock = yield* NodeClock.MockTime
      assert.isUndefined(yield* clock.current)
      const before = Date.now()
      const real = yield* Clock.currentTimeMillis
      assert.isTrue(real >= before && real <= Date.now())
      yield* clock.set(1_700_000_000)
      assert.strictEqual(yield* clock.current, 1_700_000_000)
      assert.strictEqual(yield* Clock.currentTimeMillis, 1_700_000_000_000)
      const unsafe = yield* Effect.clock
      assert.strictEqual(unsafe.unsafeCurrentTimeMillis(), 1_700_000_000_000)
      const fiber = yield* Effect.fork(Clock.currentTimeMillis)
      assert.strictEqual(yield* fiber.await.pipe(Effect.flatten), 1_700_000_000_000)
      yield* clock.set(undefined)
      assert.isAtLeast(yield* Clock.currentTimeMillis, before)
    }).pipe(Effect.provide(NodeClock.layer())))

  it.live("measuring and sleeping use the real clock", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Clock.currentTimeMillis, 5_000)
      const before = yield* Clock.currentTimeNanos
      yield* Effect.sleep("20 millis")
      const passed = Number((yield* Clock.currentTimeNanos) - before) / 1e6
      assert.isTrue(passed > 15 && passed < 5_000, `${passed} ms`)
      assert.strictEqual(yield* Clock.currentTimeMillis, 5_000)
    }).pipe(Effect.provide(NodeClock.layer(5))))

  it.live("the time of peers passes, stands still while the time is set, and jumps with it, without other jumps", () =>
    Effect.gen(function*() {
      const mock = yield* NodeClock.MockTime
      const { now, sleep } = yield* NodeClock.peerTime
      const start = now()
      yield* Effect.sleep("5 millis")
      assert.isAbove(now(), start)
      const wall = Math.floor(Date.now() / 1000)
      yield* mock.set(wall + 100)
      const frozen = now()
      assert.isTrue(frozen > start + 95_000 && frozen < start + 105_000, `${frozen - start} ms`)
      yield* Effect.sleep("5 millis")
      assert.strictEqual(now(), frozen)
      const sleeper = yield* Effect.fork(sleep(3_600_000))
      yield* Effect.sleep("5 millis")
      yield* mock.set(wall + 130)
      yield* sleeper.await
      assert.strictEqual(now(), frozen + 30_000)
      yield* mock.set(undefined)
      assert.isTrue(now() < start + 10_000, `${now() - start} ms`)
      const again = now()
      yield* Effect.sleep("5 millis")
      assert.isTrue(now() > again && now() < again + 5_000)
    }).pipe(Effect.provide(NodeClock.layer())))

  it.live("layers that are built on the clock use it", () =>
    Effect.gen(function*() {
      class Built extends Context.Tag("test/Built")<Built, Clock.Clock>() {}
      const built = Layer.effect(Built, Effect.clock).pipe(Layer.provideMerge(NodeClock.layer(7)))
      const time = yield* Effect.provide(Effect.map(Built, (clock) => clock.unsafeCurrentTimeMillis()), built)
      assert.strictEqual(time, 7_000)
    }))
})
