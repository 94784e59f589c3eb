import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { attemptSteps } from "../../src/chain/attempt.ts"
import { type StorageFailure, StorageUnavailable } from "../../src/storage/errors.ts"

/** Work, not a wait. */
const longerThanASlice = (): void => {
  for (const end = performance.now() + 6; performance.now() < end;) continue
}

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
          longerThanASlice()
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

  it.effect("attemptSteps fails with a failure of the storage that a later slice throws", () =>
    Effect.gen(function*() {
      const failure = new StorageUnavailable({ file: "blk00000.dat", doing: "reading", reason: "no such file" })
      let steps = 0
      const found = yield* Effect.flip(attemptSteps(function*() {
        for (; steps < 3; steps++) {
          if (steps === 2) throw failure
          longerThanASlice()
          yield
        }
      }))
      assert.strictEqual(found, failure)
      assert.strictEqual(steps, 2)
    }))

  it.effect("attemptSteps makes no step after an interrupt, and all of them where it cannot be interrupted", () =>
    Effect.gen(function*() {
      const stepsOf = (work: (steps: Effect.Effect<void, StorageFailure>) => Effect.Effect<void, StorageFailure>) =>
        Effect.gen(function*() {
          let made = 0
          const begun = yield* Deferred.make<void>()
          const fiber = yield* Effect.fork(work(attemptSteps(function*() {
            for (; made < 3; made++) {
              longerThanASlice()
              Deferred.unsafeDone(begun, Effect.void)
              yield
            }
          })))
          yield* Deferred.await(begun)
          yield* Fiber.interrupt(fiber)
          return made
        })
      assert.isBelow(yield* stepsOf(Effect.interruptible), 3)
      assert.strictEqual(yield* stepsOf(Effect.uninterruptible), 3)
    }))
})
