import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { confirmation, firstState, registrationState } from "../../src/client/registering.ts"
import type { Confirmed } from "../../src/client/replies.ts"

const [NEW, CLAIM] = ["aa", "bb"]

const unconfirmed: Confirmed = { confirmations: 0, height: undefined }

/** The state with these confirmations of NAME_NEW and NAME_FIRSTUPDATE. */
const stateOf = (step: string, found: Readonly<Record<string, Confirmed>> = {}) =>
  registrationState(
    { step, txHash: NEW, claim: CLAIM, note: "why" },
    (txHash) => Effect.succeed(found[txHash] ?? unconfirmed)
  )

describe("registrationState", () => {
  it.effect("follows the steps of the wallet", () =>
    Effect.gen(function*() {
      const announced = { step: "announced", txHash: NEW } as const
      assert.deepStrictEqual(yield* stateOf("committed"), announced)
      assert.deepStrictEqual(yield* stateOf("a later version's step"), announced)
      assert.deepStrictEqual(yield* stateOf("failed"), { step: "failed", reason: "why" })
      assert.deepStrictEqual(yield* stateOf("revealed"), { step: "claimed", txHash: CLAIM })
      const deep = { [CLAIM]: { confirmations: 1, height: 212 } }
      assert.deepStrictEqual(yield* stateOf("done", deep), { step: "registered", txHash: CLAIM, height: 212 })
    }))

  it.effect("counts the blocks until NAME_FIRSTUPDATE can be in one", () =>
    Effect.gen(function*() {
      for (const [confirmations, blocksLeft] of [[1, 11], [11, 1], [12, 0], [30, 0], [-1, 12]] as const) {
        const found = { [NEW]: { confirmations, height: 200 } }
        assert.deepStrictEqual(yield* stateOf("maturing", found), { step: "waiting", txHash: NEW, blocksLeft })
      }
    }))

  it.effect("claims no more than the transactions show", () =>
    Effect.gen(function*() {
      // A reorg can disconnect the block before the wallet has gone back a step.
      assert.deepStrictEqual(yield* stateOf("done"), { step: "claimed", txHash: CLAIM })
      const unknown = registrationState(
        { step: "done", txHash: NEW, claim: undefined, note: "" },
        () => Effect.dieMessage("there is no transaction to look at")
      )
      assert.deepStrictEqual(yield* unknown, { step: "announced", txHash: NEW })
    }))
})

describe("a registration that is not sent yet", () => {
  it.effect("is queued, and has no transaction", () =>
    Effect.gen(function*() {
      const unsent = { step: "committed", txHash: undefined, claim: undefined, note: "waits for a block" }
      const queued = { step: "queued", reason: "waits for a block" } as const
      assert.deepStrictEqual(firstState(unsent), queued)
      const look = () => Effect.dieMessage("there is no transaction to look at")
      assert.deepStrictEqual(yield* registrationState(unsent, look), queued)
    }))
})

describe("confirmation", () => {
  it.effect("waits for a block, and fails once a block has a conflicting transaction", () =>
    Effect.gen(function*() {
      const looks = (...found: ReadonlyArray<number>) =>
        confirmation(
          Stream.concat(
            Stream.fromIterable(found.map((confirmations) => ({ confirmations, height: undefined }))),
            Stream.dieMessage("it looks again after the end")
          )
        )
      yield* looks(0, 0, 1)
      assert.strictEqual((yield* Effect.flip(looks(0, -1)))._tag, "OperationRejected")
    }))
})
