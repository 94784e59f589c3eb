import { decodeBase58Check } from "../../protocol/base58.ts"
import { decodeBech32 } from "../../protocol/bech32.ts"
import { phraseIn, type Share, WORD_RUNS, wordsIn } from "../tool/recoveryPhrase.ts"

/** Finds secrets in a value that is to be published. It has the list of recovery words, and is loaded for such a value alone. */

/** In a value, which may be a list of common words. */
const REFUSED: Share = { listed: 11, of: 12 }

/** Texts of Base58 as long as a private key or an extended one. */
const BASE58 = /(?<![\dA-Za-z])(?:[1-9A-HJ-NP-Za-km-z]{51,52}|[1-9A-HJ-NP-Za-km-z]{110,112})(?![\dA-Za-z])/g

const EXTENDED_BYTES = 78
/** The place of the zero before the private key of an extended key. */
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
    [...plain.replaceAll(BETWEEN, " ").matchAll(WORD_RUNS)].some(([run]) =>
      phraseIn(wordsIn(run), REFUSED) !== undefined
    )
}
