import { assert, describe, it } from "@effect/vitest"
import { type Answer, decode, encode } from "dns-packet"
import { FastCheck as fc } from "effect"
import type { DnsRecord } from "../../../src/dns/records.ts"
import { FLAGS } from "../../../src/dns/wire/codes.ts"
import { readMessage } from "../../../src/dns/wire/message.ts"
import { MessageWriter } from "../../../src/dns/wire/MessageWriter.ts"
import { type WireName, wireNameText } from "../../../src/dns/wire/name.ts"
import { canonicalData } from "../../../src/dns/wire/recordData.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../../src/values/records.ts"
import { bytesOf } from "../../support/bytes.ts"
import { anyRecord, wireName } from "../../support/dnsRecords.ts"

/** The codec of the package dns-packet reads what ours writes, and ours reads what it writes. */

/** Names whose labels are texts without dots: dns-packet has no other ones. */
const plainName: fc.Arbitrary<WireName> = fc.array(
  fc.string({ unit: fc.constantFrom(..."abz019-_*"), minLength: 1, maxLength: 63 }),
  { maxLength: 3 }
).map((labels) => wireName(`${labels.join(".")}.`))

/** Types that dns-packet has names for. */
const TYPES = Object.entries(TYPE_NUMBERS)
const plainTypes = fc.subarray(TYPES.map(([, number]) => number).sort((a, b) => a - b), { minLength: 1 })

/** dns-packet accepts a fingerprint only in the length of its hash: SHA-1 and SHA-256. */
const fingerprint = fc.constantFrom({ type: 1, length: 20 }, { type: 2, length: 32 }).chain(({ length, type }) =>
  bytesOf(length).map((fingerprint) => ({ fingerprintType: type, fingerprint }))
)

const plainRecord: fc.Arbitrary<DnsRecord> = fc
  .tuple(anyRecord, plainName, plainName, plainTypes, fingerprint, fc.constantFrom(...TYPES))
  .map(([record, name, other, types, ssh, [, covered]]) => {
    switch (record.type) {
      case "SOA":
        return { ...record, mname: name, rname: other }
      case "NSEC":
        return { ...record, next: name, types }
      case "RRSIG":
        return { ...record, signer: name, covered }
      case "SSHFP":
        return { ...record, ...ssh }
      default:
        return record
    }
  })
  .filter(({ type }) => type !== "opaque")

/** dns-packet leaves the last dot out, except that of the root. */
const hostText = (host: string): string => host === "." ? host : host.slice(0, -1)

const nameText = (name: WireName): string => hostText(wireNameText(name))

const typeText = (number: number): string => TYPES.find(([, known]) => known === number)?.[0] ?? assert.fail()

const ipv6 = (bytes: Uint8Array): string =>
  new URL(`http://[${toHex(bytes).replace(/(.{4})(?=.)/g, "$1:")}]`).hostname.slice(1, -1)

/** A record as dns-packet has it. */
const answerOf = (record: DnsRecord, head: { readonly name: string; readonly ttl: number }): Answer => {
  const common = { ...head, class: "IN", flush: false } as const
  switch (record.type) {
    case "A":
      return { ...common, type: "A", data: record.address.join(".") }
    case "AAAA":
      return { ...common, type: "AAAA", data: ipv6(record.address) }
    case "CNAME":
    case "DNAME":
    case "NS":
      return { ...common, type: record.type, data: hostText(record.target) }
    case "DS": {
      const { algorithm, digest, digestType, keyTag } = record
      return { ...common, type: "DS", data: { keyTag, algorithm, digestType, digest: Buffer.from(digest) } }
    }
    case "SRV": {
      const { port, priority, target, weight } = record
      return { ...common, type: "SRV", data: { priority, weight, port, target: hostText(target) } }
    }
    case "MX":
      return {
        ...common,
        type: "MX",
        data: { preference: record.preference, exchange: hostText(record.target) }
      }
    case "TLSA": {
      const { data, matchingType, selector, usage } = record
      return { ...common, type: "TLSA", data: { usage, selector, matchingType, certificate: Buffer.from(data) } }
    }
    case "TXT":
      return { ...common, type: "TXT", data: record.strings.map((string) => Buffer.from(string)) }
    case "LOC":
      return { ...common, type: "LOC", data: Buffer.from(record.data) }
    case "SSHFP": {
      const { algorithm, fingerprint, fingerprintType } = record
      return {
        ...common,
        type: "SSHFP",
        data: { algorithm, hash: fingerprintType, fingerprint: toHex(fingerprint).toUpperCase() }
      }
    }
    case "SOA": {
      const { expire, minimum, mname, refresh, retry, rname, serial } = record
      const names = { mname: nameText(mname), rname: nameText(rname) }
      return { ...common, type: "SOA", data: { ...names, serial, refresh, retry, expire, minimum } }
    }
    case "DNSKEY": {
      const { algorithm, flags, key } = record
      return { ...common, type: "DNSKEY", data: { flags, algorithm, key: Buffer.from(key) } }
    }
    case "NSEC":
      return {
        ...common,
        type: "NSEC",
        data: { nextDomain: nameText(record.next), rrtypes: record.types.map(typeText) }
      }
    case "RRSIG": {
      const { algorithm, covered, expiration, inception, keyTag, labels, originalTtl, signature, signer } = record
      const times = { originalTTL: originalTtl, expiration, inception }
      return {
        ...common,
        type: "RRSIG",
        data: {
          ...times,
          typeCovered: typeText(covered),
          algorithm,
          labels,
          keyTag,
          signersName: nameText(signer),
          signature: Buffer.from(signature)
        }
      }
    }
    case "HINFO":
      return { ...common, type: "HINFO", data: { cpu: record.cpu, os: record.os } }
    case "opaque":
      return assert.fail("dns-packet has no record of an unknown type")
  }
}

const anyRecords = fc.array(
  fc.record({ owner: plainName, ttl: fc.integer({ min: 0, max: 0x7fffffff }), record: plainRecord }),
  { minLength: 1, maxLength: 12 }
)

const numberOf = (record: DnsRecord): number => record.type === "opaque" ? record.number : TYPE_NUMBERS[record.type]

describe("dns-packet", () => {
  it("reads every record of our messages", () => {
    fc.assert(fc.property(anyRecords, plainName, (records, asked) => {
      const writer = new MessageWriter()
      const flags = FLAGS.QR | FLAGS.AA
      writer.start({ id: 7, flags, question: { asked, type: TYPE_NUMBERS.TXT, class: 1 } })
      for (const { owner, record, ttl } of records) {
        assert.isTrue(writer.record("answer", { owner, ttl, type: numberOf(record) }, record))
      }
      const read = decode(Buffer.from(writer.bytes()))
      assert.deepStrictEqual(read.questions, [{ name: nameText(asked), type: "TXT", class: "IN" }])
      assert.deepStrictEqual(
        read.answers,
        records.map(({ owner, record, ttl }) => answerOf(record, { name: nameText(owner), ttl }))
      )
    }))
  })

  it("writes messages whose records we read", () => {
    fc.assert(fc.property(anyRecords, (records) => {
      const bytes = encode({
        type: "response",
        id: 7,
        answers: records.map(({ owner, record, ttl }) => answerOf(record, { name: nameText(owner), ttl }))
      })
      assert.deepStrictEqual(
        readMessage(bytes).answer.map(({ data, owner, ttl, type }) => ({ owner, ttl, type, data: toHex(data) })),
        records.map(({ owner, record, ttl }) => ({
          owner,
          ttl,
          type: numberOf(record),
          data: toHex(canonicalData(record))
        }))
      )
    }))
  })
})
