import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { createHash, X509Certificate } from "node:crypto"
import type { DomainRecord } from "../../src/dns/domainRecord.ts"
import { tlsaMatches } from "../../src/dns/tlsa.ts"
import { TEST_CERTIFICATE } from "../support/certificate.ts"

const certificate = new X509Certificate(TEST_CERTIFICATE)
const key = certificate.publicKey.export({ type: "spki", format: "der" })

const digest = (algorithm: string, bytes: Uint8Array): string => createHash(algorithm).update(bytes).digest("hex")

const tlsa = (usage: number, selector: number, matchingType: number, association: string): DomainRecord => ({
  name: "_443._tcp.example.bit.",
  type: "TLSA",
  ttl: 600,
  data: `${usage} ${selector} ${matchingType} ${association}`,
  usage,
  selector,
  matchingType,
  association
})

const SELECTED = [["certificate", 0, certificate.raw], ["key", 1, key]] as const

const MATCHED = [
  ["bytes", 0, (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")],
  ["SHA-256", 1, (bytes: Uint8Array) => digest("sha256", bytes)],
  ["SHA-512", 2, (bytes: Uint8Array) => digest("sha512", bytes)]
] as const

describe("tlsaMatches", () => {
  for (const [what, selector, bytes] of SELECTED) {
    for (const [how, matchingType, text] of MATCHED) {
      it(`compares the ${how} of the ${what}`, () => {
        const right = tlsa(3, selector, matchingType, text(bytes))
        const wrong = tlsa(3, selector, matchingType, text(Buffer.from("another")))
        assert.isTrue(tlsaMatches(certificate, [wrong, right]))
        assert.isTrue(tlsaMatches(certificate.raw, [right]))
        assert.isFalse(tlsaMatches(certificate, [wrong]))
      })
    }
  }

  it("counts usage 1 with the usual validation only, and neither of the usages about issuers", () => {
    const of = (usage: number) => [tlsa(usage, 1, 1, digest("sha256", key))]
    assert.isFalse(tlsaMatches(certificate, of(1)))
    assert.isTrue(tlsaMatches(certificate, of(1), { authorized: true }))
    for (const usage of [0, 2, 4, 255]) assert.isFalse(tlsaMatches(certificate, of(usage), { authorized: true }))
  })

  it("does not match without TLSA records, nor by unknown selectors and matching types", () => {
    const hash = digest("sha256", key)
    assert.isFalse(tlsaMatches(certificate, []))
    assert.isFalse(tlsaMatches(certificate, [{ name: "a.bit.", type: "A", ttl: 600, data: "::", address: "::" }]))
    assert.isFalse(tlsaMatches(certificate, [tlsa(3, 2, 1, hash), tlsa(3, 1, 3, hash), tlsa(3, 1, 1, "no hex")]))
    assert.isFalse(tlsaMatches(certificate, [tlsa(3, 0, 0, "")]))
  })

  it("reads no key from bytes that are not a certificate, however they begin", () => {
    const nothing = [tlsa(3, 1, 0, ""), tlsa(3, 1, 0, key.toString("hex"))]
    FastCheck.assert(FastCheck.property(
      FastCheck.oneof(
        FastCheck.uint8Array({ maxLength: 60 }),
        FastCheck.nat(certificate.raw.length - 1).map((length) => certificate.raw.subarray(0, length))
      ),
      (bytes) => {
        assert.isFalse(tlsaMatches(bytes, nothing))
      }
    ))
  })
})
