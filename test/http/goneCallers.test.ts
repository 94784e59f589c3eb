import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { MemoryBudget } from "../../src/base/MemoryBudget.ts"
import { answerBatch } from "../../src/rpc/batch.ts"
import { CallerMemory } from "../../src/rpc/CallerMemory.ts"
import { SlowLane } from "../../src/rpc/SlowLane.ts"

/** The work that continues for callers whose connection has ended. */

/** 2 MB for answers, of which one caller may hold half. */
const small = () => new MemoryBudget(10_000_000)

const caller = (budget: MemoryBudget, name: string) => {
  let ended = false
  const memory = new CallerMemory(budget, name, () => {
    ended = true
    memory.close()
  })
  return { memory, ended: () => ended }
}

const PART = 900_000

describe("a caller whose connection has ended", () => {
  it.effect("for the memory that it held: its batch ends at the next element", () =>
    Effect.gen(function*() {
      const budget = small()
      const hostile = caller(budget, "hostile")
      assert.isTrue(hostile.memory.answers.take(PART + 1))
      let answered = 0
      const answer = () =>
        Effect.sync(() => {
          answered++
          if (answered < 3) return "1"
          // Two other callers need the memory that is left.
          for (const name of ["one", "other"]) assert.isTrue(caller(budget, name).memory.answers.take(PART))
          return "1"
        })
      const elements = Array.from({ length: 1_000 }, () => null)
      const options = { memory: hostile.memory.answers, turns: new SlowLane().open(), maxReply: 1_000_000, answer }
      const { status } = yield* answerBatch(elements, options)
      assert.isTrue(hostile.ended())
      assert.deepStrictEqual([answered, status], [3, 500])
    }))

  it("by itself: the memory of its calls stays counted until they end", () => {
    const budget = small()
    const { memory } = caller(budget, "impatient")
    const releases = [memory.hold(100_000), memory.hold(200_000), memory.hold(100)]
    memory.close()
    assert.strictEqual(budget.held("rpc_bodies"), 300_000)
    assert.isUndefined(memory.hold(100_000), "and it begins nothing more")
    for (const release of releases) release?.()
    assert.strictEqual(budget.held("rpc_bodies"), 0)
  })
})
