import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { attemptSteps } from "../../src/chain/attempt.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"

describe("attemptSteps", () => {
  it.effect("attemptSteps gives the event loop a turn between steps that take long, and after the last one", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      let ended = false
      const note = (): void => {
        seen.push("turn")
        if (!ended) setImmediate(note)
      }
      setImmediate(note)
      const made = yield* attemptSteps(function*() {
        for (let step = 1; step <= 3; step++) {
          // Work, not a wait: longer than a slice.
          for (const end = performance.now() + 6; performance.now() < end;) continue
          seen.push(`step ${step}`)
          yield
        }
        return "made"
      })
      ended = true
      assert.strictEqual(made, "made")
      assert.deepStrictEqual(seen.filter((what, i) => what !== "turn" || seen[i - 1] !== "turn"), [
        "step 1",
        "turn",
        "step 2",
        "turn",
        "step 3",
        "turn"
      ])
    }))

  it.effect("attemptSteps fails with a failure of the storage that a step throws, and makes no further step", () =>
    Effect.gen(function*() {
      const failure = new StorageUnavailable({ file: "blk00000.dat", doing: "reading", reason: "no such file" })
      let after = false
      const found = yield* Effect.flip(attemptSteps(function*() {
        yield
        if (!after) throw failure
        yield
        after = true
      }))
      assert.strictEqual(found, failure)
      assert.isFalse(after)
    }))
})
