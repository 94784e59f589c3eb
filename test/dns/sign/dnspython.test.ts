import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { spawnSync } from "node:child_process"
import type { RecordSet } from "../../../src/dns/records.ts"
import { dnsRecordText } from "../../../src/dns/recordText.ts"
import { makeSigner } from "../../../src/dns/sign/signer.ts"
import { dnskeyOf, dsOf, newKeySecret, zoneKeyOf } from "../../../src/dns/sign/zoneKey.ts"
import { isAtOrBelow } from "../../../src/dns/wire/name.ts"
import { writeResponse } from "../../../src/dns/wire/response.ts"
import { concat, fromBinaryString, toHex } from "../../../src/protocol/bytes.ts"
import { TYPE_NUMBERS } from "../../../src/values/records.ts"
import { hex } from "../../support/bytes.ts"
import { anySet, wireName } from "../../support/dnsRecords.ts"

/** dnspython as a second judge of messages, canonical forms, signatures and texts. Skipped without it. */

const PYTHON = process.env["DNSPYTHON"] ?? "python3"

const hasDnspython = spawnSync(PYTHON, ["-c", "import dns.dnssec, cryptography"]).status === 0

const BIT = wireName("bit")

const JUDGE = `
import json, sys, dns.dnssec, dns.message, dns.name, dns.rdata, dns.rdataset, dns.rdatatype
given = json.load(sys.stdin)
key = dns.rdata.from_text("IN", "DNSKEY", given["dnskey"])
keys = {dns.name.from_text("bit."): dns.rdataset.from_rdata(3600, key)}
faults = []
if dns.dnssec.make_ds("bit.", key, "SHA256").to_text() != given["ds"]: faults.append("ds")
for case in given["cases"]:
    message = dns.message.from_wire(bytes.fromhex(case["message"]))
    records, signature = message.answer
    try:
        dns.dnssec.validate(records, signature, keys)
    except Exception as error:
        faults.append(repr(error) + " " + case["message"])
    word = dns.rdatatype.to_text(records.rdtype)
    try:
        read = {dns.rdata.from_text("IN", word, text).to_digestable() for text in case["texts"]}
        if read != {record.to_digestable() for record in records}: faults.append(["data", word] + case["texts"])
    except Exception as error:
        faults.append([repr(error), word] + case["texts"])
print(json.dumps(faults))
`

/** Types whose random data dnspython refuses, as it checks lengths of digests, sizes and times. */
const REFUSED: ReadonlySet<number> = new Set([
  TYPE_NUMBERS.DS,
  TYPE_NUMBERS.LOC,
  TYPE_NUMBERS.RRSIG,
  TYPE_NUMBERS.SSHFP
])

/** Types with one record in a set: of more, dnspython keeps the last. */
const SINGLE: ReadonlySet<number> = new Set([
  TYPE_NUMBERS.CNAME,
  TYPE_NUMBERS.DNAME,
  TYPE_NUMBERS.NSEC,
  TYPE_NUMBERS.SOA
])

const asSingle = (set: RecordSet): RecordSet =>
  SINGLE.has(set.type) ? { ...set, records: set.records.slice(0, 1) } : set

const isJudged = ({ owner, type }: RecordSet): boolean =>
  isAtOrBelow(owner, BIT) && !REFUSED.has(type) && (type < 256 || type > 0xff00)

describe.skipIf(!hasDnspython)("dnspython", () => {
  it("validates each signed set, makes the same DS record, and reads each text as the same data", () => {
    const key = zoneKeyOf(newKeySecret(), 0) ?? assert.fail("no key")
    const keys = [key]
    const now = Math.floor(Date.now() / 1000)
    const signer = makeSigner({ zone: BIT, keys: () => keys, now: () => now, onSigned: () => {} })
    const cases = fc.sample(anySet.filter(isJudged).map(asSingle), 300).map((set) => {
      const question = concat(fromBinaryString(set.owner), Uint8Array.of(set.type >>> 8, set.type, 0, 1))
      const query = { bytes: concat(hex("abcd 0000 0001 0000 0000 0000"), question), questionEnd: 12 + question.length }
      const answer = [set, signer.signatures(set)]
      const { bytes } = writeResponse({
        query,
        flags: 0,
        rcode: 0,
        answer,
        authority: [],
        additional: [],
        limit: 65_535
      })
      return { message: toHex(bytes), texts: set.records.map(dnsRecordText) }
    })
    const given = { dnskey: dnsRecordText(dnskeyOf(key)), ds: dnsRecordText(dsOf(BIT, dnskeyOf(key))), cases }
    const { status, stderr, stdout } = spawnSync(PYTHON, ["-c", JUDGE], {
      input: JSON.stringify(given),
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
    assert.deepStrictEqual(JSON.parse(stdout), [])
  })
})
