import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger, Queue, TestClock } from "effect"
import { NO_HEADER } from "../../../src/chain/index/HeaderTree.ts"
import { BlockOrder, type ReceivedBlock } from "../../../src/network/sync/BlockOrder.ts"
import { writeBlocks, type Written } from "../../../src/network/sync/BlockWriter.ts"
import { Block, decodeBlock } from "../../../src/protocol/block.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import { BranchTree, GENESIS as FIRST } from "./branchTree.ts"

const GENESIS = decodeBlock(regtest.genesisBlock)

/** A chain of headers that stores blocks in order, and a writer. */
const begin = (blocks: number, fails = false, defects = 0) =>
  Effect.gen(function*() {
    const tree = new BranchTree()
    const ids = tree.grow(FIRST, blocks)
    const blockOrder = new BlockOrder(tree)
    const wakeUps = yield* Queue.sliding<void>(1)
    const delivered: Array<{ readonly count: number; readonly bulk: boolean }> = []
    const written: Array<Written> = []
    const lost: Array<ReceivedBlock> = []
    let stored = 0
    let left = defects
    const fiber = yield* Effect.fork(
      writeBlocks({
        sink: {
          deliver: (batch, bulk) =>
            Effect.suspend(() => {
              if (fails) {
                return Effect.fail(new StorageUnavailable({ file: "blk00000.dat", doing: "writing", reason: "full" }))
              }
              if (left-- > 0) return Effect.dieMessage("a defect")
              delivered.push({ count: batch.length, bulk })
              for (let i = 0; i < batch.length; i++) tree.store(ids[stored++] ?? NO_HEADER)
              return Effect.succeed({ refused: batch.map(() => undefined), judged: [] })
            })
        },
        tree: { best: () => ids.at(-1) ?? NO_HEADER, height: tree.height, tip: tree.tip },
        blockOrder,
        wakeUps,
        time: { ran: 0 },
        report: (one) =>
          Effect.sync(() => {
            blockOrder.done(one.batch)
            written.push(one)
          }),
        lost: (batch) =>
          Effect.sync(() => {
            blockOrder.done(batch)
            lost.push(...batch)
          })
      }).pipe(Effect.provide(Logger.remove(Logger.defaultLogger)))
    )
    const give = (from: number, to: number) =>
      Effect.gen(function*() {
        for (let height = from; height <= to; height++) {
          const block = new Block({
            bytes: new Uint8Array(100),
            header: GENESIS.header,
            auxpow: undefined,
            transactions: []
          })
          blockOrder.push({ id: ids[height - 1] ?? NO_HEADER, block, peer: peerId(0), compact: false, slot: undefined })
        }
        wakeUps.unsafeOffer(undefined)
        for (let i = 0; i < 50; i++) yield* Effect.yieldNow()
      })
    return { delivered, written, lost, give, fiber }
  })

describe("writeBlocks", () => {
  it.effect("blocks are stored in bulk while more than 16 are missing, then settled", () =>
    Effect.gen(function*() {
      const { delivered, give, written } = yield* begin(100)
      yield* give(1, 70)
      assert.deepStrictEqual(delivered, [{ count: 64, bulk: true }, { count: 6, bulk: true }])
      yield* give(71, 84)
      yield* give(85, 100)
      assert.deepStrictEqual(delivered.slice(2), [{ count: 14, bulk: true }, { count: 16, bulk: false }])
      assert.deepStrictEqual(written.map(({ settled }) => settled), [false, false, false, true])
    }))

  it.effect("blocks settle at once if a bulk write includes the last one", () =>
    Effect.gen(function*() {
      const { delivered, give } = yield* begin(60)
      yield* give(1, 60)
      assert.deepStrictEqual(delivered, [{ count: 60, bulk: true }, { count: 0, bulk: false }])
    }))

  it.effect("blocks settle once if no block arrives for 300 milliseconds", () =>
    Effect.gen(function*() {
      const { delivered, give } = yield* begin(100)
      yield* give(1, 10)
      yield* TestClock.adjust("299 millis")
      assert.lengthOf(delivered, 1)
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(delivered.slice(1), [{ count: 0, bulk: false }])
      yield* TestClock.adjust("1 hour")
      assert.lengthOf(delivered, 2)
      yield* give(11, 12)
      assert.deepStrictEqual(delivered.slice(2), [{ count: 2, bulk: true }])
    }))

  it.effect("blocks hit by a defect are reported, and the writer continues after a second", () =>
    Effect.gen(function*() {
      const { delivered, give, lost, written } = yield* begin(3, false, 1)
      yield* give(1, 2)
      assert.lengthOf(lost, 2)
      yield* give(1, 3)
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(delivered, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(delivered, [{ count: 3, bulk: false }])
      assert.deepStrictEqual(written.map(({ batch }) => batch.length), [3])
    }))

  it.effect("the writer fails with the chain", () =>
    Effect.gen(function*() {
      const { fiber, give } = yield* begin(3, true)
      yield* give(1, 1)
      assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "StorageUnavailable")
    }))
})
