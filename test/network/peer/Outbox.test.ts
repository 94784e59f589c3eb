import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, TestClock } from "effect"
import { MemoryBudget } from "../../../src/base/MemoryBudget.ts"
import { Outbox, type OutboxLimits } from "../../../src/network/peer/Outbox.ts"
import { PeerMemory } from "../../../src/network/peer/PeerMemory.ts"
import type { Message } from "../../../src/network/wire/message.ts"
import { regtest } from "../../../src/protocol/networks.ts"

/** A message whose frame has this size. */
const sized = (size: number): Message => ({ type: "unknown", command: `m${size}`, payload: new Uint8Array(size - 24) })

/** The outbox of an inbound peer, with its memory counted in a budget. */
const outboxIn = (budget: MemoryBudget, limits: OutboxLimits) => {
  const seen = { evicted: false }
  const memory = new PeerMemory(budget, {
    name: "a",
    type: "inbound",
    evict: () => {
      seen.evicted = true
      outbox.close()
    }
  })
  const outbox = new Outbox(regtest.magic, limits, memory.outbox)
  return { outbox, seen }
}

const outboxOf = (limits: OutboxLimits): Outbox => outboxIn(new MemoryBudget(1_000_000), limits).outbox

describe("Outbox", () => {
  it.effect("messages are taken in order, whether they are queued already or added later", () =>
    Effect.gen(function*() {
      const outbox = outboxOf({ soft: 100, hard: 200 })
      outbox.add(sized(30))
      outbox.add(sized(31))
      assert.strictEqual((yield* outbox.take).frame.length, 30)
      assert.strictEqual((yield* outbox.take).command, "m31")
      const later = yield* Effect.fork(outbox.take)
      yield* Effect.yieldNow()
      outbox.add(sized(32))
      assert.strictEqual((yield* Fiber.join(later)).frame.length, 32)
    }))

  it.effect("put waits at the soft limit until enough bytes are delivered, not only taken", () =>
    Effect.gen(function*() {
      const outbox = outboxOf({ soft: 100, hard: 1_000 })
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

  it("add accepts messages up to exactly the hard limit, but always a first message", () => {
    const outbox = outboxOf({ soft: 100, hard: 200 })
    assert.isTrue(outbox.add(sized(150)))
    assert.isTrue(outbox.add(sized(50)))
    assert.isFalse(outbox.add(sized(24)))
    outbox.delivered(200)
    assert.isTrue(outbox.add(sized(500)))
  })

  it.effect("all waiting senders continue once the outbox is closed", () =>
    Effect.gen(function*() {
      const outbox = outboxOf({ soft: 100, hard: 200 })
      outbox.add(sized(150))
      const waiting = yield* Effect.fork(outbox.put(sized(40)))
      yield* Effect.yieldNow()
      outbox.close()
      yield* Fiber.join(waiting)
      outbox.delivered(150)
      assert.isTrue(outbox.add(sized(500)))
      assert.strictEqual(outbox.bytes, 0)
    }))

  it.effect("ready waits until most of the queue is delivered", () =>
    Effect.gen(function*() {
      const outbox = outboxOf({ soft: 100, hard: 1_000 })
      yield* outbox.ready
      outbox.add(sized(90))
      const waiting = yield* Effect.fork(outbox.ready)
      yield* outbox.take
      outbox.delivered(60)
      yield* Effect.yieldNow()
      assert.isNull(waiting.unsafePoll())
      outbox.delivered(6)
      yield* Fiber.join(waiting)
      outbox.add(sized(90))
      const other = yield* Effect.fork(outbox.ready)
      outbox.close()
      yield* Fiber.join(other)
    }))

  it.effect("unread bytes are counted: the largest holders are evicted, and a peer that reads is never refused", () =>
    Effect.gen(function*() {
      const budget = new MemoryBudget(1_000_000)
      const limit = budget.limit("outbox")
      const slow = Array.from({ length: 10 }, () => outboxIn(budget, { soft: 10_000, hard: 80_000 }))
      for (const { outbox } of slow) assert.isTrue(yield* outbox.put(sized(15_000)))
      assert.isAtMost(budget.held("outbox"), limit)
      assert.lengthOf(slow.filter(({ seen }) => seen.evicted), 4)
      const honest = outboxIn(budget, { soft: 10_000, hard: 80_000 })
      for (let i = 0; i < 100; i++) {
        yield* honest.outbox.ready
        assert.isTrue(yield* honest.outbox.put(sized(9_000)))
        yield* honest.outbox.take
        honest.outbox.delivered(9_000)
      }
      assert.isFalse(honest.seen.evicted)
      // More than a quarter of the kind is too much for one peer.
      assert.isFalse(yield* honest.outbox.put(sized(26_000)))
      for (const { outbox } of slow) outbox.close()
      assert.strictEqual(budget.held("outbox"), 0)
    }))

  it.effect("a peer waits some seconds for more room while memory is scarce", () =>
    Effect.gen(function*() {
      const budget = new MemoryBudget(1_000_000)
      const [first, second] = [0, 1].map(() => outboxIn(budget, { soft: 100_000, hard: 100_000 }).outbox)
      if (first === undefined || second === undefined) return assert.fail("no outboxes")
      budget.open({ owner: "b", share: 1, evictable: true, evict: () => {} }).take("outbox", 30_000)
      first.add(sized(24_000))
      second.add(sized(1_000))
      yield* second.ready
      const waiting = yield* Effect.fork(first.ready)
      yield* TestClock.adjust("4 seconds")
      assert.isNull(waiting.unsafePoll())
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(waiting)
    }))
})
