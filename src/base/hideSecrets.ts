import { wordlist } from "@scure/bip39/wordlists/english.js"
import { KEY } from "./secrets.ts"

/**
 * Takes private keys and recovery words out of errors: an error repeats what it is about, and that may be a secret in the wrong place.
 * It has the list of recovery words, so that no sentence of an error is taken for them. svcd-cli loads it for an error alone.
 */

const LISTED: ReadonlySet<string> = new Set(wordlist)

const HIDDEN_KEY = "(not shown: it may be a private key)"
const HIDDEN_WORDS = "(not shown: these may be recovery words)"
const HIDDEN_WORD = "(not shown: it may be a recovery word)"

/** A key, with its quotes, or what a quote leaves of it. */
const QUOTED_KEY = new RegExp(`("?)(?:${KEY.source})…?\\1`, "gi")

/** What stands before the label of a name. A name with a namespace is no key, and its label may be as long. */
const NAMESPACE = /(?:^|[\s"'(])[a-z]{1,16}\/$/

const WORDS = /(?<![A-Za-z])[A-Za-z]+(?:[\s,]+[A-Za-z]+){9,}/g

/** The fewest words that count as a phrase, which has twelve or more: a quote in an error may lack the last ones. */
const FEWEST = 10

/** Of so many words, as many are in the list as no sentence has: one or two may be misspelled. */
const LISTED_OF_FEWEST = 8

const isListed = (word: string): boolean => LISTED.has(word.toLowerCase())

/** The places of words in a row that may be recovery words: from the first one to behind the last one. */
const phraseIn = (words: ReadonlyArray<string>): readonly [begin: number, end: number] | undefined => {
  const listed = words.map(isListed)
  const isPhrase = (at: number): boolean =>
    listed.slice(at, at + FEWEST).filter((each) => each).length >= LISTED_OF_FEWEST
  const begins = words.slice(FEWEST - 1).flatMap((_, at) => isPhrase(at) ? [at] : [])
  const [first, last] = [begins[0], begins.at(-1)]
  return first === undefined || last === undefined ? undefined : [first, last + FEWEST]
}

const hideWords = (run: string): string => {
  const parts = run.split(/([\s,]+)/)
  const phrase = phraseIn(parts.filter((_, at) => at % 2 === 0))
  if (phrase === undefined) return run
  const [begin, end] = phrase
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
    .replace(WORDS, hideWords)
  const given = args.join(" ")
  return given.replace(WORDS, hideWords) === given ? shown : hideQuotedWords(shown)
}
