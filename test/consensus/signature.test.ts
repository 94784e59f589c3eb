import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { FastCheck } from "effect"
import {
  checkTapTweak,
  signatureBackend,
  verifyEcdsa,
  verifyEcdsaBy,
  verifySchnorr
} from "../../src/consensus/signature.ts"
import { loadNativeCurve, nativeChecks } from "../../src/consensus/signatureNative.ts"
import { nobleChecks, type SignatureChecks } from "../../src/consensus/signatureNoble.ts"
import { type Bytes, concat, fromHex } from "../../src/protocol/bytes.ts"
import { tapTweak } from "../../src/protocol/taproot.ts"
import { derOf, hashes, hybridOf, pubkeyOf, secretKeys, signDer, signSchnorr, xOf } from "../support/keys.ts"

const { Point } = secp256k1

const curve = loadNativeCurve()

/** A missing native build is replaced by noble: then these tests prove nothing about it. */
const native: SignatureChecks = curve === undefined ? nobleChecks : nativeChecks(curve)

/** All implementations on this machine. */
const implementations: ReadonlyArray<readonly [string, SignatureChecks]> = curve === undefined
  ? [["noble", nobleChecks]]
  : [["noble", nobleChecks], ["libsecp256k1", native]]

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

const flip = (input: Bytes, bit: number): Uint8Array => {
  const flipped = Uint8Array.from(input)
  const at = Math.floor(bit / 8) % flipped.length
  flipped[at] = (flipped[at] ?? 0) ^ (1 << bit % 8)
  return flipped
}

const negated = (compact: Bytes): Uint8Array => {
  const s = Point.Fn.fromBytes(compact.slice(32))
  return concat(compact.subarray(0, 32), Point.Fn.toBytes(Point.Fn.neg(s)))
}

const bits = FastCheck.nat({ max: 8 * 65 - 1 })

/** Numbers that are not an x, not a scalar, or close to the limits. */
const edges = FastCheck.constantFrom(
  0n,
  1n,
  Point.Fn.ORDER - 1n,
  Point.Fn.ORDER,
  Point.Fn.ORDER + 1n,
  Point.Fp.ORDER - 1n,
  Point.Fp.ORDER,
  (1n << 256n) - 1n
).map((number) => bytes(number.toString(16).padStart(64, "0")))

const anything = FastCheck.oneof({ weight: 3, arbitrary: hashes }, { weight: 1, arbitrary: edges })

// A check with noble takes a millisecond: fewer runs than elsewhere.
const RUNS = { fastCheck: { numRuns: 40 } }

describe("loadNativeCurve", () => {
  it("loadNativeCurve returns undefined if loading fails", () => {
    assert.isUndefined(loadNativeCurve(() => {
      throw new Error("no native build was found")
    }))
  })

  it("loadNativeCurve refuses a module without a required function", () => {
    assert.isUndefined(loadNativeCurve(() => ({ ecdsaVerify: () => true })))
    assert.isUndefined(loadNativeCurve(() => undefined))
  })

  it("loadNativeCurve loads only the native binding: of the package, else the one beside the bundles", () => {
    const asked: Array<string> = []
    loadNativeCurve((id) => asked.push(id))
    assert.deepStrictEqual(asked, ["secp256k1/bindings.js", "../native/secp256k1/index.cjs"])
    asked.length = 0
    const found = loadNativeCurve((id) => {
      asked.push(id)
      if (asked.length === 1) throw new Error("no package")
      return curve
    })
    assert.strictEqual(found, curve)
  })

  it("the loaded module decides the implementation", () => {
    assert.strictEqual(signatureBackend(), curve === undefined ? "noble" : "libsecp256k1")
  })
})

describe.each(implementations)("ECDSA by %s", (_, checks) => {
  const verify = (signature: Bytes, hash: Bytes, pubkey: Bytes): boolean =>
    verifyEcdsaBy(checks)(signature, hash, pubkey)

  it.prop("a valid signature is accepted, with every form of the key, and with the other s", {
    hash: hashes,
    secret: secretKeys
  }, ({ hash, secret }) => {
    const compact = secp256k1.sign(hash, secret, { prehash: false })
    const der = signDer(hash, secret)
    assert.isTrue(verify(der, hash, pubkeyOf(secret)))
    assert.isTrue(verify(der, hash, pubkeyOf(secret, false)))
    assert.isTrue(verify(der, hash, hybridOf(secret)))
    assert.isTrue(verify(derOf(negated(compact)), hash, pubkeyOf(secret)))
  }, RUNS)

  it.prop("another message, key or signature is refused", {
    hash: hashes,
    secret: secretKeys,
    bit: bits
  }, ({ bit, hash, secret }) => {
    const compact = secp256k1.sign(hash, secret, { prehash: false })
    assert.isFalse(verify(derOf(compact), flip(hash, bit), pubkeyOf(secret)))
    assert.isFalse(verify(derOf(compact), hash, flip(pubkeyOf(secret), bit)))
    assert.isFalse(verify(derOf(flip(compact, bit)), hash, pubkeyOf(secret)))
  }, RUNS)

  it("a hybrid key with the wrong parity is refused, and a form that does not match its length", () => {
    const secret = bytes("11".repeat(32))
    const hash = bytes("22".repeat(32))
    const der = signDer(hash, secret)
    const lying = hybridOf(secret)
    lying[0] = (lying[0] ?? 0) ^ 1
    const compressed = pubkeyOf(secret)
    const uncompressed = pubkeyOf(secret, false)
    assert.isFalse(verify(der, hash, lying))
    assert.isFalse(verify(der, hash, new Uint8Array(0)))
    assert.isFalse(verify(der, hash, compressed.subarray(0, 32)))
    assert.isFalse(verify(der, hash, concat(compressed, Uint8Array.of(0))))
    assert.isFalse(verify(der, hash, uncompressed.subarray(0, 33)))
    for (let head = 0; head <= 0xff; head++) {
      const short = concat(Uint8Array.of(head), compressed.subarray(1))
      assert.strictEqual(verify(der, hash, short), head === compressed[0], `33 bytes with ${head}`)
      const long = concat(Uint8Array.of(head), uncompressed.subarray(1))
      const valid = head === 0x04 || head === hybridOf(secret)[0]
      assert.strictEqual(verify(der, hash, long), valid, `65 bytes with ${head}`)
    }
  })

  it("numbers that are not scalars are refused", () => {
    const secret = bytes("11".repeat(32))
    const hash = bytes("22".repeat(32))
    const compact = secp256k1.sign(hash, secret, { prehash: false })
    const order = bytes(Point.Fn.ORDER.toString(16))
    const zero = new Uint8Array(32)
    const r = compact.subarray(0, 32)
    const s = compact.subarray(32)
    for (const pair of [[zero, s], [r, zero], [order, s], [r, order], [zero, zero]]) {
      assert.isFalse(verify(derOf(concat(...pair)), hash, pubkeyOf(secret)))
    }
  })
})

describe.each(implementations)("Schnorr by %s", (_, checks) => {
  it.prop("only a valid signature is accepted", {
    hash: hashes,
    secret: secretKeys,
    bit: bits
  }, ({ bit, hash, secret }) => {
    const signature = signSchnorr(hash, secret)
    const x = xOf(secret)
    assert.isTrue(checks.schnorr(signature, hash, x))
    assert.isFalse(checks.schnorr(signature, flip(hash, bit), x))
    assert.isFalse(checks.schnorr(signature, hash, flip(x, bit)))
    assert.isFalse(checks.schnorr(flip(signature, bit), hash, x))
    assert.isFalse(checks.schnorr(negated(signature), hash, x))
  }, RUNS)
})

describe.each(implementations)("the taproot tweak by %s", (_, checks) => {
  it.prop("the sum of key and tweak is accepted, with the parity of its y", {
    secret: secretKeys,
    tweak: secretKeys,
    bit: bits
  }, ({ bit, secret, tweak }) => {
    const internal = xOf(secret)
    const even = Point.fromBytes(concat(Uint8Array.of(2), internal))
    const point = even.add(Point.BASE.multiply(Point.Fn.fromBytes(tweak)))
    // A tweak that is the negative of the key gives no key: see the next test.
    if (point.is0()) return
    const sum = point.toBytes(true)
    const output = sum.subarray(1)
    const odd = sum[0] === 0x03
    assert.isTrue(checks.tweak({ output, odd, internal, tweak }))
    assert.isFalse(checks.tweak({ output, odd: !odd, internal, tweak }))
    assert.isFalse(checks.tweak({ output: flip(output, bit), odd, internal, tweak }))
    assert.isFalse(checks.tweak({ output, odd, internal, tweak: flip(tweak, bit) }))
  }, RUNS)

  it("a tweak of zero is accepted; a tweak from the order on, or a sum at infinity, is refused", () => {
    const one = bytes("01".padStart(64, "0"))
    const internal = xOf(one)
    assert.isTrue(checks.tweak({ output: internal, odd: false, internal, tweak: new Uint8Array(32) }))
    assert.isFalse(checks.tweak({ output: internal, odd: false, internal, tweak: bytes(Point.Fn.ORDER.toString(16)) }))
    assert.isFalse(
      checks.tweak({ output: internal, odd: false, internal, tweak: bytes((Point.Fn.ORDER - 1n).toString(16)) })
    )
    assert.isFalse(
      checks.tweak({ output: internal, odd: true, internal, tweak: bytes((Point.Fn.ORDER - 1n).toString(16)) })
    )
  })
})

describe.skipIf(curve === undefined)("libsecp256k1 and noble", () => {
  it.prop("libsecp256k1 and noble agree on ECDSA with any numbers, keys and hashes", {
    r: anything,
    s: anything,
    hash: anything,
    x: anything,
    head: FastCheck.constantFrom(2, 3)
  }, ({ hash, head, r, s, x }) => {
    const pubkey = concat(Uint8Array.of(head), x)
    const signature = derOf(concat(r, s))
    assert.strictEqual(
      verifyEcdsaBy(native)(signature, hash, pubkey),
      verifyEcdsaBy(nobleChecks)(signature, hash, pubkey)
    )
  }, RUNS)

  it.prop("both accept any r of a point with any s, for the key that recovery returns", {
    nonce: secretKeys,
    s: secretKeys,
    hash: anything
  }, ({ hash, nonce, s }) => {
    const compact = concat(xOf(nonce), s)
    // Recovery is not defined for the rare x above the order.
    if (Point.Fp.fromBytes(xOf(nonce)) >= Point.Fn.ORDER) return
    const recoverable = concat(Uint8Array.of(0), compact)
    const pubkey = secp256k1.recoverPublicKey(recoverable, hash, { prehash: false })
    assert.isTrue(verifyEcdsaBy(native)(derOf(compact), hash, pubkey))
    assert.isTrue(verifyEcdsaBy(nobleChecks)(derOf(compact), hash, pubkey))
  }, RUNS)

  it.prop("libsecp256k1 and noble agree on Schnorr with any numbers, keys and messages", {
    r: anything,
    s: anything,
    message: hashes,
    x: FastCheck.oneof(anything, secretKeys.map(xOf))
  }, ({ message, r, s, x }) => {
    const signature = concat(r, s)
    assert.strictEqual(native.schnorr(signature, message, x), nobleChecks.schnorr(signature, message, x))
  }, RUNS)

  it.prop("libsecp256k1 and noble agree on all tweaks", {
    output: anything,
    odd: FastCheck.boolean(),
    internal: anything,
    tweak: anything
  }, ({ internal, odd, output, tweak }) => {
    assert.strictEqual(
      native.tweak({ output, odd, internal, tweak }),
      nobleChecks.tweak({ output, odd, internal, tweak })
    )
  }, RUNS)
})

describe("the checks at work", () => {
  const secret = bytes("33".repeat(32))
  const hash = bytes("44".repeat(32))

  it("the selected checks verify ECDSA and Schnorr", () => {
    assert.isTrue(verifyEcdsa(signDer(hash, secret), hash, pubkeyOf(secret)))
    assert.isFalse(verifyEcdsa(signDer(hash, secret), secret, pubkeyOf(secret)))
    assert.isTrue(verifySchnorr(signSchnorr(hash, secret), hash, xOf(secret)))
    assert.isFalse(verifySchnorr(signSchnorr(hash, secret), secret, xOf(secret)))
  })

  it("the selected checks verify that an output commits to a root", () => {
    const internal = xOf(secret)
    const tweak = Point.Fn.fromBytes(tapTweak({ internalKey: internal, merkleRoot: hash }))
    const output = Point.fromBytes(concat(Uint8Array.of(2), internal)).add(Point.BASE.multiply(tweak)).toBytes(true)
    assert.isTrue(checkTapTweak({ output: output.subarray(1), odd: output[0] === 3, internal, merkleRoot: hash }))
    assert.isFalse(checkTapTweak({ output: output.subarray(1), odd: output[0] === 3, internal, merkleRoot: secret }))
  })

  it("a check does not influence the next one", () => {
    const good = signDer(hash, secret)
    assert.isFalse(verifyEcdsa(good.subarray(0, 40), hash, pubkeyOf(secret)))
    assert.isTrue(verifyEcdsa(good, hash, pubkeyOf(secret)))
    assert.isFalse(verifyEcdsa(new Uint8Array(0), hash, pubkeyOf(secret)))
  })
})
