import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { checkedWords, numberedWords } from "../../../src/programs/wallet/checkedWords.ts"

const WORDS = "one two three four five six seven eight nine ten eleven twelve".split(" ")

describe("numberedWords", () => {
  it("has a number for each word, in rows of four", () => {
    assert.strictEqual(
      numberedWords(WORDS.slice(0, 6)),
      " 1 one        2 two        3 three      4 four\n 5 five       6 six"
    )
  })
})

describe("checkedWords", () => {
  /** A terminal at which each answer is given by `answer`. */
  const asked = (answer: (place: number, count: number) => string | undefined, atTerminal = true) =>
    Effect.gen(function*() {
      const questions: Array<string> = []
      const line = (question: string) =>
        Effect.sync(() => {
          questions.push(question)
          return answer(Number(/Type word (\d+): $/.exec(question)?.[1]), questions.length)
        })
      const terminal = atTerminal ? { terminal: { hasResults: true } } : {}
      const outcome = yield* checkedWords({ line, secret: line, ...terminal }, WORDS)
      return { questions, outcome }
    })

  it.effect("shows the words once, and asks for three different ones", () =>
    Effect.gen(function*() {
      const { outcome, questions } = yield* asked((place) => ` ${WORDS[place - 1]?.toUpperCase()} `)
      assert.strictEqual(outcome, "right")
      assert.lengthOf(questions, 3)
      assert.lengthOf(new Set(questions), 3)
      assert.include(questions[0], "12 twelve")
      assert.notInclude(questions[1], "twelve")
    }))

  it.effect("asks again after a wrong word, but not for ever", () =>
    Effect.gen(function*() {
      const once = yield* asked((place, count) => count === 1 ? "wrong" : WORDS[place - 1])
      assert.lengthOf(once.questions, 4)
      assert.match(once.questions[1] ?? "", /^That is a different word\. Type word \d+: $/)
      assert.strictEqual(once.outcome, "right")
      const never = yield* asked(() => "wrong")
      assert.lengthOf(never.questions, 15)
      assert.strictEqual(never.outcome, "open")
    }))

  it.effect("asks nothing more without an answer", () =>
    Effect.gen(function*() {
      for (const [atTerminal, outcome] of [[true, "open"], [false, "unasked"]] as const) {
        const left = yield* asked(() => undefined, atTerminal)
        assert.deepStrictEqual([left.questions.length, left.outcome], [1, outcome])
      }
    }))
})
