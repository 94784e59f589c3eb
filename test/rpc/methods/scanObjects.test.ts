import { assert, it } from "@effect/vitest"
import { Either } from "effect"
import { regtest } from "../../../src/protocol/networks.ts"
import { runSteps } from "../../../src/protocol/steps.ts"
import type { Json } from "../../../src/rpc/json/json.ts"
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
