import { entropyToMnemonic, mnemonicToEntropy } from "@scure/bip39"
import { wordlist } from "@scure/bip39/wordlists/english.js"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { pbkdf2, pbkdf2Sync } from "node:crypto"
import { promisify } from "node:util"
import { doAside } from "../../base/disk.ts"
import { randomBytes } from "../../base/entropy.ts"
import { quoted } from "../../base/safeText.ts"
import { editDistance } from "../../config/suggest.ts"

/** BIP 39, with the English word list. */

/** Names the wrong word, never the others. */
export class InvalidMnemonic extends Schema.TaggedError<InvalidMnemonic>()("InvalidMnemonic", {
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

const COUNTS: ReadonlyArray<number> = [12, 15, 18, 21, 24]

const LONGEST_PHRASE = 1_000

const WORDS: ReadonlySet<string> = new Set(wordlist)

/** 128 or 256 bits. */
export const createMnemonic = (words: 12 | 24): Redacted.Redacted<string> =>
  Redacted.make(entropyToMnemonic(randomBytes(words === 12 ? 16 : 32), wordlist))

/** Four letters identify a word of the list (BIP 39); some owners write down no more. */
const TELLING_LETTERS = 4

/** A listed word, in full or by its first four letters; any other word as it is. */
export const wholeWord = (word: string): string =>
  WORDS.has(word) || word.length !== TELLING_LETTERS ? word : wordlist.find((known) => known.startsWith(word)) ?? word

const MOST_NEAR = 4

/** At most two edits away, nearest first. */
const nearWords = (word: string): ReadonlyArray<string> =>
  word.length > LONGEST_WORD ? [] : wordlist
    .map((known) => ({ known, distance: editDistance(word, known) }))
    .filter(({ distance }) => distance <= 2 && distance < word.length - 1)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST_NEAR)
    .map(({ known }) => known)

/** Too long for a mistyped word; listed words have up to eight letters. */
const LONGEST_WORD = 12

const problemOf = (words: ReadonlyArray<string>): string | undefined => {
  if (words.length === 0) return "no words are given"
  const strange = words.findIndex((word) => !WORDS.has(word))
  if (strange !== -1) {
    const word = words[strange] ?? ""
    const near = nearWords(word)
    return `word ${strange + 1} ${quoted(word)} is not in the list${
      near.length === 0 ? "" : `; similar ones are ${near.join(", ")}`
    }`
  }
  if (!COUNTS.includes(words.length)) {
    const plural = words.length === 1 ? "word" : "words"
    return `a phrase has 12, 15, 18, 21 or 24 words, not ${words.length} ${plural}`
  }
  return undefined
}

/** Ignores case and extra spaces; four letters suffice for a word. Returns the normal form. */
export const parseMnemonic = (text: string): Either.Either<Redacted.Redacted<string>, InvalidMnemonic> => {
  if (text.length > LONGEST_PHRASE) {
    return Either.left(new InvalidMnemonic({ reason: "that is too long for a phrase of 24 words" }))
  }
  const words = text.normalize("NFKD").toLowerCase().split(/\s+/).filter((word) => word !== "").map(wholeWord)
  const problem = problemOf(words)
  if (problem !== undefined) return Either.left(new InvalidMnemonic({ reason: problem }))
  let entropy: Uint8Array | undefined
  try {
    entropy = mnemonicToEntropy(words.join(" "), wordlist)
    return Either.right(Redacted.make(entropyToMnemonic(entropy, wordlist)))
  } catch {
    const reason = "the checksum of the phrase is wrong: check the words and their order"
    return Either.left(new InvalidMnemonic({ reason }))
  } finally {
    entropy?.fill(0)
  }
}

/** PBKDF2 rounds and result size (BIP 39). */
const ROUNDS = 2_048
const SEED_BYTES = 64

const pbkdf2Later = promisify(pbkdf2)

/** 64 bytes, which the caller wipes. Computed outside the event loop. */
export const seedOf = (
  mnemonic: Redacted.Redacted<string>,
  passphrase: Redacted.Redacted<string> = Redacted.make("")
): Effect.Effect<Uint8Array> =>
  Effect.promise(async () => {
    const salt = `mnemonic${Redacted.value(passphrase)}`.normalize("NFKD")
    const words = Redacted.value(mnemonic).normalize("NFKD")
    const seed = await doAside({
      name: "pbkdf2",
      now: () => pbkdf2Sync(words, salt, ROUNDS, SEED_BYTES, "sha512"),
      later: () => pbkdf2Later(words, salt, ROUNDS, SEED_BYTES, "sha512")
    })
    try {
      return Uint8Array.from(seed)
    } finally {
      seed.fill(0)
    }
  })
