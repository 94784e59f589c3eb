import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { decodeAmount, parseFixedPoint } from "../../../src/rpc/json/amounts.ts"
import { formatAmount } from "../../../src/rpc/json/encodeJson.ts"
import { type Json, JsonNumber } from "../../../src/rpc/json/json.ts"
import { RpcError } from "../../../src/rpc/method/RpcError.ts"

const messageOf = (value: Json): string => {
  try {
    return `no error: ${decodeAmount(value)}`
  } catch (error) {
    assert.instanceOf(error, RpcError)
    assert.strictEqual(error.code, -3)
    return error.message
  }
}

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

describe("decodeAmount", () => {
  it("accepts numbers and text", () => {
    assert.strictEqual(decodeAmount(new JsonNumber("0.1")), 10_000_000)
    assert.strictEqual(decodeAmount("0.1"), 10_000_000)
    assert.strictEqual(decodeAmount("21000000"), 2_100_000_000_000_000)
  })

  it.each<readonly [Json, string]>([
    [true, "Amount is not a number or string"],
    [null, "Amount is not a number or string"],
    [[], "Amount is not a number or string"],
    ["x", "Invalid amount"],
    ["", "Invalid amount"],
    [new JsonNumber("0.123456789"), "Invalid amount"],
    [new JsonNumber("-0.00000001"), "Amount out of range"],
    ["21000000.00000001", "Amount out of range"],
    ["9999999999", "Amount out of range"]
  ])("refuses %j: %s", (value, message) => {
    assert.strictEqual(messageOf(value), message)
  })
})
