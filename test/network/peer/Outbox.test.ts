import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Outbox } from "../../../src/network/peer/Outbox.ts"
import type { Message } from "../../../src/network/wire/message.ts"

/** A message whose frame has this size. */
const sized = (size: number): Message => ({ type: "unknown", command: `m${size}`, payload: new Uint8Array(size - 24) })

describe("Outbox", () => {
  it.effect("gives messages in order, whether they are there or come later", () =>
    Effect.gen(function*() {
      const outbox = new Outbox({ soft: 100, hard: 200 })
      outbox.add(sized(30))
      outbox.add(sized(31))
      assert.strictEqual((yield* outbox.take).size, 30)
      assert.strictEqual((yield* outbox.take).command, "m31")
      const later = yield* Effect.fork(outbox.take)
      yield* Effect.yieldNow()
      outbox.add(sized(32))
      assert.strictEqual((yield* Fiber.join(later)).size, 32)
    }))

  it.effect("waits at the soft limit until enough is delivered, not merely taken", () =>
    Effect.gen(function*() {
      const outbox = new Outbox({ soft: 100, hard: 1_000 })
      yield* outbox.put(sized(99))
      yield* outbox.put(sized(30))
      assert.strictEqual(outbox.bytes, 129)
      const waiting = yield* Effect.fork(outbox.put(sized(40)))
      yield* outbox.take
      yield* Effect.yieldNow()
      assert.strictEqual(outbox.bytes, 129)
      outbox.delivered(29)
      yield* Effect.yieldNow()
      assert.strictEqual(outbox.bytes, 100)
      outbox.delivered(1)
      yield* Fiber.join(waiting)
      assert.strictEqual(outbox.bytes, 139)
    }))

  it("adds up to the hard limit and not a byte beyond, but always a first message", () => {
    const outbox = new Outbox({ soft: 100, hard: 200 })
    assert.isTrue(outbox.add(sized(150)))
    assert.isTrue(outbox.add(sized(50)))
    assert.isFalse(outbox.add(sized(24)))
    outbox.delivered(200)
    assert.isTrue(outbox.add(sized(500)))
  })

  it.effect("lets everybody go on once it is closed", () =>
    Effect.gen(function*() {
      const outbox = new Outbox({ soft: 100, hard: 200 })
      outbox.add(sized(150))
      const waiting = yield* Effect.fork(outbox.put(sized(40)))
      yield* Effect.yieldNow()
      outbox.close()
      yield* Fiber.join(waiting)
      outbox.delivered(150)
      assert.isTrue(outbox.add(sized(500)))
      assert.strictEqual(outbox.bytes, 0)
    }))
})
