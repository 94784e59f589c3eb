import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import { regtest } from "../../../src/protocol/networks.ts"
import { type Json, JsonObject } from "../../../src/rpc/json/json.ts"
import { readOutputs } from "../../../src/rpc/methods/transactionParams.ts"

/** Lets nothing read an element: whatever reads it fails the test. */
const guard = (list: ReadonlyArray<Json>, at: number): void => {
  Object.defineProperty(list, at, { get: () => assert.fail(`element ${at} is read`) })
}

const refusal = (outputs: Json): string | undefined => {
  const read = readOutputs(regtest, outputs)
  return Either.isLeft(read) ? read.left.message : undefined
}

describe("the outputs of a new transaction", () => {
  it("refuses an object with several members without building a pair for each", () => {
    const item = new JsonObject()
    item.keys.push("data", "address")
    item.values.push("00", null)
    guard(item.values, 1)
    assert.strictEqual(refusal([item]), "Invalid parameter, key-value pair must contain exactly one key")
    assert.strictEqual(refusal([new JsonObject()]), "Invalid parameter, key-value pair must contain exactly one key")
  })

  it("are read up to the first item that is not an object", () => {
    const items = [true, null]
    guard(items, 1)
    assert.strictEqual(refusal(items), "Invalid parameter, key-value pair not an object as expected")
  })
})
