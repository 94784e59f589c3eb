import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { Intake } from "../../../src/network/peer/Intake.ts"
import { Pace } from "../../../src/network/peer/Pace.ts"

const MB = 1_000_000

/** Whether a peer is throttled after `use`. */
const isHeldBack = (use: (intake: Intake) => void) =>
  Effect.gen(function*() {
    const intake = new Intake(new Pace(0), "127.0", () => 0)
    return yield* intake.paced(Effect.gen(function*() {
      use(intake)
      const due = yield* Effect.fork(intake.due(Effect.never))
      yield* Effect.yieldNow()
      return Option.isNone(yield* Fiber.poll(due))
    }))
  })

describe("Intake", () => {
  it.effect("a peer is charged for unsolicited bytes, even if they are dropped", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* isHeldBack((intake) => void intake.arrived(10 * MB)))
      assert.isTrue(yield* isHeldBack((intake) => void intake.arrived(600 * MB)))
      const asked = isHeldBack((intake) => {
        const question = { version: 70_016, locator: [], stop: new Uint8Array(32) }
        for (let i = 0; i < 6_000; i++) {
          intake.asks({ type: "getheaders", ...question })
          assert.isTrue(intake.arrived(MB / 10))
          intake.uncalled({ type: "headers", headers: [] })
        }
      })
      assert.isFalse(yield* asked)
    }))
})
