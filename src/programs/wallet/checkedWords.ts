import * as Effect from "effect/Effect"
import { drawnPlaces } from "../../rpc/wordPlaces.ts"
import { wholeWord } from "../../wallet/keys/mnemonic.ts"
import type { Prompt } from "../tool/prompt.ts"

/** Shows the seed phrase of a new wallet and asks for some words: what is not written down is soon lost. */

const COLUMNS = 4
const LONGEST_WORD = 8

const MOST_TRIES = 5

export const numberedWords = (words: ReadonlyArray<string>): string => {
  const cells = words.map((word, at) => `${String(at + 1).padStart(2)} ${word.padEnd(LONGEST_WORD)}`)
  const rows = Array.from(
    { length: Math.ceil(cells.length / COLUMNS) },
    (_, row) => cells.slice(row * COLUMNS, (row + 1) * COLUMNS).join("  ").trimEnd()
  )
  return rows.join("\n")
}

/** For a person with numbers, for a program on one line. */
export const printedWords = ({ terminal }: Prompt, words: string): string =>
  terminal?.hasResults === true ? numberedWords(words.split(" ")) : words

const askedFor = (
  prompt: Prompt,
  { question, word }: { readonly question: string; readonly word: string }
): Effect.Effect<boolean | undefined> =>
  Effect.gen(function*() {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const answer = yield* prompt.line(
        tries === 0 ? question : `That is a different word. ${question.split("\n").at(-1)}`
      )
      if (answer === undefined) return undefined
      if (wholeWord(answer.trim().toLowerCase()) === word) return true
    }
    return false
  })

/** `unasked` without a terminal, `open` if the user left it or gave another word. */
export type WordsChecked = "right" | "open" | "unasked"

export const checkedWords = (prompt: Prompt, words: ReadonlyArray<string>): Effect.Effect<WordsChecked> =>
  Effect.gen(function*() {
    let before = `${numberedWords(words)}\n\nWrite these words down, in this order. Then verify them:\n`
    let outcome: WordsChecked = "right"
    for (const place of drawnPlaces(words.length)) {
      const question = `${before}Type word ${place}: `
      const answered = yield* askedFor(prompt, { question, word: words[place - 1] ?? "" })
      if (answered === undefined) return prompt.terminal === undefined ? "unasked" : "open"
      if (!answered) outcome = "open"
      before = ""
    }
    return outcome
  })
