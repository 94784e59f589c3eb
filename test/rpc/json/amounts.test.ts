import { assert, describe, it } from "@effect/vitest"
import { readAmount } from "../../../src/rpc/json/amounts.ts"
import { type Json, JsonNumber } from "../../../src/rpc/json/json.ts"
import { RpcError } from "../../../src/rpc/method/RpcError.ts"

describe("readAmount", () => {
  it("accepts numbers and text", () => {
    assert.strictEqual(readAmount(new JsonNumber("0.1")), 10_000_000)
    assert.strictEqual(readAmount("0.1"), 10_000_000)
    assert.strictEqual(readAmount("21000000"), 2_100_000_000_000_000)
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
    assert.deepStrictEqual(readAmount(value), RpcError.type(message))
  })
})
