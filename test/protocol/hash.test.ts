import { assert, describe, it } from "@effect/vitest"
import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js"
import { FastCheck } from "effect"
import { concat, displayHash, toHex } from "../../src/protocol/bytes.ts"
import { hash160, hash256, hash256Into, ripemd160, sha1, sha256, taggedHash } from "../../src/protocol/hash.ts"
import { regtest } from "../../src/protocol/networks.ts"
import { bytesOf, hex } from "../support/bytes.ts"

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("published digests", () => {
  it.each([
    ["sha256", sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["sha256", sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    ["ripemd160", ripemd160, "", "9c1185a5c5e9fc54612808977ee8f548b2258d31"],
    ["ripemd160", ripemd160, "abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"],
    ["sha1", sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"],
    ["sha1", sha1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"]
  ])("%s has its published digest", (_, digest, text, expected) => {
    assert.strictEqual(toHex(digest(ascii(text))), expected)
  })

  it("hash256 of the regtest genesis header is its hash", () => {
    assert.strictEqual(
      displayHash(hash256(regtest.genesisBlock.subarray(0, 80))),
      "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
    )
  })

  it("hash160 of the generator's public key (reference/protocol.md 1.4)", () => {
    const key = hex("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
    assert.strictEqual(toHex(hash160(key)), "751e76e8199196d454941c45d1b3a323f1433bd6")
  })
})

it("native SHA-256 agrees with noble's on any bytes, views included", () => {
  FastCheck.assert(FastCheck.property(bytesOf(0, 200), bytesOf(0, 8), (bytes, before) => {
    const view = concat(before, bytes).subarray(before.length)
    assert.strictEqual(toHex(sha256(view)), toHex(nobleSha256(bytes)))
    assert.strictEqual(toHex(hash256(view)), toHex(nobleSha256(nobleSha256(bytes))))
    assert.strictEqual(toHex(hash160(view)), toHex(ripemd160(nobleSha256(bytes))))
  }))
})

it("a digest is written where it fits, and refused where it does not", () => {
  const bytes = ascii("abc")
  const into = new Uint8Array(40)
  hash256Into(bytes, into, 8)
  assert.strictEqual(toHex(into.subarray(8)), toHex(hash256(bytes)))
  assert.throws(() => hash256Into(bytes, into, 9), RangeError)
})

describe("tagged hashes (BIP 340)", () => {
  // BIP 341 wallet vectors: a leaf of version c0 with a script of 34 bytes, and the tweak of an internal key alone.
  it("a tap leaf has its hash", () => {
    const script = hex("20d85a959b0290bf19bb89ed43c916be835475d013da4b362117393e25a48229b8ac")
    assert.strictEqual(
      toHex(taggedHash("TapLeaf", hex("c022"), script)),
      "5b75adecf53548f3ec6ad7d78383bf84cc57b55a3127c72b9a2481752dd88b21"
    )
  })

  it("a tap tweak has its hash", () => {
    assert.strictEqual(
      toHex(taggedHash("TapTweak", hex("d6889cb081036e0faefa3a35157ad71086b123b2b144b649798b494c300a961d"))),
      "b86e7be8f39bab32a6f2c0443abbc210f0edac0e2c53d501b36b64437d9c6c70"
    )
  })

  it("a tagged hash depends on the tag and the bytes, but not on how the bytes are split", () => {
    FastCheck.assert(FastCheck.property(FastCheck.string(), bytesOf(0, 70), FastCheck.nat(70), (tag, data, cut) => {
      const prefix = nobleSha256(ascii(tag))
      const expected = toHex(nobleSha256(concat(prefix, prefix, data)))
      assert.strictEqual(toHex(taggedHash(tag, data)), expected)
      assert.strictEqual(toHex(taggedHash(tag, data.subarray(0, cut), data.subarray(cut))), expected)
    }))
  })
})
