import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { BASE, blockOn, output, pay, removals, reward, withNode } from "../support/mempool.ts"

describe("the mempool when the tip moves", () => {
  it.live("drops mined transactions, and those that conflict with them", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const mined = yield* node.take(pay([reward(1)]))
        const child = yield* node.take(pay([output(mined)]))
        const against = yield* node.take(pay([reward(2)]))
        const after = yield* node.take(pay([output(against)]))
        yield* node.pool.prioritise(mined.txidKey, 5)
        yield* node.pool.prioritise(against.txidKey, 5)
        const removed = yield* removals(node)
        yield* node.mine([mined, pay([reward(2)], { fee: 1 })])
        assert.deepStrictEqual(yield* removed, [
          [mined.txidKey, "block"],
          [after.txidKey, "conflict"],
          [against.txidKey, "conflict"]
        ])
        assert.isTrue(node.has(child))
        assert.strictEqual(node.pool.prioritised().size, 0)
        assert.lengthOf(node.pool.parents(child.txidKey), 0)
      })
    ))

  it.live("offers the transactions of disconnected blocks again, with any fee", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const a = pay([reward(1)], { fee: 0 })
        const b = pay([output(a)], { fee: 0 })
        const c = pay([output(b)])
        const first = yield* node.mine([a])
        yield* node.mine([b])
        yield* node.take(c)
        yield* node.chain.control.invalidate(first.hash)
        assert.deepStrictEqual(node.pool.ancestors(c.txidKey).map(({ transaction }) => transaction.txidKey), [
          a.txidKey,
          b.txidKey
        ])
        assert.lengthOf(node.pool.chunks(), 1)
        yield* node.chain.control.reconsider(first.hash)
        assert.deepStrictEqual([...node.pool.entries()].map(({ transaction }) => transaction.txidKey), [c.txidKey])
      })
    ))

  it.live("leaves out what the other branch mined, and drops what it made invalid", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const tip = yield* node.chain.block((yield* node.chain.tip).hash)
        const both = pay([reward(1)])
        const lost = pay([reward(2)])
        const back = pay([reward(3)])
        yield* node.mine([both, lost, back])
        const child = yield* node.take(pay([output(lost)]))
        const other = blockOn(tip, BASE + 1, [both, pay([reward(2)], { fee: 7 })], 1)
        yield* node.chain.sink.submit(other)
        assert.isTrue(node.has(child))
        yield* node.chain.sink.submit(blockOn(other, BASE + 2, [], 1))
        assert.strictEqual((yield* node.chain.tip).height, BASE + 2)
        assert.isTrue(node.has(back))
        assert.isFalse(node.has(both) || node.has(lost) || node.has(child))
      })
    ))

  it.live("drops transactions that are immature or no longer final", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const block = yield* node.mine()
        const young = yield* node.take(pay([reward(BASE + 1 - 99)]))
        const locked = yield* node.take(pay([reward(1)], { lockTime: BASE + 1 }))
        const relative = yield* node.take(pay([reward(2)], { sequence: BASE + 2 - 2 }))
        const fine = yield* node.take(pay([reward(3)]))
        const removed = yield* removals(node)
        yield* node.chain.control.invalidate(block.hash)
        assert.isTrue(node.has(fine))
        assert.deepStrictEqual(
          new Set((yield* removed).map(([txid, reason]) => `${reason} ${txid}`)),
          new Set([young, locked, relative].map(({ txidKey }) => `reorg ${txidKey}`))
        )
      })
    ))

  it.live("offers the ten highest blocks again, and drops what depends on deeper ones", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const deep = pay([reward(1)])
        const block = yield* node.mine([deep])
        const shallow = pay([reward(2)])
        yield* node.mine([shallow])
        yield* node.mineEmpty(9)
        const child = yield* node.take(pay([output(deep)]))
        yield* node.chain.control.invalidate(block.hash)
        assert.isTrue(node.has(shallow))
        assert.isFalse(node.has(deep) || node.has(child))
      })
    ))

  it.live("offers the transactions of all blocks of a deep reorg again", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const start = yield* node.chain.block((yield* node.chain.tip).hash)
        const deepest = pay([reward(1)])
        yield* node.mine([deepest])
        for (let i = 0; i < 11; i++) yield* node.mine()
        const highest = yield* node.take(pay([output(deepest)]))
        yield* node.mine([highest])
        let other = start
        for (let i = 1; i <= 14; i++) {
          other = blockOn(other, BASE + i, [], 1)
          yield* node.chain.sink.submit(other)
        }
        assert.strictEqual((yield* node.chain.tip).height, BASE + 14)
        assert.deepStrictEqual([...node.pool.entries()].map(({ transaction }) => transaction.txidKey), [
          deepest.txidKey,
          highest.txidKey
        ])
      })
    ))

  it.live("keeps clusters within their limits when disconnected blocks join them", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const root = pay([reward(1)], { outputs: 70 })
        const block = yield* node.mine([root])
        for (let vout = 0; vout < 70; vout++) yield* node.take(pay([output(root, vout)], { fee: 100_000 + vout }))
        yield* node.chain.control.invalidate(block.hash)
        assert.strictEqual(node.pool.info().size, 64)
        assert.isTrue(node.has(root))
      })
    ))
})
