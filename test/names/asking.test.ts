import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Cursor } from "../../src/chain/write/Follower.ts"
import { asking } from "../../src/names/completeNames.ts"
import { text, withNewDb } from "./blocks.ts"

const tipAt = (height: number): Cursor => ({ height, hash: new Uint8Array(32).fill(height) })

/** Asks about a name with these answers in turn, while the tip is where the questions and checks find it. */
const ask = (found: ReadonlyArray<string | undefined>, tips: ReadonlyArray<Cursor | undefined>) =>
  Effect.gen(function*() {
    let [asked, checked] = [0, 0]
    const tip = Effect.sync(() => tips[checked++])
    const question = Effect.sync(() => found[asked++])
    const answer = yield* Effect.match(
      asking({ cursor: tip, settled: tip })(question, (value) => value === undefined),
      { onSuccess: (value) => value ?? "missing", onFailure: ({ _tag }) => _tag }
    )
    return { answer, asked, checked }
  })

describe("a question about names", () => {
  const [low, high, other] = [tipAt(1), tipAt(2), tipAt(3)]
  const rows = [
    ["found at once", ["value"], [low], "value", 1],
    ["missing at the same tip", [undefined], [low, low], "missing", 1],
    ["missing before the first block", [undefined], [undefined, undefined], "NamesIncomplete", 1],
    ["missing while incomplete", [undefined], [low, undefined], "NamesIncomplete", 1],
    ["missing, then found at the next tip", [undefined, "value"], [low, high], "value", 2],
    ["missing twice, the second time at one tip", [undefined, undefined], [low, high, high], "missing", 2],
    ["missing at two tips", [undefined, undefined], [low, high, other], "NamesIncomplete", 2],
    ["missing, then incomplete", [undefined, undefined], [low, high, undefined], "NamesIncomplete", 2]
  ] as const
  for (const [what, found, tips, answer, asked] of rows) {
    it.effect(
      what,
      () =>
        Effect.map(
          ask(found, tips),
          (result) => assert.deepStrictEqual(result, { answer, asked, checked: tips.length })
        )
    )
  }

  it.effect("about a name that never existed fails without a stack trace, and leaves that of others alone", () =>
    withNewDb((db) =>
      Effect.gen(function*() {
        const { stackTraceLimit } = Error
        const failure = yield* Effect.flip(db.resolve(text("d/none")))
        assert.strictEqual(failure._tag, "NameNotFound")
        assert.notMatch(failure.stack ?? "", /^ +at /m)
        assert.strictEqual(Error.stackTraceLimit, stackTraceLimit)
      })
    ))
})
