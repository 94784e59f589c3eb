import { wordlist } from "@scure/bip39/wordlists/english.js"
import { decodeBase58Check } from "../protocol/base58.ts"
import { decodeBech32 } from "../protocol/bech32.ts"
import { KEY } from "./secrets.ts"

/**
 * Takes private keys and recovery words out of errors: an error repeats what it is about, and that may be a secret in the wrong place.
 * Finds them in values too. It has the list of recovery words, so that no sentence of an error is taken for them. svcd-cli loads it for an error alone.
 */

const LISTED: ReadonlySet<string> = new Set(wordlist)

const HIDDEN_KEY = "(not shown: it may be a private key)"
const HIDDEN_WORDS = "(not shown: these may be recovery words)"
const HIDDEN_WORD = "(not shown: it may be a recovery word)"

/** A key, with its quotes, or what a quote leaves of it. */
const QUOTED_KEY = new RegExp(`("?)(?:${KEY.source})…?\\1`, "gi")

/** What stands before the label of a name. A name with a namespace is no key, and its label may be as long. */
const NAMESPACE = /(?:^|[\s"'(])[a-z]{1,16}\/$/

/**
 * Words in a row of about the lengths that recovery words have. Words of sentences that the list has not are none of them, as a
 * misspelled word of a phrase is hardly one of those.
 */
const WORDS =
  /(?<![A-Za-z])(?:(?!(?:the|and|for|are|not|but|with|from|has|was|its|than|does|which|were|their|your)\b)[A-Za-z]{3,10}(?![A-Za-z])[\s,]*){10,}/gi

/** How many of so many words in a row are in the list. */
interface Share {
  readonly listed: number
  readonly of: number
}

/** In an error: a quote may lack the last words of a phrase, and one or two may be misspelled. */
const HIDDEN: Share = { listed: 8, of: 10 }

/** In a value, which may be a list of common words. */
const REFUSED: Share = { listed: 11, of: 12 }

const isListed = (word: string): boolean => LISTED.has(word.toLowerCase())

/** The places of words in a row that may be recovery words: from the first one to behind the last one. */
const phraseIn = (words: ReadonlyArray<string>, share: Share): readonly [begin: number, end: number] | undefined => {
  const listed = words.map(isListed)
  const isPhrase = (at: number): boolean =>
    listed.slice(at, at + share.of).filter((each) => each).length >= share.listed
  const begins = words.slice(share.of - 1).flatMap((_, at) => isPhrase(at) ? [at] : [])
  const [first, last] = [begins[0], begins.at(-1)]
  return first === undefined || last === undefined ? undefined : [first, last + share.of]
}

const wordsOf = (run: string): ReadonlyArray<string> => run.split(/[\s,]+/).filter((word) => word !== "")

/** Texts of Base58 as long as a private key or an extended one. */
const BASE58 = /(?<![\dA-Za-z])(?:[1-9A-HJ-NP-Za-km-z]{51,52}|[1-9A-HJ-NP-Za-km-z]{110,112})(?![\dA-Za-z])/g

const EXTENDED_BYTES = 78
/** Where the zero stands before the private key of an extended key. */
const PRIVATE_AT = 45

/** Whether the checksum is right, and the length that of a private key of any network, or it is an extended private one. */
const isKey = (text: string): boolean => {
  const bytes = decodeBase58Check(text, EXTENDED_BYTES)
  if (bytes === undefined) return false
  return bytes.length === EXTENDED_BYTES
    ? bytes[PRIVATE_AT] === 0
    : bytes.length === 33 || bytes.length === 34 && bytes[33] === 1
}

/** A private key of Nostr (NIP-19): values of identities have keys of Nostr, of which only `npub1…` is public. */
const NOSTR = /(?<![\dA-Za-z])nsec1[\dA-Za-z]{58}(?![\dA-Za-z])/gi

/** White space as JSON writes it. */
const ESCAPED_SPACE = /\\[nrt]/g

/** What may stand between the words of a phrase in a value: quotes of a list, and numbers, as wallets show words. */
const BETWEEN = /[\d"'[\]\\().;_-]+/g

/** Whether a text that is to be published has a private key, or words in a row that are recovery words, also as a list in JSON. */
export const holdsSecret = (text: string): boolean => {
  const plain = text.replaceAll(ESCAPED_SPACE, " ")
  return [...plain.matchAll(BASE58)].some(([key]) => isKey(key)) ||
    [...plain.matchAll(NOSTR)].some(([key]) => decodeBech32(key) !== undefined) ||
    [...plain.replaceAll(BETWEEN, " ").matchAll(WORDS)].some(([run]) => phraseIn(wordsOf(run), REFUSED) !== undefined)
}

const hideWords = (run: string): string => {
  const phrase = phraseIn(wordsOf(run), HIDDEN)
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
    .replace(WORDS, hideWords)
  const given = args.join(" ")
  return given.replace(WORDS, hideWords) === given ? shown : hideQuotedWords(shown)
}
