import { assert, describe, it } from "@effect/vitest"
import { decodeAmount } from "../../../src/rpc/json/amounts.ts"
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
