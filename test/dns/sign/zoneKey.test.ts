import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { createPublicKey, verify } from "node:crypto"
import { canonicalSet, signSet } from "../../../src/dns/sign/signSet.ts"
import { dnskeyOf, dsOf, keyTag, newKeySecret, zoneKeyOf } from "../../../src/dns/sign/zoneKey.ts"
import { writeSignatureHead } from "../../../src/dns/wire/recordData.ts"
import { WireWriter } from "../../../src/dns/wire/WireWriter.ts"
import { concat, toHex } from "../../../src/protocol/bytes.ts"
import { bytesOf } from "../../support/bytes.ts"
import { anySet, wireName } from "../../support/dnsRecords.ts"

const base64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64"))

/** RFC 6605, section 6.1. */
const SECRET = base64("GU6SnQ/Ou+xC5RumuIUIuJZteXT2z0O/ok1s38Et6mQ=")
const PUBLIC = "GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA=="
const DIGEST = "b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e2770ce6d6e37df61d17"
const SIGNATURE = "qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw=="

const example = zoneKeyOf(SECRET, 0) ?? assert.fail("no key")

const publicKeyOf = (key: Uint8Array) =>
  createPublicKey({
    format: "jwk",
    key: {
      kty: "EC",
      crv: "P-256",
      x: Buffer.from(key.subarray(0, 32)).toString("base64url"),
      y: Buffer.from(key.subarray(32)).toString("base64url")
    }
  })

const isSignature = (signed: Uint8Array, signature: Uint8Array): boolean =>
  verify("sha256", signed, { key: publicKeyOf(example.public), dsaEncoding: "ieee-p1363" }, signature)

describe("the example of RFC 6605, section 6.1", () => {
  it("has the public key, key tag and DS record of the RFC", () => {
    assert.strictEqual(Buffer.from(example.public).toString("base64"), PUBLIC)
    assert.strictEqual(keyTag(dnskeyOf(example)), 55_648)
    const ds = dsOf(wireName("example.net"), dnskeyOf(example))
    assert.deepStrictEqual([ds.keyTag, ds.algorithm, ds.digestType, toHex(ds.digest)], [55_648, 13, 2, DIGEST])
  })

  it("signs the bytes that the RFC's signature is over", () => {
    const set = {
      owner: wireName("www.example.net"),
      type: 1,
      ttl: 3600,
      records: [{ type: "A" as const, address: Uint8Array.of(192, 0, 2, 1) }],
      signs: true
    }
    const head = {
      type: "RRSIG" as const,
      covered: 1,
      algorithm: 13,
      labels: 3,
      originalTtl: 3600,
      expiration: Date.UTC(2010, 8, 9, 10, 4, 39) / 1000,
      inception: Date.UTC(2010, 7, 12, 10, 4, 39) / 1000,
      keyTag: 55_648,
      signer: wireName("example.net")
    }
    const signed = concat(writeSignatureHead(new WireWriter(), head).toBytes(), canonicalSet(set))
    assert.isTrue(isSignature(signed, base64(SIGNATURE)))
  })
})

describe("keys", () => {
  it("a revoked key has the flag of RFC 5011, and a tag of its own", () => {
    assert.strictEqual(dnskeyOf(example).flags, 257)
    assert.strictEqual(dnskeyOf(example, true).flags, 385)
    assert.strictEqual(keyTag(dnskeyOf(example, true)), keyTag(dnskeyOf(example)) + 128)
  })

  it.each([
    ["zero", new Uint8Array(32)],
    ["the order of the curve or more", new Uint8Array(32).fill(0xff)],
    ["31 bytes", new Uint8Array(31).fill(1)],
    ["33 bytes", new Uint8Array(33).fill(1)]
  ])("%s is not a secret of P-256", (_, secret) => {
    assert.isUndefined(zoneKeyOf(secret, 0))
  })

  it("a new secret is one of P-256, each another", () => {
    const secrets = Array.from({ length: 300 }, newKeySecret)
    for (const secret of secrets) assert.isDefined(zoneKeyOf(secret, 0))
    assert.strictEqual(new Set(secrets.map(toHex)).size, secrets.length)
  })
})

describe("signatures of sets", () => {
  const signer = { key: example, keyTag: 55_648, zone: wireName("bit"), now: 1_800_000_000 }
  const setAt = (owner: string, wildcard?: string) => ({
    owner: wireName(owner),
    type: 16,
    ttl: 600,
    records: [{ type: "TXT" as const, strings: [Uint8Array.of(65)] }],
    signs: true,
    ...(wildcard === undefined ? {} : { wildcard: wireName(wildcard) })
  })

  it.each([
    ["bit", undefined, 1],
    ["a.b.bit", undefined, 3],
    ["*.b.bit", undefined, 2],
    ["x.y.b.bit", "*.b.bit", 2],
    ["\\*.b.bit", "\\*.b.bit", 2],
    ["a.*.b.bit", undefined, 4]
  ])("%s, from the wildcard %s, has %s signed labels", (owner, wildcard, labels) => {
    const set = setAt(owner, wildcard)
    const record = signSet(set, canonicalSet(set), signer)
    assert.strictEqual(record.labels, labels)
    assert.deepStrictEqual([record.inception, record.expiration], [1_799_996_400, 1_801_209_600])
  })

  it("records of any order, with duplicates, are signed alike, and the signature is right", () => {
    fc.assert(
      fc.property(anySet, fc.nat(), (set, seed) => {
        const { records } = set
        const other = [...records, ...records.slice(0, 1)].sort((a, b) =>
          (JSON.stringify(a).length * (seed + 1)) % 7 - (JSON.stringify(b).length * (seed + 1)) % 7
        )
        const canonical = canonicalSet(set).slice()
        assert.strictEqual(toHex(canonicalSet({ ...set, records: other })), toHex(canonical))
        const record = signSet(set, canonical, signer)
        assert.isTrue(
          isSignature(concat(writeSignatureHead(new WireWriter(), record).toBytes(), canonical), record.signature)
        )
      }),
      { numRuns: 50 }
    )
  })

  it("another byte makes the signature wrong", () => {
    fc.assert(
      fc.property(bytesOf(1, 40), (data) => {
        const set = { ...setAt("a.bit"), records: [{ type: "TXT" as const, strings: [data] }] }
        const canonical = canonicalSet(set).slice()
        const record = signSet(set, canonical, signer)
        const other = canonical.slice()
        other[other.length - 1] = (other.at(-1) ?? 0) ^ 1
        assert.isFalse(
          isSignature(concat(writeSignatureHead(new WireWriter(), record).toBytes(), other), record.signature)
        )
      }),
      { numRuns: 20 }
    )
  })
})
