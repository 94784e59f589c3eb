import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Logger, Schema } from "effect"
import { RawJson } from "../../src/rpc/json/encodeJson.ts"
import { LongText } from "../../src/rpc/json/LongText.ts"
import { contract } from "../../src/rpc/method/contract.ts"
import { method } from "../../src/rpc/method/method.ts"
import * as Param from "../../src/rpc/method/params.ts"
import * as Result from "../../src/rpc/method/results.ts"
import { CALLER, setUp } from "./dispatching.ts"

const SECRET = "correct horse"

/** Answers with its parameter. The types forbid most wrong answers, but not those in text that was encoded before. */
const echo = method(
  contract({
    name: "echo",
    group: "Hidden",
    summary: "Answers with a text.",
    params: {
      text: Param.string("The answer."),
      long: Param.withDefault(Param.boolean("Whether it comes in pieces."), false)
    },
    results: [{
      schema: Schema.Struct({
        height: Result.integer("The height"),
        owner: Schema.optionalWith(Result.needing("spend", Result.string("The owner")), { exact: true })
      })
    }],
    examples: []
  }),
  ({ long, text }) => Exit.succeed(long ? LongText.of(text) : new RawJson(text))
)

const call = (text: string, long = false) => JSON.stringify({ method: "echo", params: [text, long], id: 1 })

describe("Dispatch with checksAnswers", () => {
  it.scoped("answers -32603 in place of what a method does not document, and logs no part of it", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(JSON.stringify(message)))
      const { answer, observed } = yield* setUp({ methods: [echo], checksAnswers: true })
      const wrong: ReadonlyArray<readonly [string, RegExp]> = [
        [`{"height":"${SECRET}"}`, /height/],
        [`{"height":1,"hash":"${SECRET}"}`, /hash/],
        [`{"owner":"me","height":1}`, /members owner,height, not height,owner/],
        [`"${SECRET}"`, /echo does not answer as it says/],
        ["{", /not JSON/]
      ]
      for (const long of [false, true]) {
        for (const [text, reason] of wrong) {
          const { body } = yield* Effect.provide(answer(call(text, long)), Logger.replace(Logger.defaultLogger, logger))
          assert.match(body, /"code":-32603/)
          assert.match(body, reason)
        }
      }
      assert.deepStrictEqual(observed.map(({ code }) => code), Array(10).fill(-32603))
      assert.lengthOf(lines, 10)
      assert.notInclude(lines.join(), SECRET)
    }))

  it.scoped("counts the members that a caller has no right to see", () =>
    Effect.gen(function*() {
      const { dispatch } = yield* setUp({ methods: [echo], checksAnswers: true })
      const text = `{"height":1,"owner":"me"}`
      const ask = (rights: "read" | "spend") =>
        dispatch.read(call(text)).answer({ ...CALLER, rights: new Set([rights]) })
      assert.match(String((yield* ask("spend")).body), /"result":\{"height":1,"owner":"me"\}/)
      assert.match(String((yield* ask("read")).body), /result\.owner is there without the right spend/)
    }))

  it.scoped("is off unless it is asked for", () =>
    Effect.gen(function*() {
      const { answer } = yield* setUp({ methods: [echo] })
      assert.match((yield* answer(call("7"))).body, /"result":7/)
    }))
})
