import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { typeOfWord, wordOfType } from "../../src/dns/recordTypes.ts"

describe("record types", () => {
  it("are read by their word or number, in any case", () => {
    assert.deepStrictEqual(["A", "aaaa", "HTTPS", "TYPE65", "type28", "ANY"].map(typeOfWord), [1, 28, 65, 65, 28, 255])
  })

  it("exclude words of no type, and types of messages and transfers", () => {
    for (
      const word of ["", "X", "A ", "TYPE", "TYPE0", "TYPE65536", "TYPE41", "TYPE250", "AXFR", "OPT", "constructor"]
    ) {
      assert.isUndefined(typeOfWord(word), word)
    }
  })

  it("have a word that reads as the same number", () => {
    FastCheck.assert(FastCheck.property(FastCheck.integer({ min: 1, max: 65_535 }), (number) => {
      const read = typeOfWord(wordOfType(number))
      assert.isTrue(read === number || [41, 249, 250, 251, 252].includes(number) && read === undefined)
    }))
  })
})
