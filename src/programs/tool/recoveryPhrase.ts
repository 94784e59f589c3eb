import { wordlist } from "@scure/bip39/wordlists/english.js"

/** Finds recovery words in texts. It has the list of them (BIP 39), so that no sentence is taken for them. */

const LISTED: ReadonlySet<string> = new Set(wordlist)

/**
 * Words in a row of about the lengths that recovery words have. Frequent words of sentences that are not in the list end a row: a
 * misspelled recovery word is hardly one of them.
 */
export const WORD_RUNS =
  /(?<![A-Za-z])(?:(?!(?:the|and|for|are|not|but|with|from|has|was|its|than|does|which|were|their|your)\b)[A-Za-z]{3,10}(?![A-Za-z])[\s,]*){10,}/gi

/** How many of so many words in a row are in the list. */
export interface Share {
  readonly listed: number
  readonly of: number
}

/** Whether a word is in the list. */
export const isListed = (word: string): boolean => LISTED.has(word.toLowerCase())

/** The places of words in a row that may be recovery words: from the first one to behind the last one. */
export const phraseIn = (
  words: ReadonlyArray<string>,
  share: Share
): readonly [begin: number, end: number] | undefined => {
  const listed = words.map(isListed)
  const isPhrase = (at: number): boolean =>
    listed.slice(at, at + share.of).filter((each) => each).length >= share.listed
  const begins = words.slice(share.of - 1).flatMap((_, at) => isPhrase(at) ? [at] : [])
  const [first, last] = [begins[0], begins.at(-1)]
  return first === undefined || last === undefined ? undefined : [first, last + share.of]
}

export const wordsIn = (run: string): ReadonlyArray<string> => run.split(/[\s,]+/).filter((word) => word !== "")
