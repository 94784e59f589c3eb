import { assert, describe, it } from "@effect/vitest"
import { type AskedFront, faultOf } from "../../scripts/dns/compareAnswers.ts"
import { CHILD_WILDCARD, SECURE_CHILD } from "../../scripts/dns/generatedNames.ts"
import { FLAGS, RCODES } from "../../src/dns/wire/codes.ts"
import type { DnsMessage, MessageRecord } from "../../src/dns/wire/message.ts"
import type { WireName } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { wireName } from "../support/dnsRecords.ts"

/** What the comparison with validating resolvers lets pass: nothing that a resolver did not validate. */

const { A } = TYPE_NUMBERS

const plain: DnsMessage = {
  id: 1,
  flags: FLAGS.QR,
  rcode: RCODES.NOERROR,
  questions: [],
  answer: [],
  authority: [],
  additional: []
}

const secure: DnsMessage = { ...plain, flags: FLAGS.QR | FLAGS.AD }

const addressOf = (owner: WireName): MessageRecord => ({
  owner,
  type: A,
  class: 1,
  ttl: 600,
  data: Uint8Array.of(192, 0, 2, 1),
  at: 12
})

const askedAt = (name: WireName): AskedFront => ({ name, type: A, front: "unbound" })

describe("the comparison with resolvers", () => {
  it("takes the same answer with AD, and no other", () => {
    const asked = askedAt(wireName("a.bit"))
    const own = { ...plain, answer: [addressOf(asked.name)] }
    assert.isUndefined(faultOf(asked, own, { ...own, flags: secure.flags }))
    assert.strictEqual(faultOf(asked, own, own), "not validated")
    assert.match(faultOf(asked, own, secure) ?? "", /^records {2}instead of /u)
  })

  it("takes no data at the invented owner of an NSEC record, if it is validated", () => {
    const asked = askedAt("\x02a\xff\x03bit\0" as WireName)
    const own = { ...plain, rcode: RCODES.NXDOMAIN }
    assert.isUndefined(faultOf(asked, own, secure))
    assert.strictEqual(faultOf(asked, own, plain), "rcode 0 instead of 3")
  })

  it("takes no data before a wildcard of the signed child, if it is validated", () => {
    const asked = askedAt(wireName(`!.${CHILD_WILDCARD}.${SECURE_CHILD}.bit`))
    const own = { ...plain, answer: [addressOf(asked.name)] }
    assert.isUndefined(faultOf(asked, own, secure))
    assert.match(faultOf(asked, own, plain) ?? "", /^records {2}instead of /u)
  })
})
