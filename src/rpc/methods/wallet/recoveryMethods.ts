import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { FEWEST_WORDS, MOST_WORDS } from "../../../wallet/keys/recovery.ts"
import { Wallets } from "../../../wallet/Wallets.ts"
import type { JsonObject } from "../../json/json.ts"
import type { Method } from "../../method/methodTable.ts"
import { jsonObject } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { LOCKED, walletMethod } from "./walletContext.ts"

/** The method with which the owner shows that the recovery words are written down. */

const PLACE = /^[1-9]\d?$/

const BAD_PLACE = `the places of words are numbers from 1 to ${MOST_WORDS}, each given once`
const BAD_WORD = "each word is a text"

/** The words by their places. The errors repeat nothing of them. */
const wordsOf = (given: JsonObject): Effect.Effect<ReadonlyMap<number, Redacted.Redacted<string>>, RpcError> => {
  const words = new Map<number, Redacted.Redacted<string>>()
  for (const [at, key] of given.keys.entries()) {
    const [place, word] = [Number(key), given.values[at]]
    if (!PLACE.test(key) || place > MOST_WORDS || words.has(place)) return RpcError.invalidParameter(BAD_PLACE)
    if (typeof word !== "string") return RpcError.invalidParameter(BAD_WORD)
    words.set(place, Redacted.make(word))
  }
  return Effect.succeed(words)
}

export const recoveryMethods: Effect.Effect<ReadonlyArray<Method>, never, Wallets> = Effect.gen(function*() {
  const make = walletMethod(yield* Wallets)

  const checkrecoverywords = make({
    name: "checkrecoverywords",
    right: "names",
    // A caller that leaves would otherwise end the second after a wrong answer, and the time would tell which words are right.
    writes: true,
    summary:
      "Compares some of the recovery words, which the owner reads from paper, with those of the wallet. If all of them " +
      "are right, the wallet keeps the time of the check. The method does not say which word is wrong, and waits a second " +
      "before it answers so. The wallet must be unlocked.",
    params: { words: jsonObject(`At least ${FEWEST_WORDS} words, each by its place in the phrase, from 1 on.`) },
    results: [{
      schema: Schema.Struct({
        correct: Result.boolean("Whether all of them are right"),
        phrase_checked: Schema.optional(Result.time("When the owner last entered the right words; missing if never"))
      })
    }],
    examples: [[{ 3: "abandon", 11: "ability", 24: "able" }]],
    errors: [
      `-13 ${LOCKED}`,
      "-4 this wallet was not made of words",
      `-8 give ${FEWEST_WORDS} words at least`,
      "-8 the wallet has <count> words, so that there is no word <place>",
      `-8 ${BAD_PLACE}`,
      `-8 ${BAD_WORD}`
    ],
    handler: ({ words }, { recovery }) =>
      Effect.gen(function*() {
        const correct = yield* recovery.checkWords(yield* wordsOf(words))
        return { correct, phrase_checked: recovery.phraseChecked() }
      })
  })

  return [checkrecoverywords]
})
