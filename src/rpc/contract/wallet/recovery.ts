import * as Schema from "effect/Schema"
import { FEWEST_WORDS, MOST_WORDS } from "../../../wallet/keys/recovery.ts"
import { walletContract } from "../../method/contract.ts"
import { jsonObject } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { LOCKED } from "./walletParams.ts"

export const BAD_PLACE = `the places of words are numbers from 1 to ${MOST_WORDS}, each given once`

export const BAD_WORD = "each word is a text"

export const CHECKRECOVERYWORDS = walletContract({
  name: "checkrecoverywords",
  coins: "any",
  right: "names",
  // Runs to the end even if its caller disconnects. Otherwise the time after a wrong answer would reveal which words
  // are right.
  writes: true,
  summary: "Compares words that the owner reads from paper with the seed phrase of the wallet. If all of them " +
    "are right, the wallet keeps the time of the check. The method does not say which word is wrong, and waits a second " +
    "before it answers so. The wallet must be unlocked.",
  params: { words: jsonObject(`At least ${FEWEST_WORDS} words, each by its position in the phrase, from 1.`) },
  results: [{
    schema: Schema.Struct({
      correct: Result.boolean("Whether all words are right"),
      phrase_checked: Schema.optional(Result.time("Time of the last successful check; missing if never"))
    })
  }],
  examples: [[{ 3: "abandon", 11: "ability", 24: "able" }]],
  errors: [
    `-13 ${LOCKED}`,
    "-4 this wallet has no seed phrase",
    `-8 give ${FEWEST_WORDS} words at least`,
    "-8 the wallet has <count> words, so that there is no word <place>",
    `-8 ${BAD_PLACE}`,
    `-8 ${BAD_WORD}`
  ]
})
