import { assert, describe, it } from "@effect/vitest"
import { isLowS, isStrictDer } from "../../src/consensus/der.ts"
import { verifyEcdsaBy } from "../../src/consensus/signature.ts"
import { loadNativeCurve, nativeChecks } from "../../src/consensus/signatureNative.ts"
import { nobleChecks, type SignatureChecks } from "../../src/consensus/signatureNoble.ts"
import { type Bytes, concat, fromHex } from "../../src/protocol/bytes.ts"
import { sha256 } from "../../src/protocol/hash.ts"
import { fixtureJson, fixtureText, hasShared } from "../support/fixtures.ts"
import { derOf, pubkeyOf } from "../support/keys.ts"

/**
 * Vectors of other projects, by every implementation that this machine has. Those in secp256k1/noble about signing
 * (rfc6979.json, `extraEntropy` in ecdsa.json) and about the arithmetic of points (endomorphism.json, the additions
 * and multiplications in points.json that are not tweaks) speak of nothing that these checks do.
 */

const curve = loadNativeCurve()

const implementations: ReadonlyArray<readonly [string, SignatureChecks]> = curve === undefined
  ? [["noble", nobleChecks]]
  : [["noble", nobleChecks], ["libsecp256k1", nativeChecks(curve)]]

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

const withHashType = (der: Bytes): Bytes => concat(der, Uint8Array.of(1))

interface Wycheproof {
  readonly testGroups: ReadonlyArray<{
    readonly key: { readonly uncompressed: string }
    readonly tests: ReadonlyArray<{
      readonly tcId: number
      readonly comment: string
      readonly msg: string
      readonly sig: string
      readonly result: "valid" | "invalid" | "acceptable"
    }>
  }>
}

interface NobleEcdsa {
  readonly valid: ReadonlyArray<{ readonly d: string; readonly m: string; readonly signature: string }>
  readonly invalid: {
    readonly verify: ReadonlyArray<{
      readonly description: string
      readonly Q: string
      readonly m: string
      readonly signature: string
      readonly strict?: boolean
    }>
  }
}

interface NoblePoints {
  readonly valid: {
    readonly isPoint: ReadonlyArray<{ readonly P: string; readonly expected: boolean }>
    readonly pointAddScalar: ReadonlyArray<{ readonly P: string; readonly d: string; readonly expected: string | null }>
  }
  readonly invalid: {
    readonly pointAddScalar: ReadonlyArray<{ readonly description: string; readonly P: string; readonly d: string }>
  }
}

/** Rows of a table of signatures, each with the columns of BIP 340. */
const schnorrRows = (file: string): ReadonlyArray<ReadonlyArray<string>> =>
  fixtureText(file).trim().split(/\r?\n/).slice(1).map((line) => line.split(","))

/** noble takes a millisecond for each: only some rows are checked. */
const some = <A>(rows: ReadonlyArray<A>, implementation: string): ReadonlyArray<A> =>
  implementation === "noble" ? rows.filter((_, i) => i % 8 === 0) : rows

describe.skipIf(!hasShared).each(implementations)("vectors by %s", (name, checks) => {
  it("Wycheproof: a signature is valid only if the encoding is strict and the signature is correct", () => {
    const groups = fixtureJson<Wycheproof>("secp256k1/wycheproof/ecdsa_secp256k1_sha256.json").testGroups
    let count = 0
    for (const { key, tests } of groups) {
      for (const { comment, msg, result, sig, tcId } of tests) {
        const der = bytes(sig)
        const holds = verifyEcdsaBy(checks)(der, sha256(bytes(msg)), bytes(key.uncompressed))
        const strict = isStrictDer(withHashType(der))
        assert.strictEqual(holds && strict, result === "valid", `${tcId}: ${comment}`)
        // The lax parser accepts a missing zero before a number.
        if (result === "acceptable") assert.isTrue(holds && !strict, `${tcId}: ${comment}`)
        count++
      }
    }
    assert.strictEqual(count, 380)
  })

  it("secp256k1/noble/ecdsa.json: the valid signatures are accepted", () => {
    for (const { d, m, signature } of some(fixtureJson<NobleEcdsa>("secp256k1/noble/ecdsa.json").valid, name)) {
      assert.isTrue(verifyEcdsaBy(checks)(derOf(bytes(signature)), bytes(m), pubkeyOf(bytes(d))), m)
    }
  })

  it("secp256k1/noble/ecdsa.json: the invalid signatures are refused, except for a high s", () => {
    for (const row of fixtureJson<NobleEcdsa>("secp256k1/noble/ecdsa.json").invalid.verify) {
      const der = derOf(bytes(row.signature))
      const highS = row.strict === true
      assert.strictEqual(verifyEcdsaBy(checks)(der, bytes(row.m), bytes(row.Q)), highS, row.description)
      if (highS) assert.isFalse(isLowS(withHashType(der)), row.description)
    }
  })

  it("secp256k1/noble/points.json: the x of a point is recognized", () => {
    const zero = new Uint8Array(32)
    const rows = fixtureJson<NoblePoints>("secp256k1/noble/points.json").valid.isPoint
    for (const { expected, P } of some(rows, name)) {
      const key = bytes(P)
      if (key.length !== 33 || (key[0] !== 2 && key[0] !== 3)) continue
      assert.strictEqual(
        checks.tweak({ output: key.subarray(1), odd: false, internal: key.subarray(1), tweak: zero }),
        expected,
        P
      )
    }
  })

  it("secp256k1/noble/points.json: a tweak is added to an even point", () => {
    const { invalid, valid } = fixtureJson<NoblePoints>("secp256k1/noble/points.json")
    const evens = valid.pointAddScalar.filter(({ P }) => P.startsWith("02"))
    assert.isAbove(evens.length, 3)
    for (const { d, expected, P } of evens) {
      const sum = bytes(expected ?? assert.fail("a valid sum is given"))
      assert.isTrue(
        checks.tweak({ output: sum.subarray(1), odd: sum[0] === 3, internal: bytes(P).subarray(1), tweak: bytes(d) }),
        `${P} + ${d}`
      )
    }
    for (const { d, description, P } of invalid.pointAddScalar.filter((row) => /^02.{64}$/.test(row.P))) {
      assert.isFalse(
        checks.tweak({ output: bytes(P).subarray(1), odd: false, internal: bytes(P).subarray(1), tweak: bytes(d) }),
        description
      )
    }
  })

  it.each(["bips/bip340_test_vectors.csv", "secp256k1/noble/schnorr.csv"])("%s", (file) => {
    const rows = schnorrRows(file)
    assert.isAtLeast(rows.length, 15)
    for (const [index, , pubkey = "", , message = "", signature = "", result = "", comment = ""] of rows) {
      const holds = checks.schnorr(bytes(signature), bytes(message), bytes(pubkey))
      assert.strictEqual(holds, result === "TRUE", `${index}: ${comment}`)
    }
  })
})
