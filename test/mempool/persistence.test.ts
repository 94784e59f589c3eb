import { assert, describe, it } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { decodePool, encodePool } from "../../src/mempool/poolFile.ts"
import { DecodeError } from "../../src/protocol/Reader.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { output, pay, reward, withNode } from "../support/mempool.ts"

describe("the file of the mempool", () => {
  it.scoped("restores transactions, times, deltas and transactions that no peer has requested", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(0)
      const filename = join(yield* temporaryDirectory, "mempool.dat")
      const parent = pay([reward(1)], { fee: 0 })
      const child = pay([output(parent)])
      const stranger = pay([reward(2)])
      yield* withNode((node) =>
        Effect.gen(function*() {
          assert.isFalse(node.pool.info().loaded)
          yield* node.pool.load
          assert.isTrue(node.pool.info().loaded)
          yield* node.pool.prioritise(parent.txidKey, 10_000)
          yield* node.pool.prioritise(stranger.txidKey, -3)
          yield* node.take(parent)
          yield* TestClock.adjust("1 hour")
          yield* node.take(child)
          node.pool.broadcastLater(child.txidKey)
          node.pool.broadcastLater(stranger.txidKey)
          assert.strictEqual(node.pool.info().unbroadcast, 1)
        }), { filename })
      yield* withNode((node) =>
        Effect.gen(function*() {
          yield* node.pool.load
          const times = [...node.pool.entries()].map(({ time, transaction }) => [transaction.txidKey, time])
          assert.deepStrictEqual(times, [[parent.txidKey, 0], [child.txidKey, 3600]])
          assert.deepStrictEqual(
            new Map(node.pool.prioritised()),
            new Map([
              [parent.txidKey, 10_000],
              [stranger.txidKey, -3]
            ])
          )
          assert.isTrue(node.pool.isUnbroadcast(child.txidKey))
          node.pool.broadcastDone(child.txidKey)
          assert.isFalse(node.pool.isUnbroadcast(child.txidKey))
          assert.strictEqual(yield* node.pool.save, filename)
        }), { filename })
      // Expired transactions stay away, with their descendants.
      yield* TestClock.adjust("90 minutes")
      yield* withNode((node) =>
        Effect.gen(function*() {
          yield* node.pool.load
          assert.strictEqual(node.pool.info().size, 0)
        }), { filename, expiryHours: 2 })
    }))

  it.scoped("is not written before it was read", () =>
    Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "mempool.dat")
      yield* withNode(({ take }) => take(pay([reward(1)])), { filename })
      assert.isFalse(existsSync(filename))
    }))

  it.scoped("is renamed if it is damaged", () =>
    Effect.gen(function*() {
      const filename = join(yield* temporaryDirectory, "mempool.dat")
      yield* withNode((node) => Effect.zipRight(node.pool.load, node.take(pay([reward(1)]))), { filename })
      const bytes = readFileSync(filename)
      bytes[40] = (bytes[40] ?? 0) ^ 1
      writeFileSync(filename, bytes)
      yield* withNode((node) =>
        Effect.gen(function*() {
          yield* node.pool.load
          assert.strictEqual(node.pool.info().size, 0)
          assert.isTrue(node.pool.info().loaded)
          assert.isFalse(existsSync(filename))
          assert.deepStrictEqual(readFileSync(`${filename}.damaged`), bytes)
        }), { filename })
    }))

  it.effect("is missing for a pool in memory, and saving fails", () =>
    withNode((node) =>
      Effect.gen(function*() {
        yield* node.pool.load
        assert.isTrue(node.pool.info().loaded)
        assert.strictEqual((yield* Effect.flip(node.pool.save))._tag, "StorageUnavailable")
      })
    ))

  it("is refused with any bit changed, and cut off anywhere", () => {
    const transaction = pay([reward(1)])
    const content = {
      transactions: [{ transaction, time: 1_700_000_000 }],
      deltas: new Map([[transaction.txidKey, -5]]),
      unbroadcast: [transaction.txidKey]
    }
    const bytes = encodePool(content)
    const again = decodePool(bytes)
    assert.deepStrictEqual(encodePool(again), bytes)
    assert.deepStrictEqual(again.deltas, content.deltas)
    assert.strictEqual(again.transactions[0]?.time, 1_700_000_000)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Uint8Array.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 0x10
      assert.throws(() => decodePool(changed), DecodeError)
      assert.throws(() => decodePool(bytes.subarray(0, at)), DecodeError)
    }
  })
})
