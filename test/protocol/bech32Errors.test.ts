import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { decodeBech32, encodeSegwit } from "../../src/protocol/bech32.ts"
import { locateErrors } from "../../src/protocol/bech32Errors.ts"

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

describe("locateErrors", () => {
  it.each<[string, string, Array<number>]>([
    [" 1nwldj5", "Invalid character or mixed case", [0]],
    ["\x7f1axkwrx", "Invalid character or mixed case", [0]],
    [
      "an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx",
      "Bech32 string too long",
      [90]
    ],
    ["pzry9x0s0muk", "Missing separator", []],
    ["1pzry9x0s0muk", "Invalid separator position", [0]],
    ["x1b4n0q5v", "Invalid Base 32 character", [2]],
    ["li1dgmt3", "Invalid separator position", [2]],
    ["A1G7SGD8", "Invalid checksum", []],
    ["a12UEL5L", "Invalid character or mixed case", [3, 4, 5, 7]],
    ["A12uEL5L", "Invalid character or mixed case", [3]],
    ["abcdef1qpzrz9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", "Invalid Bech32 checksum", [11]],
    ["test1zg69w7y6hn0aqy352euf40x77qddq3dc", "Invalid Bech32 checksum", [9, 16]],
    ["lt1igcx5c0", "Invalid Base 32 character", [3]],
    ["mm1crxm3i", "Invalid Base 32 character", [8]],
    ["M1VUXWEZ", "Invalid checksum", []],
    ["abcdef1l7aum6echk45nj2s0wdvt2fg8x9yrzpqzd3ryx", "Invalid Bech32m checksum", [21]],
    ["test1zg69v7y60n00qy352euf40x77qcusag6", "Invalid Bech32m checksum", [13, 32]],
    ["", "Missing separator", []]
  ])("locateErrors returns for %j: %s at %j", (text, error, locations) => {
    assert.deepStrictEqual(locateErrors(text), { error, locations })
  })

  it("bech32 is assumed if both variants are two characters away", () => {
    const text = "nc1pfeayunjwse8yunjwfe8yunjwfe8yunjwfe8yunjwfe8yunjwfe8q2r604e"
    const near = [
      { variant: "bech32", changed: "nc1pfeayunjwse8yunjwfe8yunjwsetyunjwfe8yunjwfe8yunjwfe8q2r604e" },
      { variant: "bech32m", changed: "nc1pfe8yunjwfe8yunjwfe8yunjwfe8yunjwfe8yunjwfe8yunjwfe8q2r604e" }
    ]
    for (const { changed, variant } of near) assert.strictEqual(decodeBech32(changed)?.variant, variant)
    assert.deepStrictEqual(locateErrors(text), { error: "Invalid Bech32 checksum", locations: [28, 30] })
  })

  it("positions are counted in bytes, as in the reference node", () => {
    assert.deepStrictEqual(locateErrors("nc1é5").locations, [3, 4])
    assert.strictEqual(locateErrors("é".repeat(45)).error, "Invalid character or mixed case")
    assert.strictEqual(locateErrors("é".repeat(46)).error, "Bech32 string too long")
  })

  it("the positions of an endless text are limited", () => {
    assert.deepStrictEqual(locateErrors("q".repeat(92)).locations, [90, 91])
    assert.strictEqual(locateErrors("q".repeat(1_000_000)).locations.length, 910)
  })

  // The seed is fixed: in about one of 10^5 cases the other variant is equally close.
  it.prop("locateErrors finds one or two wrong characters of an address", {
    program: FastCheck.uint8Array({ minLength: 32, maxLength: 32 }),
    changes: FastCheck.uniqueArray(
      FastCheck.tuple(FastCheck.integer({ min: 3, max: 61 }), FastCheck.integer({ min: 1, max: 31 })),
      { minLength: 1, maxLength: 2, selector: ([at]) => at }
    )
  }, ({ changes, program }) => {
    const characters = [...encodeSegwit("nc", 0, program)]
    for (const [at, step] of changes) {
      characters[at] = ALPHABET[(ALPHABET.indexOf(characters[at] ?? "") + step) % 32] ?? ""
    }
    const text = characters.join("")
    assert.isUndefined(decodeBech32(text))
    assert.deepStrictEqual(locateErrors(text), {
      error: "Invalid Bech32 checksum",
      locations: changes.map(([at]) => at).toSorted((a, b) => a - b)
    })
  }, { fastCheck: { seed: 1 } })
})
