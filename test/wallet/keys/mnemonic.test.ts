import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Redacted } from "effect"
import { toHex } from "../../../src/protocol/bytes.ts"
import { createMnemonic, parseMnemonic, seedOf, wholeWord } from "../../../src/wallet/keys/mnemonic.ts"
import { blockingDisk, overDisk } from "../../support/disk.ts"
import { fixtureJson, hasShared } from "../../support/fixtures.ts"

const ABOUT = `${"abandon ".repeat(11)}about`

const reasonOf = (text: string): string =>
  Either.match(parseMnemonic(text), { onLeft: ({ reason }) => reason, onRight: () => "" })

describe("parseMnemonic", () => {
  it("returns the normal form of a mnemonic, regardless of case and spaces", () => {
    const parsed = Either.getOrThrow(parseMnemonic(`\n  ${ABOUT.toUpperCase().replaceAll(" ", "\t  ")} \n`))
    assert.strictEqual(Redacted.value(parsed), ABOUT)
    assert.notInclude(String(parsed), "abandon")
  })

  it.each([
    [
      ABOUT.replace("about", "aboutx"),
      "word 12 \"aboutx\" is not in the list; similar ones are about"
    ],
    [`xx ${ABOUT}`, "word 1 \"xx\" is not in the list"],
    [`a\u202e ${ABOUT}`, "word 1 \"a\\u202e\" is not in the list"],
    [ABOUT.replace("about", "abandon"), "the checksum of the phrase is wrong: check the words and their order"],
    ["abandon about", "a phrase has 12, 15, 18, 21 or 24 words, not 2 words"],
    ["about", "a phrase has 12, 15, 18, 21 or 24 words, not 1 word"],
    [`${ABOUT} about`, "a phrase has 12, 15, 18, 21 or 24 words, not 13 words"],
    ["  ", "no words are given"],
    ["abandon ".repeat(1000), "that is too long for a phrase of 24 words"]
  ])("refuses %j", (text, reason) => {
    assert.strictEqual(reasonOf(text), reason)
  })

  it("takes the first four letters for a word, unless they are a word of their own", () => {
    const phrase = "helmet abandon able actor act ability zoo wreck you young yard wrong".split(" ")
    assert.deepStrictEqual(
      ["helm", "aban", "able", "acto", "act", "abil", "zoo", "wrec", "you", "youn", "yard", "wron"].map(wholeWord),
      phrase
    )
    for (const word of ["hel", "helme", "xxxx", ""]) assert.strictEqual(wholeWord(word), word)
    const words = Redacted.value(createMnemonic(24))
    const short = words.split(" ").map((word) => word.slice(0, 4)).join(" ")
    assert.strictEqual(Redacted.value(Either.getOrThrow(parseMnemonic(short))), words)
  })

  it("does not repeat listed words in errors", () => {
    assert.notInclude(reasonOf(ABOUT.replace("about", "aboutx")), "abandon")
    assert.notInclude(reasonOf(ABOUT.replace("about", "zoo")), "zoo")
  })
})

describe("createMnemonic", () => {
  it.each([12, 24] as const)("makes valid mnemonics of %d words, each different", (words) => {
    const phrases = new Set<string>()
    for (let count = 0; count < 20; count++) {
      const phrase = Redacted.value(createMnemonic(words))
      assert.strictEqual(phrase.split(" ").length, words)
      assert.strictEqual(Redacted.value(Either.getOrThrow(parseMnemonic(phrase))), phrase)
      phrases.add(phrase)
    }
    assert.strictEqual(phrases.size, 20)
  })

  it("nearly every mnemonic with two exchanged words is refused", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(11), FastCheck.nat(11), (a, b) => {
        let caught = 0
        for (let count = 0; count < 40; count++) {
          const words = Redacted.value(createMnemonic(12)).split(" ")
          const [first = "", second = ""] = [words[a], words[b]]
          if (first === second) {
            caught++
            continue
          }
          words[a] = second
          words[b] = first
          if (reasonOf(words.join(" ")).startsWith("the checksum")) caught++
        }
        // The checksum has four bits.
        return caught > 25
      }),
      { numRuns: 3 }
    )
  })
})

interface Bip39Vectors {
  readonly english: ReadonlyArray<readonly [entropy: string, phrase: string, seed: string, xprv: string]>
}

describe("seedOf", () => {
  it.effect("gives the same on the thread pool and without it", () =>
    Effect.gen(function*() {
      const seed = seedOf(Either.getOrThrow(parseMnemonic(ABOUT)))
      assert.deepStrictEqual(yield* seed.pipe(overDisk(blockingDisk)), yield* seed)
    }))
})

describe.skipIf(!hasShared)("the vectors of BIP 39", () => {
  it.effect("give the seeds", () =>
    Effect.gen(function*() {
      const { english } = fixtureJson<Bip39Vectors>("bips/bip39_vectors.json")
      assert.isAbove(english.length, 20)
      for (const [, phrase, seed] of english) {
        const mnemonic = Either.getOrThrow(parseMnemonic(phrase))
        assert.strictEqual(toHex(yield* seedOf(mnemonic, Redacted.make("TREZOR"))), seed)
      }
    }))
})
