import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { OpenCalls } from "../../src/http/OpenCalls.ts"
import { VISITOR } from "../../src/http/Session.ts"

const FOREVER = { mayEnd: false, working: () => {} }

describe("OpenCalls", () => {
  it("leave places for other users, other addresses of visitors, and operators", () => {
    const calls = new OpenCalls({ run: Effect.runFork, most: 16 })
    /** Begins calls of a share for as long as they are admitted; returns how many. */
    const filled = (share: ReadonlyArray<string>, isOperator = false): number => {
      let count = 0
      for (; calls.admits(share, isOperator); count++) calls.run(Effect.never, { ...FOREVER, share }, () => {})
      return count
    }
    assert.strictEqual(filled([VISITOR, "192.0.2.1"]), 4)
    assert.strictEqual(filled([VISITOR, "192.0.2.2"]), 4)
    assert.strictEqual(filled([VISITOR, "192.0.2.3"]), 0)
    assert.strictEqual(filled(["alice", "192.0.2.1"]), 6)
    assert.strictEqual(filled(["bob", "192.0.2.4"]), 0)
    assert.strictEqual(filled(["operator", "127.0.0.1"], true), 2)
  })

  it.live("free the places of calls that have ended", () =>
    Effect.gen(function*() {
      const calls = new OpenCalls({ run: Effect.runFork, most: 4 })
      const share = [VISITOR, "192.0.2.1"]
      const fiber = calls.run(Effect.never, { ...FOREVER, share }, () => {})
      assert.isFalse(calls.admits(share, false))
      yield* Fiber.interrupt(fiber ?? assert.fail("it ended at once"))
      assert.isTrue(calls.admits(share, false))
    }))
})
