import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { asClientFailure } from "../../src/node/nodeClient.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"

describe("asClientFailure", () => {
  it.effect("reports a defect of the node as InternalError, and other failures as what they are", () =>
    Effect.gen(function*() {
      const failure = new StorageUnavailable({ file: "names.db", doing: "writing", reason: "disk full" })
      const quiet = Effect.provide(Logger.remove(Logger.defaultLogger))
      const defect = yield* asClientFailure(Effect.die(new TypeError("x is not a function"))).pipe(
        Effect.flip,
        quiet
      )
      assert.strictEqual(defect._tag, "InternalError")
      assert.include(defect.message, "a defect of svcd: TypeError: x is not a function")
      assert.strictEqual(yield* Effect.flip(asClientFailure(Effect.fail(failure))), failure)
    }))
})
