import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { Heap } from "../../../src/mempool/graph/Heap.ts"

const ascending = (a: number, b: number): number => a - b

const drain = (heap: Heap<number>): Array<number> => {
  const items: Array<number> = []
  for (let item = heap.pop(); item !== undefined; item = heap.pop()) items.push(item)
  return items
}

const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 20 }).map((item) => ["push", item] as const) },
    { weight: 2, arbitrary: fc.constant(["pop", 0] as const) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 5 }).map((divisor) => ["retain", divisor] as const) }
  ),
  { maxLength: 60 }
)

describe("Heap", () => {
  it("is empty at first", () => {
    const heap = new Heap(ascending)
    assert.deepStrictEqual([heap.size, heap.peek(), heap.pop()], [0, undefined, undefined])
  })

  it("returns items in order", () => {
    fc.assert(fc.property(fc.array(fc.integer()), (items) => {
      const heap = new Heap(ascending)
      for (const item of items) heap.push(item)
      assert.deepStrictEqual(drain(heap), items.sort(ascending))
    }))
  })

  it("agrees with a sorted list after any operations", () => {
    fc.assert(fc.property(steps, (all) => {
      const heap = new Heap(ascending)
      let list: Array<number> = []
      for (const [step, number] of all) {
        if (step === "push") {
          heap.push(number)
          list = [...list, number].sort(ascending)
        } else if (step === "pop") assert.strictEqual(heap.pop(), list.shift())
        else {
          heap.retain((item) => item % number !== 0)
          list = list.filter((item) => item % number !== 0)
        }
        assert.deepStrictEqual([heap.size, heap.peek()], [list.length, list[0]])
      }
      assert.deepStrictEqual(drain(heap), list)
    }))
  })
})
