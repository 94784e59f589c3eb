import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { FastCheck } from "effect"
import { decodeBase58, encodeBase58, encodeBase58Check } from "../../src/protocol/base58.ts"
import { fromHex, toHex } from "../../src/protocol/bytes.ts"
import {
  encodeExtendedKey,
  type ExtendedKey,
  type ExtendedKeyError,
  parseExtendedKey
} from "../../src/protocol/extendedKey.ts"
import { mainnet, type Network, regtest, testnet } from "../../src/protocol/networks.ts"
import { fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"

const hex = (text: string): Uint8Array => fromHex(text) ?? assert.fail(`not hexadecimal: ${text}`)

const parsed = (text: string, network: Network = mainnet): ExtendedKey => {
  const result = parseExtendedKey(network, text)
  return "error" in result ? assert.fail(result.error) : result.extendedKey
}

const errorOf = (text: string, network: Network = mainnet): ExtendedKeyError => {
  const result = parseExtendedKey(network, text)
  return "error" in result ? result.error : assert.fail("accepted")
}

/** Master and first hardened child of BIP 32's first test vector. */
const XPRV =
  "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi"
const XPUB =
  "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8"
const CHILD_XPUB =
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"

describe("the first keys of BIP 32's test vector 1", () => {
  const chainCode = "873dff81c02f525623fd1fe5167eac3a55a049de3d314bb42ee227ffed37d508"

  it("the master private key is decoded", () => {
    assert.deepStrictEqual(parsed(XPRV), {
      kind: "private",
      depth: 0,
      parentFingerprint: hex("00000000"),
      childNumber: 0,
      chainCode: hex(chainCode),
      key: hex("e8f32e723decf4051aefac8e2c93c9c5b214313817cdb01a1494b917c8436b35")
    })
  })

  it("the master public key is decoded", () => {
    assert.deepStrictEqual(parsed(XPUB), {
      kind: "public",
      depth: 0,
      parentFingerprint: hex("00000000"),
      childNumber: 0,
      chainCode: hex(chainCode),
      key: hex("0339a36013301597daef41fbe593a02cc513d0b55527ec2df1050e2e8ff49c85c2")
    })
  })

  it("a hardened child is decoded", () => {
    const { childNumber, depth, parentFingerprint } = parsed(CHILD_XPUB)
    assert.strictEqual(depth, 1)
    assert.strictEqual(toHex(parentFingerprint), "3442193e")
    assert.strictEqual(childNumber, 0x80000000)
  })
})

interface Vector {
  readonly vector: number
  readonly chains: ReadonlyArray<{ readonly path: string; readonly xpub: string; readonly xprv: string }>
  readonly invalid?: ReadonlyArray<{ readonly key: string; readonly reason: string }>
}

const vectors = hasShared ? fixtureJson<ReadonlyArray<Vector>>("bips/bip32_vectors.json") : []

describe.skipIf(!hasShared)("BIP 32 test vectors", () => {
  it("the files have all vectors", () => {
    assert.strictEqual(vectors.flatMap(({ chains }) => chains).length, 17)
    assert.strictEqual(vectors.flatMap(({ invalid }) => invalid ?? []).length, 14)
  })

  it.each(vectors.flatMap(({ chains, vector }) => chains.map((chain) => ({ ...chain, vector }))))(
    "$vector: the two keys at $path",
    ({ path, xprv, xpub }) => {
      const steps = path.split("/").slice(1)
      const last = steps.at(-1) ?? "0"
      const childNumber = Number.parseInt(last, 10) + (last.endsWith("'") ? 0x80000000 : 0)
      const privateKey = parsed(xprv)
      const publicKey = parsed(xpub)
      for (const key of [privateKey, publicKey]) {
        assert.strictEqual(key.depth, steps.length)
        assert.strictEqual(key.childNumber, childNumber)
      }
      assert.strictEqual(privateKey.kind, "private")
      assert.strictEqual(publicKey.kind, "public")
      assert.deepStrictEqual(privateKey.chainCode, publicKey.chainCode)
      assert.deepStrictEqual(privateKey.parentFingerprint, publicKey.parentFingerprint)
      assert.strictEqual(toHex(secp256k1.getPublicKey(privateKey.key, true)), toHex(publicKey.key))
      assert.strictEqual(encodeExtendedKey(mainnet, privateKey), xprv)
      assert.strictEqual(encodeExtendedKey(mainnet, publicKey), xpub)
    }
  )

  /** Vector 5's descriptions and our errors. */
  const errors: Readonly<Record<string, ExtendedKeyError>> = {
    "pubkey version / prvkey mismatch": "public key does not begin with 2 or 3",
    "prvkey version / pubkey mismatch": "private key without a zero byte before it",
    "invalid pubkey prefix 04": "public key does not begin with 2 or 3",
    "invalid prvkey prefix 04": "private key without a zero byte before it",
    "invalid pubkey prefix 01": "public key does not begin with 2 or 3",
    "invalid prvkey prefix 01": "private key without a zero byte before it",
    "zero depth with non-zero parent fingerprint": "depth 0 with a parent fingerprint",
    "zero depth with non-zero index": "depth 0 with a child number",
    "private key 0 not in 1..n-1": "private key out of range",
    "private key n not in 1..n-1": "private key out of range",
    "invalid pubkey 020000000000000000000000000000000000000000000000000000000000000007": "public key not on the curve",
    "invalid checksum": "not a Base58Check text of 78 bytes"
  }

  it.each(vectors.flatMap(({ invalid }) => [...invalid ?? []]))("vector 5 is refused: $reason", ({ key, reason }) => {
    assert.strictEqual(errorOf(key), errors[reason])
  })

  it("bcoin's keys are decoded and encoded again", () => {
    const texts = fixtureText("bips/hd_vectors_bcoin.json").match(/\bx(?:pub|prv)[1-9A-HJ-NP-Za-km-z]+/g) ?? []
    assert.isAbove(texts.length, 30)
    for (const text of texts) {
      const key = parsed(text)
      assert.strictEqual(key.kind, text.startsWith("xpub") ? "public" : "private")
      assert.strictEqual(encodeExtendedKey(mainnet, key), text)
    }
  })
})

describe("parseExtendedKey", () => {
  it.each([
    "DMwo58pR1QLEFihHiXPVykYB6fJmsTeHvyTp7hRThAtCX8CvYzgPcn8XnmdfHGMQzT7ayAmfo4z3gY5KfbrZWZ6St24UVf2Qgo6oujFktLHdHY4",
    "DMwo58pR1QLEFihHiXPVykYB6fJmsTeHvyTp7hRThAtCX8CvYzgPcn8XnmdfHPmHJiEDXkTiJTVV9rHEBUem2mwVbbNfvT2MTcAqj3nesx8uBf9"
  ])("the unknown versions of BIP 32's vector 5 are refused: %s", (text) => {
    assert.strictEqual(errorOf(text), "not an extended key of this network")
  })

  it("another network's keys are refused; testnet and regtest share their versions", () => {
    assert.strictEqual(errorOf(XPRV, testnet), "not an extended key of this network")
    const text = encodeExtendedKey(testnet, parsed(XPRV))
    assert.match(text, /^tprv/)
    assert.match(encodeExtendedKey(testnet, parsed(XPUB)), /^tpub/)
    assert.strictEqual(errorOf(text, mainnet), "not an extended key of this network")
    assert.deepStrictEqual(parsed(text, regtest), parsed(XPRV))
  })

  it("a text that is not Base58Check of 78 bytes is refused", () => {
    const bytes = decodeBase58(XPUB) ?? assert.fail("undecoded")
    const texts = ["", "x", `${XPUB.slice(0, -1)}9`, XPUB.repeat(1000), "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR"]
    for (const text of [...texts, encodeBase58Check(bytes.subarray(0, 77)), encodeBase58Check(bytes.subarray(0, 79))]) {
      assert.strictEqual(errorOf(text), "not a Base58Check text of 78 bytes")
    }
  })
})

describe("encodeExtendedKey", () => {
  const master = parsed(XPRV)

  it.each<[string, Partial<ExtendedKey>]>([
    ["a depth below 0", { depth: -1 }],
    ["a depth above 255", { depth: 256 }],
    ["a child number above 2^32 - 1", { depth: 1, childNumber: 0x1_0000_0000 }],
    ["a fractional child number", { depth: 1, childNumber: 0.5 }],
    ["a fingerprint of 3 bytes", { depth: 1, parentFingerprint: new Uint8Array(3) }],
    ["a chain code of 31 bytes", { chainCode: new Uint8Array(31) }],
    ["a private key of 33 bytes", { key: new Uint8Array(33).fill(1) }],
    ["a public key of 32 bytes", { kind: "public" }],
    ["a master key with a child number", { childNumber: 1 }],
    ["a master key with a parent", { parentFingerprint: hex("00000001") }],
    ["a private key 0", { key: new Uint8Array(32) }],
    ["a public key off the curve", { kind: "public", key: hex(`02${"00".repeat(31)}07`) }]
  ])("encodeExtendedKey throws for %s", (_, change) => {
    assert.throws(() => encodeExtendedKey(mainnet, { ...master, ...change }), RangeError)
  })

  it("the largest depth and child number are valid", () => {
    const child: ExtendedKey = { ...master, depth: 255, childNumber: 0xffffffff, parentFingerprint: hex("01020304") }
    assert.deepStrictEqual(parsed(encodeExtendedKey(mainnet, child)), child)
  })
})

describe("extended key properties", () => {
  const bytes = (length: number) => FastCheck.uint8Array({ minLength: length, maxLength: length })
  const extendedKeys = FastCheck.record({
    isPublic: FastCheck.boolean(),
    depth: FastCheck.integer({ min: 1, max: 255 }),
    parentFingerprint: bytes(4),
    childNumber: FastCheck.integer({ min: 0, max: 0xffffffff }),
    chainCode: bytes(32),
    number: FastCheck.bigInt({ min: 1n, max: secp256k1.Point.Fn.ORDER - 1n })
  }).map(({ isPublic, number, ...fields }): ExtendedKey => {
    const key = hex(number.toString(16).padStart(64, "0"))
    return isPublic
      ? { ...fields, kind: "public", key: secp256k1.getPublicKey(key, true) }
      : { ...fields, kind: "private", key }
  })

  it.prop("an encoded key is decoded again", {
    extendedKey: extendedKeys,
    network: FastCheck.constantFrom(mainnet, testnet, regtest)
  }, ({ extendedKey, network }) => {
    const text = encodeExtendedKey(network, extendedKey)
    assert.strictEqual(text.length, 111)
    const back = parsed(text, network)
    assert.deepStrictEqual({ ...back, chainCode: toHex(back.chainCode), key: toHex(back.key) }, {
      ...extendedKey,
      chainCode: toHex(extendedKey.chainCode),
      key: toHex(extendedKey.key)
    })
  })

  it.prop("every text with one changed byte is refused", {
    extendedKey: extendedKeys,
    at: FastCheck.integer({ min: 0, max: 81 }),
    difference: FastCheck.integer({ min: 1, max: 255 })
  }, ({ at, difference, extendedKey }) => {
    const corrupted = decodeBase58(encodeExtendedKey(mainnet, extendedKey)) ?? assert.fail("undecoded")
    corrupted[at] = (corrupted[at] ?? 0) ^ difference
    assert.strictEqual(errorOf(encodeBase58(corrupted)), "not a Base58Check text of 78 bytes")
  })
})
