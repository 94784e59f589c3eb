import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { formatAmount, formatMoney, parseFixedPoint, shortAmount } from "../../src/protocol/amount.ts"

describe("formatAmount", () => {
  it.each([
    [0, "0.00000000"],
    [1, "0.00000001"],
    [-1, "-0.00000001"],
    [99_999_999, "0.99999999"],
    [100_000_000, "1.00000000"],
    [5_000_000_000, "50.00000000"],
    [1_000_000, "0.01000000"],
    [-1_024_800, "-0.01024800"],
    [2_100_000_000_000_000, "21000000.00000000"],
    [-2_100_000_000_000_000, "-21000000.00000000"]
  ])("prints %d as %s", (units, text) => {
    assert.strictEqual(formatAmount(units), text)
  })

  it.prop("prints exactly eight decimals that spell the amount", {
    units: FastCheck.integer({ min: -2_100_000_000_000_000, max: 2_100_000_000_000_000 })
  }, ({ units }) => {
    const text = formatAmount(units)
    assert.match(text, /^-?\d+\.\d{8}$/)
    assert.strictEqual(Number(text.replace(".", "")), units)
  })

  it("refuses a number that is not an integer", () => {
    assert.throws(() => formatAmount(0.5), RangeError)
    assert.throws(() => formatAmount(Number.NaN), RangeError)
  })

  it("prints integers that a double cannot hold exactly", () => {
    assert.strictEqual(formatAmount(-9_223_372_036_854_775_807n), "-92233720368.54775807")
    assert.strictEqual(formatAmount(2 ** 53 + 2), "90071992.54740994")
  })
})

describe("formatMoney", () => {
  it.each([
    [0, "0.00"],
    [-100_000_000, "-1.00"],
    [1_000_000, "0.01"],
    [100_000, "0.001"],
    [150_000_001, "1.50000001"],
    [1_000_000_000, "10.00"]
  ])("prints %d as %s", (units, text) => {
    assert.strictEqual(formatMoney(units), text)
  })
})

describe("shortAmount", () => {
  it.each([[0, "0"], [1_000_000_000, "10"], [-150_000_000, "-1.5"], [1, "0.00000001"]])(
    "prints %d as %s",
    (units, text) => {
      assert.strictEqual(shortAmount(units), text)
    }
  )
})

describe("parseFixedPoint", () => {
  it.each([
    ["0", 0],
    ["1", 100_000_000],
    ["0.00000001", 1],
    ["0.000000010", 1],
    ["0.000000001", undefined],
    ["1e-8", 1],
    ["1e-9", undefined],
    ["1E+2", 10_000_000_000],
    ["10e-9", 1],
    ["0.1e1", 100_000_000],
    ["-1", -100_000_000],
    ["-0", 0],
    ["0.000000000000", 0],
    ["0e-8", 0],
    ["0e-9", undefined],
    ["0e9", 0],
    ["0e10", undefined],
    ["9999999999", 999_999_999_900_000_000],
    ["10000000000", undefined],
    ["1e9", 100_000_000_000_000_000],
    ["1e10", undefined],
    ["1e999999999999999999999", undefined],
    ["0.00000000000000000000000000000001e24", 1],
    ["", undefined],
    ["-", undefined],
    ["01", undefined],
    ["1.", undefined],
    [".5", undefined],
    ["+1", undefined],
    [" 1", undefined],
    ["1 ", undefined],
    ["1,5", undefined],
    ["0x10", undefined],
    ["١", undefined]
  ])("reads %j as %s smallest units", (text, expected) => {
    assert.strictEqual(parseFixedPoint(text, 8), expected)
  })

  it.prop(
    "reads what formatAmount prints",
    { units: FastCheck.integer({ min: 0, max: 2_100_000_000_000_000 }) },
    ({ units }) => {
      assert.strictEqual(parseFixedPoint(formatAmount(units), 8), units)
    }
  )

  it("accepts other numbers of decimals", () => {
    assert.strictEqual(parseFixedPoint("1.234", 3), 1234)
    assert.isUndefined(parseFixedPoint("1.2345", 3))
  })
})
