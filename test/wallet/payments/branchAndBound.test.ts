import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { branchAndBound } from "../../../src/wallet/payments/branchAndBound.ts"
import { type Candidate, candidateOf } from "../../../src/wallet/payments/Candidate.ts"

const candidate = (index: number, effective: number, waste = 0, weight = 592): Candidate => ({
  index,
  value: effective,
  weight,
  fee: 0,
  effective,
  waste
})

const sum = (coins: ReadonlyArray<Candidate>): number => coins.reduce((total, { effective }) => total + effective, 0)
const wasteOf = (coins: ReadonlyArray<Candidate>, target: number): number =>
  coins.reduce((total, { waste }) => total + waste, 0) + sum(coins) - target
const weightOf = (coins: ReadonlyArray<Candidate>): number => coins.reduce((total, { weight }) => total + weight, 0)

/** Tries every minimal subset: the search adds no coin to a sufficient set. */
const bruteForce = (
  coins: ReadonlyArray<Candidate>,
  target: number,
  tolerance: number,
  maxWeight: number
): number | undefined => {
  const sorted = coins.filter(({ effective }) => effective > 0)
    .sort((a, b) => b.effective - a.effective || a.waste - b.waste || a.index - b.index)
  let least: number | undefined
  for (let mask = 1; mask < 1 << sorted.length; mask++) {
    const chosen = sorted.filter((_, i) => (mask >> i & 1) === 1)
    const smallest = chosen[chosen.length - 1]
    const total = sum(chosen)
    if (total < target || total > target + tolerance || weightOf(chosen) > maxWeight) continue
    if (total - (smallest?.effective ?? 0) >= target) continue
    const waste = wasteOf(chosen, target)
    if (least === undefined || waste < least) least = waste
  }
  return least
}

describe("branchAndBound", () => {
  it("finds the only matching set", () => {
    const coins = [10, 7, 5, 4].map((value, i) => candidate(i, value))
    const found = branchAndBound({ candidates: coins, target: 16, tolerance: 0, maxWeight: 10_000 })
    assert.deepStrictEqual(found?.map(({ effective }) => effective), [7, 5, 4])
  })

  it.each([
    { target: 9, tolerance: 0, found: false, why: "one below what the coin brings" },
    { target: 9, tolerance: 1, found: true, why: "exactly as much above as is borne" },
    { target: 10, tolerance: 0, found: true, why: "exactly" },
    { target: 11, tolerance: 5, found: false, why: "more than there is" }
  ])("returns $found for a coin of 10 and target $target ± $tolerance: $why", ({ found, target, tolerance }) => {
    const coins = [candidate(0, 10)]
    assert.strictEqual(branchAndBound({ candidates: coins, target, tolerance, maxWeight: 592 }) !== undefined, found)
  })

  it("skips coins that cost more than their value, and respects the weight limit", () => {
    const coins = [candidate(0, -5), candidate(1, 0), candidate(2, 3), candidate(3, 2)]
    const search = { candidates: coins, target: 5, tolerance: 0 }
    assert.deepStrictEqual(branchAndBound({ ...search, maxWeight: 1184 })?.map(({ index }) => index), [2, 3])
    assert.isUndefined(branchAndBound({ ...search, maxWeight: 1183 }))
  })

  it("stops if there are too many combinations", () => {
    const coins = Array.from({ length: 60 }, (_, i) => candidate(i, 2 ** 20 + 2 * i + 2))
    assert.isUndefined(branchAndBound({ candidates: coins, target: 2 ** 24 + 1, tolerance: 0, maxWeight: 1e9 }))
  })

  it("skips equal coins", () => {
    const coins = Array.from({ length: 1000 }, (_, i) => candidate(i, 1_000))
    assert.isUndefined(branchAndBound({ candidates: coins, target: 500_500, tolerance: 499, maxWeight: 1e9 }))
    assert.strictEqual(
      branchAndBound({ candidates: coins, target: 500_500, tolerance: 500, maxWeight: 1e9 })?.length,
      501
    )
  })

  it.prop("finds the least waste of all sets (brute force)", {
    coins: FastCheck.array(
      FastCheck.record({
        effective: FastCheck.integer({ min: -3, max: 40 }),
        waste: FastCheck.integer({ min: -6, max: 6 }),
        weight: FastCheck.integer({ min: 1, max: 4 })
      }),
      { maxLength: 9 }
    ),
    target: FastCheck.integer({ min: 1, max: 120 }),
    tolerance: FastCheck.integer({ min: 0, max: 6 }),
    maxWeight: FastCheck.integer({ min: 1, max: 30 }),
    growing: FastCheck.boolean()
  }, ({ coins, growing, maxWeight, target, tolerance }) => {
    const candidates = coins.map(({ effective, waste, weight }, i) =>
      candidate(i, effective, growing ? Math.abs(waste) : waste, weight)
    )
    const found = branchAndBound({ candidates, target, tolerance, maxWeight })
    const expected = bruteForce(candidates, target, tolerance, maxWeight)
    assert.strictEqual(found === undefined ? undefined : wasteOf(found, target), expected)
    if (found !== undefined) {
      assert.isAtLeast(sum(found), target)
      assert.isAtMost(sum(found), target + tolerance)
      assert.isAtMost(weightOf(found), maxWeight)
    }
  }, { fastCheck: { numRuns: 400 } })
})

describe("candidateOf", () => {
  it("rounds up the size of an input, then its fee", () => {
    const made = candidateOf(3, { value: 50_000, weight: 273 }, { feeRate: 100_001, longTermRate: 1_000_000 })
    assert.deepStrictEqual(made, {
      index: 3,
      value: 50_000,
      weight: 273,
      fee: 6901,
      effective: 43_099,
      waste: 6901 - 69_000
    })
  })
})
