import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, FastCheck } from "effect"
import { makeAside } from "../../../src/chain/indexes/aside.ts"
import { DIGEST_BYTES, EMPTY_SET, SET_BYTES, settleBlocks, settler } from "../../../src/chain/indexes/setChanges.ts"
import { SetThread } from "../../../src/chain/indexes/SetThread.ts"
import { MuHash } from "../../../src/protocol/muhash.ts"
import { Writer } from "../../../src/protocol/Writer.ts"
import { StorageUnavailable } from "../../../src/storage/errors.ts"
import { bytesOf } from "../../support/bytes.ts"
import { realThreads } from "../../support/threads.ts"

interface Changes {
  readonly added: ReadonlyArray<Uint8Array>
  readonly removed: ReadonlyArray<Uint8Array>
}

const pack = (blocks: ReadonlyArray<Changes>): Uint8Array<ArrayBuffer> => {
  const writer = new Writer()
  for (const { added, removed } of blocks) {
    writer.u32(added.length).u32(removed.length)
    for (const member of [...added, ...removed]) writer.varBytes(member)
  }
  return writer.toBytes()
}

const changes = FastCheck.record({
  added: FastCheck.array(bytesOf(0, 50), { maxLength: 4 }),
  removed: FastCheck.array(bytesOf(0, 50), { maxLength: 3 })
})

const some = pack([{ added: [Uint8Array.of(1), Uint8Array.of(2)], removed: [] }])
const more = pack([{ added: [], removed: [Uint8Array.of(1)] }, { added: [Uint8Array.of(3)], removed: [] }])

describe("the set after each block of a batch", () => {
  it("is that of all members so far", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(changes, { maxLength: 4 }), (blocks) => {
        const { digests, numbers } = settleBlocks(EMPTY_SET, pack(blocks))
        const set = new MuHash()
        for (const [i, { added, removed }] of blocks.entries()) {
          for (const member of added) set.add(member)
          for (const member of removed) set.remove(member)
          assert.deepStrictEqual(digests.slice(DIGEST_BYTES * i, DIGEST_BYTES * (i + 1)), set.digest())
        }
        assert.strictEqual(numbers.length, SET_BYTES * blocks.length)
      }),
      { numRuns: 20 }
    )
  })

  it("does not depend on how the blocks are cut into batches", () => {
    const settle = settler()
    const first = settle({ start: EMPTY_SET, packed: some })
    const second = settle({ start: undefined, packed: more })
    const whole = settleBlocks(EMPTY_SET, Uint8Array.from([...some, ...more]))
    assert.deepStrictEqual(whole.digests, Uint8Array.from([...first.digests, ...second.digests]))
    assert.deepStrictEqual(settleBlocks(first.numbers, more), second)
  })
})

describe("batches that wait for the thread", () => {
  it.scoped("are stored in order, and after a failure no more until the store begins again", () =>
    Effect.gen(function*() {
      const aside = yield* makeAside("coinstats.db")
      const stored: Array<number> = []
      const failure = new StorageUnavailable({ file: "coinstats.db", doing: "writing", reason: "the disk is full" })
      const hand = (number: number, fails = false) =>
        aside.settle(
          { start: EMPTY_SET, packed: some },
          () => fails ? Effect.fail(failure) : Effect.sync(() => void stored.push(number))
        )
      for (const number of [1, 2, 3, 4, 5, 6]) yield* hand(number)
      yield* aside.drained
      assert.deepStrictEqual(stored, [1, 2, 3, 4, 5, 6])
      assert.strictEqual(aside.pending(), 0)
      yield* hand(7, true)
      yield* hand(8)
      assert.deepStrictEqual(yield* Effect.exit(aside.drained), Exit.fail(failure))
      assert.deepStrictEqual(yield* Effect.exit(hand(9)), Exit.fail(failure))
      assert.deepStrictEqual(yield* Effect.exit(aside.rested), Exit.fail(failure))
      yield* aside.abandoned
      yield* hand(10)
      yield* aside.drained
      assert.deepStrictEqual(stored, [1, 2, 3, 4, 5, 6, 10])
    }))
})

describe("the thread", () => {
  it.effect("answers as this thread does, and starts again after its end", () =>
    Effect.promise(async () => {
      const thread = new SetThread(realThreads())
      const settle = settler()
      // The thread takes the bytes of a batch over.
      const handed = () => [
        { start: EMPTY_SET, packed: some.slice() },
        { start: undefined, packed: more.slice() }
      ]
      const batches = handed()
      const answers = await Promise.all(batches.map((batch) => thread.settle(batch)))
      assert.deepStrictEqual(answers, handed().map(settle))
      assert.isTrue(thread.isRunning)
      const lost = thread.settle({ start: undefined, packed: more.slice() })
      const [outcome] = await Promise.allSettled([lost, thread.end()])
      assert.strictEqual(outcome.status, "rejected")
      assert.isFalse(thread.isRunning)
      assert.deepStrictEqual(await thread.settle({ start: EMPTY_SET, packed: some.slice() }), answers[0])
      await thread.end()
    }))
})
