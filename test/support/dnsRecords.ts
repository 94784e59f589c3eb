import { assert } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { DnsRecord, RecordSet } from "../../src/dns/records.ts"
import { lowerCaseName, nameOfLabels, readNameText, ROOT, type WireName } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { bytesOf } from "./bytes.ts"

/** Arbitrary names and records, and names from texts, for tests of DNS. */

/** A name as zone files have it. */
export const wireName = (text: string): WireName => readNameText(text) ?? assert.fail(`not a name: ${text}`)

/** Labels of any bytes, in any case: short ones, full ones, and those near the edges of the rules. */
const anyLabel: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."abAB09-_*"), minLength: 1, maxLength: 8 }),
  fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 63 }).map((codes) =>
    String.fromCharCode(...codes)
  ),
  fc.array(fc.constantFrom(0, 1, 0x2e, 0x40, 0x41, 0x5a, 0x5b, 0x5c, 0x61, 0x7a, 0x7b, 0xfe, 0xff), {
    minLength: 1,
    maxLength: 63
  }).map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom("\0", "\xff".repeat(63), `${"a".repeat(62)}@`, `${"a".repeat(62)}\0`, "*")
)

/** As many of the labels below `parent` as fit. */
const nameBelow = (labels: ReadonlyArray<string>, parent: WireName): WireName => {
  for (let skipped = 0; skipped < labels.length; skipped++) {
    const name = nameOfLabels(labels.slice(skipped), parent)
    if (name !== undefined) return name
  }
  return parent
}

/** Names below `parent` or the parent itself, in any letters. */
export const anyNameBelow = (parent: WireName): fc.Arbitrary<WireName> =>
  fc.array(anyLabel, { maxLength: 8 }).map((labels) => nameBelow(labels, parent))

export const anyName: fc.Arbitrary<WireName> = fc.constantFrom(ROOT, wireName("bit"), wireName("example.bit")).chain(
  anyNameBelow
)

const lowerName = anyName.map(lowerCaseName)

const hostLabel = fc.string({ unit: fc.constantFrom(..."abc019-_"), minLength: 1, maxLength: 63 })
const host = fc.array(hostLabel, { maxLength: 3 }).map((labels) => `${labels.join(".")}.`)

const u8 = fc.integer({ min: 0, max: 0xff })
const u16 = fc.integer({ min: 0, max: 0xffff })
const u32 = fc.integer({ min: 0, max: 0xffffffff })
const asciiText = fc.string({ unit: fc.constantFrom(..."RFC8482 \"\\;"), maxLength: 255 })

export const anyRecord: fc.Arbitrary<DnsRecord> = fc.oneof(
  fc.record({ type: fc.constant("A" as const), address: bytesOf(4) }),
  fc.record({ type: fc.constant("AAAA" as const), address: bytesOf(16) }),
  fc.record({ type: fc.constantFrom("CNAME" as const, "DNAME" as const, "NS" as const), target: host }),
  fc.record({ type: fc.constant("DS" as const), keyTag: u16, algorithm: u8, digestType: u8, digest: bytesOf(1, 48) }),
  fc.record({ type: fc.constant("SRV" as const), priority: u16, weight: u16, port: u16, target: host }),
  fc.record({ type: fc.constant("MX" as const), preference: u16, target: host }),
  fc.record({ type: fc.constant("TLSA" as const), usage: u8, selector: u8, matchingType: u8, data: bytesOf(1, 64) }),
  fc.record({ type: fc.constant("TXT" as const), strings: fc.array(bytesOf(0, 255), { minLength: 1, maxLength: 4 }) }),
  fc.record({ type: fc.constant("LOC" as const), data: bytesOf(15).map((rest) => Uint8Array.of(0, ...rest)) }),
  fc.record({ type: fc.constant("SSHFP" as const), algorithm: u8, fingerprintType: u8, fingerprint: bytesOf(1, 32) }),
  fc.record({
    type: fc.constant("opaque" as const),
    number: fc.integer({ min: 256, max: 0xffff }),
    data: bytesOf(0, 80)
  }),
  fc.record({
    type: fc.constant("SOA" as const),
    mname: lowerName,
    rname: lowerName,
    serial: u32,
    refresh: u32,
    retry: u32,
    expire: u32,
    minimum: u32
  }),
  fc.record({ type: fc.constant("DNSKEY" as const), flags: u16, algorithm: u8, key: bytesOf(1, 64) }),
  fc.record({
    type: fc.constant("NSEC" as const),
    next: lowerName,
    // Bit 0 of the map is always clear (RFC 4034, section 4.1.2).
    types: fc.uniqueArray(fc.integer({ min: 1, max: 0xffff }), { minLength: 1, maxLength: 12 })
      .map((types) => types.toSorted((a, b) => a - b))
  }),
  fc.record({
    type: fc.constant("RRSIG" as const),
    covered: u16,
    algorithm: u8,
    labels: u8,
    originalTtl: u32,
    expiration: u32,
    inception: u32,
    keyTag: u16,
    signer: lowerName,
    signature: bytesOf(1, 64)
  }),
  fc.record({ type: fc.constant("HINFO" as const), cpu: asciiText, os: asciiText })
)

const numberOf = (record: DnsRecord): number => record.type === "opaque" ? record.number : TYPE_NUMBERS[record.type]

/** A set of one to three records of one type, perhaps the same record twice. */
export const anySet: fc.Arbitrary<RecordSet> = fc.record({
  owner: lowerName,
  ttl: fc.integer({ min: 0, max: 0x7fffffff }),
  records: fc.array(anyRecord, { minLength: 1, maxLength: 12 })
}).map(({ owner, records, ttl }) => {
  const [first] = records
  const type = first === undefined ? 0 : numberOf(first)
  return { owner, ttl, type, records: records.filter((record) => numberOf(record) === type), signs: true }
})
