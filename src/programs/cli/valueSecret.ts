import { decodeBase58Check } from "../../protocol/base58.ts"
import { decodeBech32 } from "../../protocol/bech32.ts"
import { phraseIn, type Share, WORD_RUNS, wordsIn } from "../tool/recoveryPhrase.ts"

/** Finds secrets in a value before its publication. Loaded on use, because it has the list of seed words. */

/** In a value, which may be a list of common words. */
const REFUSED: Share = { listed: 11, of: 12 }

/** Base58 texts as long as a private or extended key. */
const BASE58 = /(?<![\dA-Za-z])(?:[1-9A-HJ-NP-Za-km-z]{51,52}|[1-9A-HJ-NP-Za-km-z]{110,112})(?![\dA-Za-z])/g

const EXTENDED_BYTES = 78
/** Offset of the zero byte before the private key in an extended key. */
const PRIVATE_AT = 45

const isKey = (text: string): boolean => {
  const bytes = decodeBase58Check(text, EXTENDED_BYTES)
  if (bytes === undefined) return false
  return bytes.length === EXTENDED_BYTES
    ? bytes[PRIVATE_AT] === 0
    : bytes.length === 33 || bytes.length === 34 && bytes[33] === 1
}

/** NIP-19 private key: identities publish keys of Nostr, of which only `npub1…` is public. */
const NOSTR = /(?<![\dA-Za-z])nsec1[\dA-Za-z]{58}(?![\dA-Za-z])/gi

const ESCAPED_SPACE = /\\[nrt]/g

/** What may separate words of a phrase in a value: quotes of a list, and numbers. */
const BETWEEN = /[\d"'[\]\\().;_-]+/g

export const holdsSecret = (text: string): boolean => {
  const plain = text.replaceAll(ESCAPED_SPACE, " ")
  return [...plain.matchAll(BASE58)].some(([key]) => isKey(key)) ||
    [...plain.matchAll(NOSTR)].some(([key]) => decodeBech32(key) !== undefined) ||
    [...plain.replaceAll(BETWEEN, " ").matchAll(WORD_RUNS)].some(([run]) =>
      phraseIn(wordsIn(run), REFUSED) !== undefined
    )
}
