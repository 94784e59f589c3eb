import { isListed, phraseIn, type Share, WORD_RUNS, wordsIn } from "./recoveryPhrase.ts"
import { KEY } from "./secrets.ts"

/** Removes private keys and seed words from errors. svcd-cli loads the list of seed words for errors only. */

const HIDDEN_KEY = "(not shown: it may be a private key)"
const HIDDEN_WORDS = "(not shown: these may be recovery words)"
const HIDDEN_WORD = "(not shown: it may be a recovery word)"

/** With its quotes, or what a quote leaves of it. */
const QUOTED_KEY = new RegExp(`("?)(?:${KEY.source})…?\\1`, "gi")

/** A name with a namespace is not a key, although its label may be as long. */
const NAMESPACE = /(?:^|[\s"'(])[a-z]{1,16}\/$/

/** A quote may lack the last words of a phrase, and one or two may be misspelled. */
const HIDDEN: Share = { listed: 8, of: 10 }

const hideWords = (run: string): string => {
  const phrase = phraseIn(wordsIn(run), HIDDEN)
  if (phrase === undefined) return run
  const [begin, end] = phrase
  const parts = run.split(/([\s,]+)/)
  return [...parts.slice(0, 2 * begin), HIDDEN_WORDS, ...parts.slice(2 * end - 1)].join("")
}

const hideQuotedWords = (text: string): string =>
  text.replace(/"([A-Za-z]{3,8})"/g, (quote, word: string) => isListed(word) ? HIDDEN_WORD : quote)

/** `args` are the program's: if a phrase is spread over them, the error may repeat one word of it. */
export const hideSecrets = (text: string, args: ReadonlyArray<string>): string => {
  const shown = text
    .replace(
      QUOTED_KEY,
      (key, _quote, at: number) => NAMESPACE.test(text.slice(Math.max(0, at - 40), at)) ? key : HIDDEN_KEY
    )
    .replace(WORD_RUNS, hideWords)
  const given = args.join(" ")
  return given.replace(WORD_RUNS, hideWords) === given ? shown : hideQuotedWords(shown)
}
