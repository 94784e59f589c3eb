import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { chacha20Stream } from "../../src/protocol/chacha20.ts"
import { decodeSetNumber, encodeSetNumber, MuHash, settledSets } from "../../src/protocol/muhash.ts"
import { bytesOf, hex } from "../support/bytes.ts"

/** The stream as bytes. */
const stream = (key: Uint8Array, words: number): Uint8Array => {
  const output = new Uint32Array(words)
  chacha20Stream(key, output)
  const bytes = new Uint8Array(4 * words)
  const view = new DataView(bytes.buffer)
  for (const [n, word] of output.entries()) view.setUint32(4 * n, word, true)
  return bytes
}

describe("ChaCha20 (RFC 8439, A.1)", () => {
  it("blocks 0 and 1 of the zero key match", () => {
    assert.strictEqual(
      toHex(stream(new Uint8Array(32), 32)),
      "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7" +
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586" +
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed" +
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    )
  })

  it("block 2 of the key 00 ff 00 … matches", () => {
    const key = new Uint8Array(32)
    key[1] = 0xff
    assert.strictEqual(
      toHex(stream(key, 48).subarray(128)),
      "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca" +
        "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096"
    )
  })

  it("the key may be a view", () => {
    const key = Uint8Array.from({ length: 40 }, (_, n) => n)
    assert.deepStrictEqual(stream(key.subarray(3, 35), 16), stream(key.slice(3, 35), 16))
  })
})

/** A member of upstream's tests: a number in 32 bytes, little-endian. */
const member = (number: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, n) => n === 0 ? number : 0)

const setOf = (...members: ReadonlyArray<Uint8Array>): MuHash => {
  const set = new MuHash()
  for (const data of members) set.add(data)
  return set
}

describe("vectors of upstream's crypto_tests.cpp", () => {
  it("the set of 0 and 1 without 2 has its hash", () => {
    const set = setOf(member(0), member(1))
    set.remove(member(2))
    assert.strictEqual(
      displayHash(set.digest()),
      "10d312b100cbd32ada024a6646e40d3482fcff103668d2625f10002a607d5863"
    )
  })

  it("a number above the modulus equals its remainder", () => {
    const overflowing = new MuHash({ numerator: (1n << 3072n) - 1n })
    assert.strictEqual(
      toHex(overflowing.digest()),
      "3a31e6903aff0de9f62f9a9f7f8b861de76ce2cda09822b90014319ae5dc2271"
    )
    assert.deepStrictEqual(new MuHash({ numerator: 1_103_716n }).digest(), overflowing.digest())
  })

  it("the product of 1 and 2 matches", () => {
    const { denominator, numerator } = setOf(member(1), member(2))
    // Least significant byte first, as upstream serializes it.
    const digits = (numerator % ((1n << 3072n) - 1_103_717n)).toString(16).padStart(768, "0")
    assert.strictEqual(
      toHex(hex(digits).reverse().subarray(0, 32)),
      "1fa093295ea30a6a3acdc7b3f770fa538eff537528e990e2910e40bbcfd7f669"
    )
    assert.strictEqual(denominator, 1n)
  })
})

const digestOf = (set: MuHash): string => toHex(set.digest())

describe("a set's hash", () => {
  const members = FastCheck.array(bytesOf(0, 60), { maxLength: 6 })

  it("the hash does not depend on the order", () => {
    FastCheck.assert(
      FastCheck.property(members, (list) => {
        assert.strictEqual(digestOf(setOf(...list)), digestOf(setOf(...list.toReversed())))
      }),
      { numRuns: 30 }
    )
  })

  it("adding and removing a member has no effect, in either order", () => {
    FastCheck.assert(
      FastCheck.property(members, bytesOf(0, 60), (list, data) => {
        const before = digestOf(setOf(...list))
        const later = setOf(...list)
        later.add(data)
        assert.notStrictEqual(digestOf(later), before)
        later.remove(data)
        assert.strictEqual(digestOf(later), before)
        const first = new MuHash()
        first.remove(data)
        for (const each of list) first.add(each)
        first.add(data)
        assert.strictEqual(digestOf(first), before)
      }),
      { numRuns: 20 }
    )
  })

  it("a digest does not change the set, and more members can be added afterwards", () => {
    const set = setOf(member(1))
    set.remove(member(9))
    const once = digestOf(set)
    assert.strictEqual(digestOf(set), once)
    const copy = new MuHash({ numerator: set.numerator, denominator: set.denominator })
    set.add(member(2))
    copy.add(member(2))
    assert.strictEqual(digestOf(copy), digestOf(set))
    assert.notStrictEqual(digestOf(copy), once)
  })

  it("many members multiply as one by one do, and both forms of the number agree", () => {
    const modulus = (1n << 3072n) - 1_103_717n
    for (const count of [1, 7, 8, 9, 63, 64, 65, 130]) {
      const list = Array.from({ length: count }, (_, n) => Uint8Array.of(n, count))
      const expected = list.reduce((product, each) => product * setOf(each).numerator % modulus, 1n)
      const set = setOf(...list)
      assert.isTrue(set.numerator < 1n << 3072n)
      assert.strictEqual(set.numerator % modulus, expected)
      const [settled] = settledSets([set])
      assert.strictEqual(decodeSetNumber(settled?.number ?? assert.fail()), expected)
      assert.deepStrictEqual(settled?.digest, set.digest())
      assert.deepStrictEqual(settled?.number, encodeSetNumber(expected))
    }
  })

  it("the set counts its members", () => {
    assert.notStrictEqual(digestOf(setOf(member(1), member(1))), digestOf(setOf(member(1))))
    assert.notStrictEqual(digestOf(setOf(member(1))), digestOf(setOf(member(2))))
    assert.notStrictEqual(digestOf(setOf()), digestOf(setOf(hex(""))))
  })
})
