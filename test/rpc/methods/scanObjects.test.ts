import { assert, it } from "@effect/vitest"
import { Either } from "effect"
import { regtest } from "../../../src/protocol/networks.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import { rangeLength } from "../../../src/rpc/contract/chain/scanObjects.ts"
import type { Json } from "../../../src/rpc/json/json.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import { descriptorProviderSteps } from "../../../src/rpc/methods/scanObjects.ts"

it("reads descriptors up to the first that is invalid", () => {
  const descriptors: ReadonlyArray<Json> = [true, null]
  Object.defineProperty(descriptors, 1, { get: () => assert.fail("the second descriptor is read") })
  const read = runSteps(descriptorProviderSteps(regtest, descriptors))
  assert.strictEqual(
    Either.isLeft(read) ? read.left.message : undefined,
    "Scan object needs to be either a string or an object"
  )
})

it("counts only ranges that are not refused, each of which has its own reason", () => {
  const lengthOf = (text: string): number => rangeLength(parseJson(text), 7)
  assert.deepStrictEqual(
    ["[2,1]", "[-1,10]", "1000001", "[0,1000000]", "[4294967295,4294967296]", "\"a\"", "[1]"].map(lengthOf),
    Array(7).fill(1)
  )
  assert.deepStrictEqual(["null", "0", "999999", "[5,10]"].map(lengthOf), [7, 1, 1_000_000, 6])
})
