import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { compareRates, feeOf, policyWeight, rateOf, virtualSize } from "../../../src/mempool/policy/feeRate.ts"
import { MAX_MONEY } from "../../../src/protocol/amount.ts"

const fees = fc.integer({ min: -MAX_MONEY, max: MAX_MONEY })

const sizes = fc.integer({ min: 1, max: 25_600_000 })

/** Rates that differ by a common factor, so that they are equal or nearly so. */
const closeRates = fc.record({
  fee: fc.integer({ min: 1, max: 2 ** 40 }),
  weight: fc.integer({ min: 1, max: 40_000 }),
  factor: fc.integer({ min: 1, max: 1000 }),
  off: fc.integer({ min: -1, max: 1 })
}).map(({ factor, fee, off, weight }) =>
  [
    { fee, weight },
    { fee: fee * factor + off, weight: weight * factor }
  ] as const
)

const sign = (value: number | bigint): number => value > 0 ? 1 : value < 0 ? -1 : 0

describe("feeOf", () => {
  it("rounds up to whole units", () => {
    assert.deepStrictEqual([0, 1, 999, 1000, 1001].map((vsize) => feeOf(1, vsize)), [0, 1, 1, 1, 2])
    assert.deepStrictEqual([141, 200].map((vsize) => feeOf(100_000, vsize)), [14_100, 20_000])
    assert.deepStrictEqual([10, 11].map((vsize) => feeOf(100, vsize)), [1, 2])
  })

  it("returns 0, not -0, if there is nothing to pay", () => {
    assert.strictEqual(Object.is(feeOf(0, 250), 0), true)
    assert.strictEqual(Object.is(feeOf(100, 0), 0), true)
  })

  it("is exact when the product is not", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: MAX_MONEY }), sizes, (rate, vsize) => {
      fc.pre(BigInt(rate) * BigInt(vsize) < BigInt(Number.MAX_SAFE_INTEGER) * 1000n)
      assert.strictEqual(BigInt(feeOf(rate, vsize)), (BigInt(rate) * BigInt(vsize) + 999n) / 1000n)
    }))
    // Among them quotients that a double cannot distinguish from the next whole number.
    assert.strictEqual(feeOf(Number.MAX_SAFE_INTEGER - 990, 1), 9_007_199_254_741)
    assert.strictEqual(feeOf(9_000_000_000_000_001, 1), 9_000_000_000_001)
  })
})

describe("rateOf", () => {
  it("rounds down, below zero too", () => {
    assert.deepStrictEqual([[1, 3], [2, 3], [3, 3], [-1, 3]].map(([fee = 0, vsize = 0]) => rateOf({ fee, vsize })), [
      333,
      666,
      1000,
      -334
    ])
  })

  it("is 0 for a size of 0", () => {
    assert.strictEqual(rateOf({ fee: 5, vsize: 0 }), 0)
  })

  it("is the highest rate whose fee does not exceed the paid one", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 10 ** 12 }), fc.integer({ min: 1, max: 100_000 }), (fee, vsize) => {
      const rate = rateOf({ fee, vsize })
      assert.isAtMost(feeOf(rate, vsize), fee)
      assert.isAbove((rate + 1) * vsize, fee * 1000)
    }))
  })
})

describe("compareRates", () => {
  it("agrees with whole numbers of any size", () => {
    fc.assert(fc.property(fees, sizes, fees, sizes, (feeA, weightA, feeB, weightB) => {
      const order = compareRates({ fee: feeA, weight: weightA }, { fee: feeB, weight: weightB })
      assert.strictEqual(sign(order), sign(BigInt(feeA) * BigInt(weightB) - BigInt(feeB) * BigInt(weightA)))
    }))
  })

  it("distinguishes rates that differ by one unit", () => {
    fc.assert(fc.property(closeRates, ([a, b]) => {
      const exact = BigInt(a.fee) * BigInt(b.weight) - BigInt(b.fee) * BigInt(a.weight)
      assert.strictEqual(sign(compareRates(a, b)), sign(exact))
      assert.strictEqual(sign(compareRates(b, a)), -sign(exact) + 0)
    }))
  })

  it("finds equal rates equal when products are rounded", () => {
    const a = { fee: MAX_MONEY - 1, weight: 4_000_001 }
    assert.strictEqual(compareRates(a, { fee: 3 * a.fee, weight: 3 * a.weight }), 0)
    assert.isBelow(compareRates(a, { fee: 3 * a.fee + 1, weight: 3 * a.weight }), 0)
    assert.isAbove(compareRates(a, { fee: 3 * a.fee - 1, weight: 3 * a.weight }), 0)
  })
})

describe("policyWeight", () => {
  it("is the weight, or 20 a unit of sigop cost if that is higher", () => {
    assert.deepStrictEqual([0, 28, 29].map((cost) => policyWeight({ weight: 561 }, { cost })), [561, 561, 580])
  })
})

describe("virtualSize", () => {
  it("rounds up", () => {
    assert.deepStrictEqual([400, 401, 403, 404].map(virtualSize), [100, 101, 101, 101])
  })
})
