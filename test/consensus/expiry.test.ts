import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { expirationDepth, expiringUpdateHeights, expiryHeight, isExpired } from "../../src/consensus/expiry.ts"
import { type ConsensusParams, mainnetParams, regtestParams, testnetParams } from "../../src/consensus/params.ts"

describe("expirationDepth", () => {
  it.each([
    { height: 0, depth: 12_000, why: "the first blocks" },
    { height: 23_999, depth: 12_000, why: "last block of the short life" },
    { height: 24_000, depth: 12_000, why: "the growing schedule begins where the short one ended" },
    { height: 24_001, depth: 12_001, why: "it grows by one a block" },
    { height: 47_999, depth: 35_999, why: "last block of the growing schedule" },
    { height: 48_000, depth: 36_000, why: "the schedule in force today" },
    { height: 900_000, depth: 36_000, why: "and for good" }
  ])("4.7 is $depth at $height: $why", ({ depth, height }) => {
    assert.strictEqual(expirationDepth(height, mainnetParams), depth)
    assert.strictEqual(expirationDepth(height, testnetParams), depth)
    assert.strictEqual(expirationDepth(height, regtestParams), 30)
  })
})

/** A.7: the heights at which a name last updated at `updated` may still be updated and may be registered again. */
const EXAMPLES: ReadonlyArray<readonly [ConsensusParams, number, number, number]> = [
  [mainnetParams, 100_000, 135_999, 136_000],
  [mainnetParams, 139_868, 175_867, 175_868],
  [mainnetParams, 5_000, 16_999, 17_000],
  [mainnetParams, 12_000, 23_999, 24_000],
  [mainnetParams, 12_001, 48_000, 48_001],
  [mainnetParams, 20_000, 55_999, 56_000],
  [regtestParams, 133, 162, 163]
]

const range = (height: number, params: ConsensusParams) => expiringUpdateHeights(height, params)

const holds = (height: number, updated: number, params: ConsensusParams): boolean => {
  const heights = range(height, params)
  return heights !== undefined && updated >= heights.from && updated <= heights.to
}

describe("isExpired and expiringUpdateHeights", () => {
  it.each(EXAMPLES)("A.7 %#: updated at %2$i", (params, updated, last, first) => {
    assert.isFalse(isExpired({ height: updated }, last, params))
    assert.isTrue(isExpired({ height: updated }, first, params))
    assert.isTrue(holds(last, updated, params), "the coin goes with the last block that may update")
    assert.isFalse(holds(last - 1, updated, params))
    assert.isFalse(holds(last + 1, updated, params))
  })

  it("4.7 nothing expires in the blocks from 24,001 to 48,000", () => {
    for (let height = 24_000; height < 48_000; height++) assert.isUndefined(range(height, mainnetParams))
    assert.deepStrictEqual(range(23_999, mainnetParams), { from: 12_000, to: 12_000 })
    assert.deepStrictEqual(range(48_000, mainnetParams), { from: 12_001, to: 12_001 })
  })

  it("4.7 nothing expires before a name can be old enough", () => {
    assert.isUndefined(range(0, mainnetParams))
    assert.isUndefined(range(11_998, mainnetParams))
    assert.deepStrictEqual(range(11_999, mainnetParams), { from: 0, to: 0 })
    assert.isUndefined(range(28, regtestParams))
    assert.deepStrictEqual(range(29, regtestParams), { from: 0, to: 0 })
  })

  it.prop("the range has exactly the names that are expired in the next block and were not in this one", {
    height: FastCheck.integer({ min: 0, max: 100_000 }),
    age: FastCheck.integer({ min: 0, max: 50_000 }),
    params: FastCheck.constantFrom(mainnetParams, testnetParams, regtestParams)
  }, ({ age, height, params }) => {
    const updated = height - age
    if (updated < 0) return
    const expires = isExpired({ height: updated }, height + 1, params) &&
      !isExpired({ height: updated }, height, params)
    assert.strictEqual(holds(height, updated, params), expires)
  })

  it("an expired name never becomes active as the chain grows", () => {
    for (const updated of [0, 11_999, 12_000, 12_001, 30_000]) {
      let expired = false
      for (let height = updated; height < updated + 60_000; height++) {
        const now = isExpired({ height: updated }, height, mainnetParams)
        if (expired) assert.isTrue(now)
        expired = now
      }
      assert.isTrue(expired)
    }
  })
})

describe("expiryHeight", () => {
  const check = (updated: number, params: ConsensusParams): void => {
    const height = expiryHeight(updated, params)
    assert.isTrue(isExpired({ height: updated }, height, params))
    assert.isFalse(isExpired({ height: updated }, height - 1, params))
  }

  it("is the first height at which a name is expired", () => {
    for (const updated of [0, 1, 11_999, 12_000, 12_001, 12_002, 23_999, 24_000, 24_001, 47_999, 48_000, 900_000]) {
      for (const params of [mainnetParams, testnetParams, regtestParams]) check(updated, params)
    }
    FastCheck.assert(FastCheck.property(FastCheck.nat(200_000), (updated) => check(updated, mainnetParams)))
  })
})
