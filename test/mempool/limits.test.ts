import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { output, pay, removals, reward, shown, withNode } from "../support/mempool.ts"

describe("the limits of the mempool", () => {
  it.effect("evict the worst chunks, and raise the minimum fee rate until a block connects and time passes", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const { maxUsage, usage: none } = node.pool.info()
        assert.strictEqual(none, 0)
        const worst = yield* node.take(pay([reward(1)], { fee: 20_000 }))
        const each = node.pool.info().usage
        const room = Math.floor(maxUsage / each)
        assert.strictEqual(room, 4)
        for (let i = 2; i <= room; i++) yield* node.take(pay([reward(i)], { fee: 100_000 + i }))
        assert.strictEqual(node.pool.info().minFeeRate, 100_000)
        const removed = yield* removals(node)
        yield* node.take(pay([reward(10)]))
        assert.deepStrictEqual(yield* removed, [[worst.txidKey, "size-limit"]])
        // 20,000 for 85 virtual bytes, plus one increment.
        const asked = Math.floor(20_000_000 / 85) + 100
        assert.strictEqual(node.pool.info().minFeeRate, asked)
        const fee = Math.ceil(asked * 85 / 1000)
        const poor = pay([reward(11)], { fee: fee - 1 })
        const error = yield* node.refused(poor)
        assert.deepStrictEqual([error.kind, shown(error)], [
          "underpaid",
          `mempool min fee not met, ${fee - 1} < ${fee}`
        ])
        // Enough to be checked, and the worst at once.
        const events = yield* removals(node)
        assert.strictEqual(shown(yield* node.refused(pay([reward(11)], { fee }))), "mempool full")
        assert.deepStrictEqual(yield* events, [])
        const now = node.pool.info().minFeeRate
        assert.strictEqual(now, Math.floor(fee * 1000 / 85) + 100)
        yield* TestClock.adjust("24 hours")
        assert.strictEqual(node.pool.info().minFeeRate, now)
        yield* node.mine()
        yield* TestClock.adjust("12 hours")
        assert.strictEqual(node.pool.info().minFeeRate, Math.max(100_000, Math.round(now / 2)))
      }), { maxUsage: 6_400 }))

  it.effect("expire a transaction and its descendants", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const old = yield* node.take(pay([reward(1)]))
        yield* TestClock.adjust("1 hour")
        const child = yield* node.take(pay([output(old)]))
        const young = yield* node.take(pay([reward(2)]))
        const removed = yield* removals(node)
        yield* TestClock.adjust("1 hour")
        assert.isTrue(node.has(old))
        yield* TestClock.adjust("10 minutes")
        yield* Effect.repeatN(Effect.yieldNow(), 50)
        assert.deepStrictEqual(yield* removed, [[child.txidKey, "expiry"], [old.txidKey, "expiry"]])
        assert.isTrue(node.has(young))
        // An arriving transaction triggers the expiry as well.
        yield* TestClock.adjust("45 minutes")
        assert.isTrue(node.has(young))
        yield* TestClock.adjust("6 minutes")
        yield* node.take(pay([reward(3)]))
        assert.isFalse(node.has(young))
      }), { expiryHours: 2 }))
})
