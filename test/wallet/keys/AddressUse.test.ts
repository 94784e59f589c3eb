import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { AddressUse } from "../../../src/wallet/keys/AddressUse.ts"

const REACH = 5

/** What a recovery finds of the indexes that blocks pay to. */
const recovered = (paid: ReadonlySet<number>): ReadonlySet<number> => {
  const found = new Set<number>()
  for (let index = 0, end = REACH; index < end; index++) {
    if (!paid.has(index)) continue
    found.add(index)
    end = index + 1 + REACH
  }
  return found
}

const fresh = (next = 0): AddressUse => new AddressUse({ start: 0, next, reach: REACH })

describe("AddressUse", () => {
  it("offers nothing beyond the reach, and again the next index once one is paid", () => {
    const use = fresh()
    for (let index = 0; index < REACH; index++) {
      assert.strictEqual(use.offer("found"), index)
      use.take(index)
    }
    assert.isUndefined(use.offer("found"))
    assert.strictEqual(use.left, 0)
    use.markUsed(2, false)
    assert.isUndefined(use.offer("found"), "a payment in no block is not found")
    use.markUsed(2, true)
    assert.strictEqual(use.offer("found"), REACH)
    assert.strictEqual(use.left, 3)
  })

  it("counts what an earlier version gave out beyond the reach", () => {
    const use = fresh(20)
    assert.strictEqual(use.left, REACH - 20)
    use.markUsed(12, true)
    assert.strictEqual(use.lost, 1)
    for (const index of [3, 8]) use.markUsed(index, true)
    assert.strictEqual(use.lost, 0)
    assert.strictEqual(use.wordsEnd, 13 + REACH)
  })

  it("gives a reserved index to no other caller before its release", () => {
    const use = fresh()
    const release = use.reserve(0)
    assert.strictEqual(use.offer("found"), 1)
    assert.strictEqual(use.freeBelow(REACH), REACH - 1)
    assert.strictEqual(use.freeBelow(0), 0)
    release()
    assert.strictEqual(use.freeBelow(REACH), REACH)
    assert.strictEqual(use.offer("found"), 0)
    assert.strictEqual(use.next, 0)
  })

  it("shows different indexes to drafts in a row, and takes none", () => {
    const use = fresh()
    assert.deepStrictEqual([0, 1, 2, 3, 4, 5].map(() => use.offerDraft(3)), [0, 1, 2, 0, 1, 2])
    assert.strictEqual(use.next, 0)
  })

  it("never offers an index whose payment a recovery would not find", () => {
    const step = FastCheck.tuple(
      FastCheck.constantFrom("found" as const, "again" as const, "draft" as const, "reserve" as const),
      // Whether it is given up, sent, or in a block; and how long that takes.
      FastCheck.constantFrom("never" as const, "sent" as const, "block" as const),
      FastCheck.nat(4)
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(step, { maxLength: 80 }), (steps) => {
        const use = fresh()
        const paid = new Set<number>()
        const later: Array<() => void> = []
        for (const [how, fate, delay] of steps) {
          const index = how === "draft"
            ? use.offerDraft(use.next + REACH)
            : use.offer(how === "found" ? "found" : "again")
          if (index === undefined) continue
          const release = how === "reserve" ? use.reserve(index) : () => {}
          if (how === "found") use.take(index)
          const end = (): void => {
            if (fate !== "never") use.markUsed(index, false)
            release()
            if (fate !== "block") return
            use.markUsed(index, true)
            paid.add(index)
          }
          later.splice(Math.max(0, later.length - delay), 0, end)
          if (later.length > 4) later.shift()?.()
          assert.strictEqual(use.lost, 0)
        }
        for (const end of later) end()
        assert.strictEqual(use.lost, 0)
        assert.deepStrictEqual(recovered(paid), paid)
      }),
      { numRuns: 500 }
    )
  })
})
