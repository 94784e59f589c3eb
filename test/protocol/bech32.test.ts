import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { decodeBech32, encodeBech32, encodeSegwit, isProgramLength, segwitOf } from "../../src/protocol/bech32.ts"
import { fromHex, toHex } from "../../src/protocol/bytes.ts"

const decodeSegwit = (text: string) => {
  const decoded = decodeBech32(text)
  const segwit = decoded === undefined ? undefined : segwitOf(decoded)
  return segwit === undefined || "error" in segwit ? undefined : segwit
}

const hex = (text: string): Uint8Array => fromHex(text) ?? assert.fail(`not hexadecimal: ${text}`)

describe("bech32 texts of BIP 173 and BIP 350", () => {
  it.each([
    "A12UEL5L",
    "a12uel5l",
    "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
    "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
    "11qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqc8247j",
    "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w",
    "?1ezyfcl"
  ])("%s is valid bech32", (text) => {
    const decoded = decodeBech32(text) ?? assert.fail("refused")
    assert.strictEqual(decoded.variant, "bech32")
    assert.strictEqual(encodeBech32("bech32", decoded.hrp, decoded.values), text.toLowerCase())
  })

  it.each([
    "A1LQFN3A",
    "a1lqfn3a",
    "an83characterlonghumanreadablepartthatcontainsthetheexcludedcharactersbioandnumber11sg7hg6",
    "abcdef1l7aum6echk45nj3s0wdvt2fg8x9yrzpqzd3ryx",
    "11llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllludsr8",
    "split1checkupstagehandshakeupstreamerranterredcaperredlc445v",
    "?1v759aa"
  ])("%s is valid bech32m", (text) => {
    const decoded = decodeBech32(text) ?? assert.fail("refused")
    assert.strictEqual(decoded.variant, "bech32m")
    assert.strictEqual(encodeBech32("bech32m", decoded.hrp, decoded.values), text.toLowerCase())
  })

  it.each([
    [" 1nwldj5", "a space in the prefix"],
    ["\x7f1axkwrx", "a control character in the prefix"],
    ["\x801eym55h", "no ASCII in the prefix"],
    ["an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx", "91 characters"],
    ["pzry9x0s0muk", "no separator"],
    ["1pzry9x0s0muk", "an empty prefix"],
    ["x1b4n0q5v", "a character outside the alphabet"],
    ["li1dgmt3", "a checksum that is too short"],
    ["de1lg7wt\xff", "a character that is not ASCII in the checksum"],
    ["A1G7SGD8", "a checksum made over the upper-case prefix"],
    ["10a06t8", "an empty prefix"],
    ["1qzzfhee", "an empty prefix"],
    ["a12UEL5L", "mixed case"],
    ["A12uEL5L", "mixed case"],
    [" 1xj0phk", "a space in the prefix"],
    ["\x7f1g6xzxy", "a control character in the prefix"],
    ["\x801vctc34", "no ASCII in the prefix"],
    ["an84characterslonghumanreadablepartthatcontainsthetheexcludedcharactersbioandnumber11d6pts4", "91 characters"],
    ["qyrz8wqd2c9m", "no separator"],
    ["1qyrz8wqd2c9m", "an empty prefix"],
    ["y1b0jsk6g", "a character outside the alphabet"],
    ["lt1igcx5c0", "a character outside the alphabet"],
    ["in1muywd", "a checksum that is too short"],
    ["mm1crxm3i", "a character outside the alphabet in the checksum"],
    ["au1s5cgom", "a character outside the alphabet in the checksum"],
    ["M1VUXWEZ", "a checksum made over the upper-case prefix"],
    ["16plkw9", "an empty prefix"],
    ["1p2gdwpf", "an empty prefix"],
    ["", "nothing"],
    ["1", "a separator alone"]
  ])("%j is refused: %s", (text) => {
    assert.isUndefined(decodeBech32(text))
  })
})

describe("segwit addresses of BIP 173 and BIP 350", () => {
  it.each([
    {
      text: "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
      hrp: "bc",
      version: 0,
      program: "751e76e8199196d454941c45d1b3a323f1433bd6"
    },
    {
      text: "tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7",
      hrp: "tb",
      version: 0,
      program: "1863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262"
    },
    {
      text: "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kt5nd6y",
      hrp: "bc",
      version: 1,
      program: "751e76e8199196d454941c45d1b3a323f1433bd6751e76e8199196d454941c45d1b3a323f1433bd6"
    },
    { text: "BC1SW50QGDZ25J", hrp: "bc", version: 16, program: "751e" },
    {
      text: "bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs",
      hrp: "bc",
      version: 2,
      program: "751e76e8199196d454941c45d1b3a323"
    },
    {
      text: "tb1qqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesrxh6hy",
      hrp: "tb",
      version: 0,
      program: "000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"
    },
    {
      text: "tb1pqqqqp399et2xygdj5xreqhjjvcmzhxw4aywxecjdzew6hylgvsesf3hn0c",
      hrp: "tb",
      version: 1,
      program: "000000c4a5cad46221b2a187905e5266362b99d5e91c6ce24d165dab93e86433"
    },
    {
      text: "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
      hrp: "bc",
      version: 1,
      program: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    }
  ])("$text is decoded", ({ hrp, program, text, version }) => {
    assert.deepStrictEqual(decodeSegwit(text), { hrp, version, program: hex(program) })
    assert.strictEqual(encodeSegwit(hrp, version, hex(program)), text.toLowerCase())
  })

  it.each([
    ["bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd", "version 1 with bech32"],
    ["tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf", "version 2 with bech32"],
    ["BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL", "version 16 with bech32"],
    ["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh", "version 0 with bech32m"],
    ["tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47", "version 0 with bech32m"],
    ["bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4", "a character outside the alphabet"],
    ["BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R", "version 17"],
    ["bc1pw5dgrnzv", "a program of 1 byte"],
    ["bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav", "a program of 41 bytes"],
    ["BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P", "a program of 16 bytes for version 0"],
    ["tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq", "mixed case"],
    ["bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf", "five bits of padding and more"],
    ["tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j", "padding that is not zero"],
    ["bc1gmk9yu", "no data"]
  ])("%s is refused: %s", (text) => {
    assert.isUndefined(decodeSegwit(text))
  })

  it("an address with any prefix is decoded; the caller checks the prefix", () => {
    const text = "tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut"
    assert.strictEqual(decodeSegwit(text)?.hrp, "tc")
  })
})

describe("program lengths", () => {
  it.each([
    { version: 0, valid: [20, 32] },
    { version: 1, valid: [2, 3, 19, 20, 21, 31, 32, 33, 39, 40] },
    { version: 16, valid: [2, 3, 19, 20, 21, 31, 32, 33, 39, 40] },
    { version: 17, valid: [] }
  ])("the tried program lengths are valid for version $version: $valid", ({ valid, version }) => {
    const tried = [0, 1, 2, 3, 19, 20, 21, 31, 32, 33, 39, 40, 41]
    assert.deepStrictEqual(tried.filter((length) => isProgramLength({ version, length })), valid)
    for (const length of tried) {
      if (isProgramLength({ version, length })) {
        assert.match(encodeSegwit("nc", version, new Uint8Array(length)), /^nc1/)
      } else assert.throws(() => encodeSegwit("nc", version, new Uint8Array(length)), RangeError)
    }
  })

  it("an invalid version throws", () => {
    for (const version of [-1, 0.5, 17, Number.NaN]) {
      assert.throws(() => encodeSegwit("nc", version, new Uint8Array(32)), RangeError)
    }
  })
})

describe("encodeBech32", () => {
  it("encodeBech32 throws for an invalid prefix", () => {
    for (const hrp of ["", "NC", "n c", "nć", "n\x7f", "x".repeat(84)]) {
      assert.throws(() => encodeBech32("bech32", hrp, []), RangeError)
    }
    assert.strictEqual(encodeBech32("bech32", "x".repeat(83), []).length, 90)
  })

  it("encodeBech32 throws for a text of 91 characters, but not of 90", () => {
    assert.strictEqual(encodeBech32("bech32m", "nc", new Array<number>(81).fill(0)).length, 90)
    assert.throws(() => encodeBech32("bech32m", "nc", new Array<number>(82).fill(0)), RangeError)
  })
})

/** The parts of a segwit address. */
const segwitParts = FastCheck.integer({ min: 0, max: 16 }).chain((version) =>
  FastCheck.record({
    hrp: FastCheck.constantFrom("nc", "tn", "ncrt"),
    version: FastCheck.constant(version),
    program: version === 0
      ? FastCheck.constantFrom(20, 32).chain((n) => FastCheck.uint8Array({ minLength: n, maxLength: n }))
      : FastCheck.uint8Array({ minLength: 2, maxLength: 40 })
  })
)

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

describe("segwit properties", () => {
  it.prop("an encoded address is decoded again, in either case", { parts: segwitParts }, ({ parts }) => {
    const text = encodeSegwit(parts.hrp, parts.version, parts.program)
    for (const form of [text, text.toUpperCase()]) {
      const decoded = decodeSegwit(form) ?? assert.fail("refused")
      assert.strictEqual(decoded.hrp, parts.hrp)
      assert.strictEqual(decoded.version, parts.version)
      assert.strictEqual(toHex(decoded.program), toHex(parts.program))
    }
  })

  it.prop("up to four wrong characters in the data are refused", {
    parts: segwitParts,
    changes: FastCheck.array(FastCheck.tuple(FastCheck.nat(), FastCheck.integer({ min: 1, max: 31 })), {
      minLength: 1,
      maxLength: 4
    })
  }, ({ changes, parts }) => {
    const text = encodeSegwit(parts.hrp, parts.version, parts.program)
    const dataStart = parts.hrp.length + 1
    const characters = [...text]
    for (const [at, step] of changes) {
      const position = dataStart + at % (text.length - dataStart)
      characters[position] = ALPHABET[(ALPHABET.indexOf(text[position] ?? "") + step) % 32] ?? ""
    }
    assert.isUndefined(decodeBech32(characters.join("")))
  })

  it.prop("one letter of the other case is refused", { parts: segwitParts, at: FastCheck.nat() }, ({ at, parts }) => {
    const text = encodeSegwit(parts.hrp, parts.version, parts.program)
    const letters = [...text].flatMap((character, i) => /[a-z]/.test(character) ? [i] : [])
    const position = letters[at % letters.length] ?? assert.fail("no letter")
    const other = text.charAt(position).toUpperCase()
    assert.isUndefined(decodeBech32(text.slice(0, position) + other + text.slice(position + 1)))
  })
})
