import { isListed, phraseIn, type Share, WORD_RUNS, wordsIn } from "./recoveryPhrase.ts"
import { KEY } from "./secrets.ts"

/**
 * Takes private keys and recovery words out of errors: an error repeats what it is about, and that may be a secret in the wrong place.
 * It has the list of recovery words, and svcd-cli loads it for an error alone.
 */

const HIDDEN_KEY = "(not shown: it may be a private key)"
const HIDDEN_WORDS = "(not shown: these may be recovery words)"
const HIDDEN_WORD = "(not shown: it may be a recovery word)"

/** A key, with its quotes, or what a quote leaves of it. */
const QUOTED_KEY = new RegExp(`("?)(?:${KEY.source})…?\\1`, "gi")

/** The namespace before the label of a name. A name with a namespace is not a key, and its label may be as long. */
const NAMESPACE = /(?:^|[\s"'(])[a-z]{1,16}\/$/

/** In an error: a quote may lack the last words of a phrase, and one or two may be misspelled. */
const HIDDEN: Share = { listed: 8, of: 10 }

const hideWords = (run: string): string => {
  const phrase = phraseIn(wordsIn(run), HIDDEN)
  if (phrase === undefined) return run
  const [begin, end] = phrase
  const parts = run.split(/([\s,]+)/)
  return [...parts.slice(0, 2 * begin), HIDDEN_WORDS, ...parts.slice(2 * end - 1)].join("")
}

/** Hides the words where they stand alone in quotes, as for one argument each. */
const hideQuotedWords = (text: string): string =>
  text.replace(/"([A-Za-z]{3,8})"/g, (quote, word: string) => isListed(word) ? HIDDEN_WORD : quote)

/**
 * The text of an error with nothing of what may be a private key or recovery words. `args` are those of the program: where a phrase is
 * spread over them, the error may repeat one word of it.
 */
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
