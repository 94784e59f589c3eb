import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  decodeBase58,
  decodeBase58Check,
  encodeBase58,
  encodeBase58Check,
  MAX_BASE58_LENGTH
} from "../../src/protocol/base58.ts"
import { fromHex, toHex } from "../../src/protocol/bytes.ts"
import { fixtureJson, hasShared } from "../support/fixtures.ts"

const hex = (text: string): Uint8Array => fromHex(text) ?? assert.fail(`not hexadecimal: ${text}`)

const decoded = (text: string, maxBytes?: number): string | undefined => {
  const bytes = decodeBase58(text, maxBytes)
  return bytes === undefined ? undefined : toHex(bytes)
}

describe.skipIf(!hasShared)("base58 vectors of the reference node", () => {
  const vectors = hasShared ? fixtureJson<Array<[string, string]>>("core/unit/base58_encode_decode.json") : []

  it("the file has all vectors", () => {
    assert.strictEqual(vectors.length, 21)
  })

  it.each(vectors)("%s is encoded as %s", (data, text) => {
    assert.strictEqual(encodeBase58(hex(data)), text)
    assert.strictEqual(decoded(text), data.toLowerCase())
  })
})

describe("base58", () => {
  it.each([
    ["", ""],
    ["00", "1"],
    ["0000", "11"],
    ["39", "z"],
    ["3a", "21"],
    ["0039", "1z"],
    ["ffffffffffffffff", "jpXCZedGfVQ"]
  ])("%j is encoded as %j", (data, text) => {
    assert.strictEqual(encodeBase58(hex(data)), text)
    assert.strictEqual(decoded(text), data)
  })

  it.prop("encoded bytes are decoded again, leading zeros included", {
    zeros: FastCheck.nat(20),
    rest: FastCheck.uint8Array({ maxLength: 120 })
  }, ({ rest, zeros }) => {
    const bytes = Uint8Array.from([...new Uint8Array(zeros), ...rest])
    assert.strictEqual(decoded(encodeBase58(bytes)), toHex(bytes))
  })

  it("every character outside the alphabet is refused", () => {
    const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    for (let code = 0; code < 300; code++) {
      const text = `2${String.fromCharCode(code)}2`
      if (alphabet.includes(String.fromCharCode(code))) assert.isDefined(decodeBase58(text), text)
      else assert.isUndefined(decodeBase58(text), JSON.stringify(text))
    }
    for (const text of ["0", "I", "O", "l", "é", "😀", "a\0", "\0a"]) assert.isUndefined(decodeBase58(text), text)
  })

  it("white space is ignored around the digits, but not within them", () => {
    assert.strictEqual(decoded(" \t\n\v\f\r 2g \r\f\v\n\t "), "61")
    assert.strictEqual(decoded(" \t\n"), "")
    assert.isUndefined(decodeBase58("2 g"))
    assert.isUndefined(decodeBase58("\u00a02g"))
    assert.isUndefined(decodeBase58("\u00852g"))
    assert.isUndefined(decodeBase58("\b2g"))
    assert.isUndefined(decodeBase58("2g\x0e"))
  })

  it("more bytes than the expected number are refused", () => {
    assert.strictEqual(decoded("111", 3), "000000")
    assert.isUndefined(decodeBase58("1111", 3))
    assert.strictEqual(decoded(encodeBase58(hex("00ffffff")), 4), "00ffffff")
    assert.isUndefined(decodeBase58(encodeBase58(hex("00ffffff")), 3))
    assert.isUndefined(decodeBase58(encodeBase58(hex("ffffff")), 2))
  })

  it("a text longer than the limit is refused", () => {
    assert.strictEqual(decodeBase58("z".repeat(MAX_BASE58_LENGTH))?.length, 733)
    assert.isUndefined(decodeBase58("z".repeat(MAX_BASE58_LENGTH + 1)))
    assert.strictEqual(decodeBase58("1".repeat(MAX_BASE58_LENGTH))?.length, MAX_BASE58_LENGTH)
    assert.isUndefined(decodeBase58("1".repeat(MAX_BASE58_LENGTH + 1)))
    assert.isUndefined(decodeBase58("2g" + " ".repeat(MAX_BASE58_LENGTH)))
  })
})

describe("base58check", () => {
  it("version 0 and its hash give Bitcoin's first address", () => {
    const payload = hex("0062e907b15cbf27d5425399ebf6f0fb50ebb88f18")
    assert.strictEqual(encodeBase58Check(payload), "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa")
    assert.deepStrictEqual(decodeBase58Check("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"), payload)
  })

  it("an empty payload has four bytes of checksum, and fewer are refused", () => {
    assert.strictEqual(encodeBase58Check(hex("")), "3QJmnh")
    assert.deepStrictEqual(decodeBase58Check("3QJmnh"), new Uint8Array(0))
    for (const text of ["", "1", "111", "3QJmn"]) assert.isUndefined(decodeBase58Check(text), text)
  })

  it("a payload longer than expected is refused", () => {
    const text = encodeBase58Check(new Uint8Array(21).fill(7))
    assert.strictEqual(decodeBase58Check(text, 21)?.length, 21)
    assert.isUndefined(decodeBase58Check(text, 20))
  })

  it.prop(
    "an encoded payload is decoded again",
    { payload: FastCheck.uint8Array({ maxLength: 82 }) },
    ({ payload }) => {
      assert.strictEqual(toHex(decodeBase58Check(encodeBase58Check(payload)) ?? assert.fail("refused")), toHex(payload))
    }
  )

  it.prop("every text with one changed byte is refused", {
    payload: FastCheck.uint8Array({ maxLength: 40 }),
    at: FastCheck.nat(),
    difference: FastCheck.integer({ min: 1, max: 255 })
  }, ({ at, difference, payload }) => {
    const bytes = decodeBase58(encodeBase58Check(payload)) ?? assert.fail("refused")
    const position = at % bytes.length
    bytes[position] = (bytes[position] ?? 0) ^ difference
    assert.isUndefined(decodeBase58Check(encodeBase58(bytes)))
  })

  it.prop("every truncated text is refused", { payload: FastCheck.uint8Array({ maxLength: 40 }) }, ({ payload }) => {
    const text = encodeBase58Check(payload)
    for (let end = 0; end < text.length; end++) assert.isUndefined(decodeBase58Check(text.slice(0, end)))
  })
})
