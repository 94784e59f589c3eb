import { assert, describe, it } from "@effect/vitest"
import type { AnswerChoices } from "../../src/dns/answer.ts"
import type { WireName } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { answerFrom, linesOf, signedApex, testApex, wire, zonesOf } from "../support/dnsZone.ts"

const { A, AAAA, CNAME, DNAME, DNSKEY, DS, HINFO, NS, NSEC, RRSIG, SOA, TXT } = TYPE_NUMBERS
const ANY = 255

const LONG = "l".repeat(63)

const ZONES = zonesOf({
  addr: { "": ["A 192.0.2.1", "A 192.0.2.2", "TXT x"], "leaf.ent.deep": ["A 192.0.2.3"] },
  wild: { "": ["TXT apex"], "*": ["A 192.0.2.20"], real: ["TXT here"], "leaf.ent": ["A 192.0.2.21"] },
  literal: { "www.*": ["A 192.0.2.22"] },
  cname: { "": ["CNAME addr.bit."], ent: ["CNAME nope.addr.bit."], cut: ["CNAME www.cut.bit."] },
  chain: { "": ["CNAME cname.bit."], out: ["CNAME host.example.com."], "*": ["CNAME addr.bit."] },
  ring: { "": ["CNAME www.ring.bit."], www: ["CNAME ring.bit."] },
  steps: Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`s${i}`, [`CNAME s${i + 1}.steps.bit.`]])),
  moved: { "": ["DNAME addr.bit.", "TXT beside"] },
  toolong: { "": [`DNAME ${LONG}.${LONG}.${LONG}.addr.bit.`] },
  cut: { "": ["NS ns1.cut.bit.", "NS ns.example.org.", "DS"], ns1: ["A 192.0.2.41"] },
  insecure: { "": ["NS insecure.bit.", "A 192.0.2.42"], sub: ["A 192.0.2.43"] },
  part: { "": ["A 192.0.2.44"], child: ["NS ns.example.org."] },
  empty: { "": [] }
})

interface Row {
  readonly rcode?: string
  readonly aa?: boolean
  readonly answer?: ReadonlyArray<string>
  readonly authority?: ReadonlyArray<string>
  readonly additional?: ReadonlyArray<string>
}

const ask = (name: string | WireName, type: number, choices: Partial<AnswerChoices> = {}) => {
  const asked = typeof name === "string" && name.endsWith(".") ? wire(name) : name as WireName
  return answerFrom(ZONES, { name: asked, type, ...choices, apex: choices.proof === true ? signedApex : testApex })
}

const holds = (
  found: ReturnType<typeof ask>,
  { aa = true, additional = [], answer = [], authority = [], rcode = "NOERROR" }: Row
) =>
  assert.deepStrictEqual(
    [found.rcode, found.authoritative, linesOf(found.answer), linesOf(found.authority), linesOf(found.additional)],
    [rcode, aa, answer, authority, additional]
  )

const SOA_LINE = "bit. SOA …"

describe("answerOf", () => {
  const records: ReadonlyArray<readonly [string, number, ReadonlyArray<string>]> = [
    ["addr.bit.", A, ["addr.bit. A 192.0.2.1", "addr.bit. A 192.0.2.2"]],
    ["leaf.ent.deep.addr.bit.", A, ["leaf.ent.deep.addr.bit. A 192.0.2.3"]],
    ["bit.", SOA, [SOA_LINE]],
    ["bit.", NS, ["bit. NS ns.example.net."]],
    ["this.x--nmc.bit.", A, ["this.x--nmc.bit. A 127.127.127.127"]],
    ["aia.x--nmc.bit.", A, ["aia.x--nmc.bit. CNAME this.x--nmc.bit.", "this.x--nmc.bit. A 127.127.127.127"]],
    ["x.wild.bit.", A, ["x.wild.bit. A 192.0.2.20"]],
    ["x.y.wild.bit.", A, ["x.y.wild.bit. A 192.0.2.20"]],
    ["*.wild.bit.", A, ["*.wild.bit. A 192.0.2.20"]],
    ["www.*.literal.bit.", A, ["www.*.literal.bit. A 192.0.2.22"]],
    ["cname.bit.", CNAME, ["cname.bit. CNAME addr.bit."]],
    ["chain.bit.", TXT, ["chain.bit. CNAME cname.bit.", "cname.bit. CNAME addr.bit.", "addr.bit. TXT x"]],
    ["x.chain.bit.", TXT, ["x.chain.bit. CNAME addr.bit.", "addr.bit. TXT x"]],
    ["moved.bit.", DNAME, ["moved.bit. DNAME addr.bit."]],
    ["none.moved.bit.", CNAME, ["moved.bit. DNAME addr.bit.", "none.moved.bit. CNAME none.addr.bit. unsigned"]],
    ["moved.bit.", TXT, ["moved.bit. TXT beside"]],
    ["leaf.ent.deep.moved.bit.", A, [
      "moved.bit. DNAME addr.bit.",
      "leaf.ent.deep.moved.bit. CNAME leaf.ent.deep.addr.bit. unsigned",
      "leaf.ent.deep.addr.bit. A 192.0.2.3"
    ]],
    ["cut.bit.", DS, ["cut.bit. DS …"]],
    ["addr.bit.", ANY, ["addr.bit. A 192.0.2.1", "addr.bit. A 192.0.2.2", "addr.bit. TXT x"]],
    ["addr.bit.", RRSIG, ["addr.bit. A 192.0.2.1", "addr.bit. A 192.0.2.2", "addr.bit. TXT x"]],
    ["cname.bit.", ANY, ["cname.bit. CNAME addr.bit."]]
  ]
  for (const [name, type, answer] of records) {
    it(`gives the records of ${name} ${type}`, () => holds(ask(name, type), { answer }))
  }

  const noData: ReadonlyArray<readonly [string, number]> = [
    ["addr.bit.", AAAA],
    ["addr.bit.", 65_280],
    ["addr.bit.", NSEC],
    ["deep.addr.bit.", A],
    ["x--nmc.bit.", A],
    ["empty.bit.", A],
    ["bit.", A],
    ["bit.", DS],
    ["bit.", DNSKEY],
    ["insecure.bit.", DS],
    ["addr.bit.", DS],
    ["x.wild.bit.", TXT],
    ["real.wild.bit.", A],
    ["ent.wild.bit.", A],
    ["wild.bit.", A],
    ["*.literal.bit.", A],
    ["y.literal.bit.", A]
  ]
  for (const [name, type] of noData) {
    it(`has no data for ${name} ${type}`, () => holds(ask(name, type), { authority: [SOA_LINE] }))
  }

  const missing = [
    "none.bit.",
    "a.b.none.bit.",
    "nope.addr.bit.",
    "nope.ent.deep.addr.bit.",
    "other.ent.wild.bit.",
    "below.real.wild.bit.",
    "below.*.wild.bit.",
    "that.x--nmc.bit.",
    "\\000.bit.",
    "a\\.addr.bit."
  ]
  for (const name of missing) {
    it(`has no name ${name}`, () => holds(ask(name, A), { rcode: "NXDOMAIN", authority: [SOA_LINE] }))
  }

  it("remembers a negative answer for a minute, and an apex for a day", () => {
    assert.strictEqual(ask("none.bit.", A).authority[0]?.ttl, 60)
    assert.strictEqual(ask("bit.", SOA).answer[0]?.ttl, 86_400)
    assert.strictEqual(ask("addr.bit.", A).answer[0]?.ttl, 600)
  })

  it("refers with glue, without AA, and without what is beside the cut", () => {
    const referral: Row = {
      aa: false,
      authority: ["cut.bit. NS ns1.cut.bit. unsigned", "cut.bit. NS ns.example.org. unsigned"],
      additional: ["ns1.cut.bit. A 192.0.2.41 unsigned"]
    }
    for (const name of ["cut.bit.", "www.cut.bit.", "a.b.cut.bit.", "ns1.cut.bit."]) holds(ask(name, A), referral)
    holds(ask("cut.bit.", NS), referral)
    holds(ask("www.cut.bit.", DS), referral)
    holds(ask("insecure.bit.", A), {
      aa: false,
      authority: ["insecure.bit. NS insecure.bit. unsigned"],
      additional: ["insecure.bit. A 192.0.2.42 unsigned"]
    })
    holds(ask("x.child.part.bit.", A), { aa: false, authority: ["child.part.bit. NS ns.example.org. unsigned"] })
  })

  it("keeps AA where an alias leads into a delegated part", () => {
    holds(ask("cut.cname.bit.", A), {
      answer: ["cut.cname.bit. CNAME www.cut.bit."],
      authority: ["cut.bit. NS ns1.cut.bit. unsigned", "cut.bit. NS ns.example.org. unsigned"],
      additional: ["ns1.cut.bit. A 192.0.2.41 unsigned"]
    })
  })

  it("says of an alias what its target is", () => {
    holds(ask("cname.bit.", AAAA), { answer: ["cname.bit. CNAME addr.bit."], authority: [SOA_LINE] })
    holds(ask("ent.cname.bit.", A), {
      rcode: "NXDOMAIN",
      answer: ["ent.cname.bit. CNAME nope.addr.bit."],
      authority: [SOA_LINE]
    })
  })

  it("ends an answer where an alias leads outside, into a circle, or beyond eight steps", () => {
    const outside = ask("out.chain.bit.", A)
    holds(outside, { answer: ["out.chain.bit. CNAME host.example.com."] })
    assert.strictEqual(outside.outside, wire("host.example.com."))
    holds(ask("ring.bit.", A), { answer: ["ring.bit. CNAME www.ring.bit.", "www.ring.bit. CNAME ring.bit."] })
    const long = ask("s0.steps.bit.", A)
    assert.deepStrictEqual([long.rcode, long.answer.length, long.authority, long.outside], [
      "NOERROR",
      9,
      [],
      undefined
    ])
  })

  it("refuses to translate a name beyond 255 bytes", () => {
    holds(ask(`${LONG}.toolong.bit.`, A), {
      rcode: "YXDOMAIN",
      answer: [`toolong.bit. DNAME ${LONG}.${LONG}.${LONG}.addr.bit.`]
    })
  })

  it("translates a label with a dot byte for byte", () => {
    const [, alias] = ask("a\\.b.moved.bit.", A).answer
    assert.deepStrictEqual(alias?.records, [{
      type: "opaque",
      number: CNAME,
      data: new Uint8Array(Buffer.from(wire("a\\.b.addr.bit."), "latin1"))
    }])
  })

  it("answers ANY with one record where it is to be short", () => {
    for (const [name, type] of [["addr.bit.", ANY], ["cname.bit.", RRSIG], ["x.wild.bit.", ANY]] as const) {
      assert.deepStrictEqual(ask(name, type, { minimalAny: true }).answer.map((set) => [set.type, set.owner]), [[
        HINFO,
        wire(name)
      ]])
    }
    holds(ask("deep.addr.bit.", ANY, { minimalAny: true }), { authority: [SOA_LINE] })
    assert.strictEqual(ask("none.bit.", ANY, { minimalAny: true }).rcode, "NXDOMAIN")
  })

  it("refuses names outside the zone", () => {
    for (const name of ["example.com.", "bit.example.com.", "orbit.", "."]) {
      holds(ask(wire(name), A), { rcode: "REFUSED", aa: false })
    }
  })

  it("names the names that it read, and those that it missed", () => {
    assert.deepStrictEqual([...ask("chain.bit.", A).sources], ["d/chain", "d/cname", "d/addr"])
    assert.deepStrictEqual([...ask("a.none.bit.", A).sources], ["d/none"])
    assert.deepStrictEqual([...ask("\\255.bit.", A).sources], [])
  })

  it("moves the names of values with the suffix of the zone", () => {
    const apex = { ...testApex, origin: wire("bit.example.org.") }
    const under = (name: string, type: number) => linesOf(answerFrom(ZONES, { apex, name: wire(name), type }).answer)
    assert.deepStrictEqual(under("cname.bit.example.org.", TXT), [
      "cname.bit.example.org. CNAME addr.bit.example.org.",
      "addr.bit.example.org. TXT x"
    ])
    assert.deepStrictEqual(under("out.chain.bit.example.org.", A), [
      "out.chain.bit.example.org. CNAME host.example.com."
    ])
    assert.deepStrictEqual(under("aia.x--nmc.bit.example.org.", CNAME), [
      "aia.x--nmc.bit.example.org. CNAME this.x--nmc.bit.example.org."
    ])
  })
})

describe("proofs", () => {
  const proofOf = (name: string, type: number) => linesOf(ask(name, type, { proof: true }).authority)

  it("refers with DS, or with the proof that there is none", () => {
    assert.deepStrictEqual(proofOf("www.cut.bit.", A), [
      "cut.bit. NS ns1.cut.bit. unsigned",
      "cut.bit. NS ns.example.org. unsigned",
      "cut.bit. DS …"
    ])
    assert.deepStrictEqual(proofOf("www.insecure.bit.", A), [
      "insecure.bit. NS insecure.bit. unsigned",
      "insecure.bit. NSEC \\000\\000.insecure.bit. NS RRSIG NSEC"
    ])
  })

  it("proves NODATA by the name's own NSEC, that of an empty non-terminal and of the apex", () => {
    assert.deepStrictEqual(proofOf("addr.bit.", AAAA), [
      SOA_LINE,
      "addr.bit. NSEC \\000\\000.addr.bit. A TXT RRSIG NSEC"
    ])
    assert.deepStrictEqual(proofOf("deep.addr.bit.", A), [
      SOA_LINE,
      "deep.addr.bit. NSEC \\000\\000.deep.addr.bit. RRSIG NSEC"
    ])
    assert.deepStrictEqual(proofOf("bit.", A), [SOA_LINE, "bit. NSEC \\000\\000.bit. NS SOA RRSIG NSEC DNSKEY"])
    assert.deepStrictEqual(proofOf("insecure.bit.", DS), [
      SOA_LINE,
      "insecure.bit. NSEC \\000\\000.insecure.bit. NS RRSIG NSEC"
    ])
  })

  it("proves NXDOMAIN around the next closer name and around the wildcard", () => {
    assert.deepStrictEqual(proofOf("a.b.nope.addr.bit.", A), [
      SOA_LINE,
      "nopd\\255.addr.bit. NSEC nope\\000.addr.bit. RRSIG NSEC",
      "\\)\\255.addr.bit. NSEC *\\000.addr.bit. RRSIG NSEC"
    ])
    assert.deepStrictEqual(proofOf("*.addr.bit.", A), [SOA_LINE, "\\)\\255.addr.bit. NSEC *\\000.addr.bit. RRSIG NSEC"])
  })

  it("begins at the encloser, with its types, where no label is smaller", () => {
    assert.include(proofOf("\\000.addr.bit.", A), "addr.bit. NSEC \\000\\000.addr.bit. A TXT RRSIG NSEC")
  })

  it("begins at an existing name, with its types, where the names are too long for any between", () => {
    // 254 bytes, so that nothing fits below it, and only one byte behind its label.
    const long = `${"q".repeat(51)}.${LONG}.${LONG}.${LONG}`
    const zones = zonesOf({ addr: { [long]: ["A 192.0.2.9"] } })
    const asked = { name: wire(`${"q".repeat(51)}\\000.${LONG}.${LONG}.${LONG}.addr.bit.`), type: A }
    const { authority } = answerFrom(zones, { ...asked, apex: signedApex, proof: true })
    const [, around] = linesOf(authority)
    assert.strictEqual(around?.replace(/ NSEC \S+/, " NSEC …"), `${long}.addr.bit. NSEC … A RRSIG NSEC`)
  })

  it("gives the wildcard of an answer, and the proof that there is no closer name", () => {
    const { answer, authority } = ask("x.y.wild.bit.", A, { proof: true })
    assert.deepStrictEqual(answer.map(({ wildcard }) => wildcard), [wire("*.wild.bit.")])
    assert.deepStrictEqual(linesOf(authority), ["x\\255.wild.bit. NSEC y\\000.wild.bit. RRSIG NSEC"])
    assert.deepStrictEqual(proofOf("x.wild.bit.", TXT), [
      "w\\255.wild.bit. NSEC x\\000.wild.bit. RRSIG NSEC",
      SOA_LINE,
      "*.wild.bit. NSEC \\000\\000.*.wild.bit. A RRSIG NSEC"
    ])
  })

  it("answers questions for NSEC and DNSKEY", () => {
    const found = (name: string, type: number) => linesOf(ask(name, type, { proof: true }).answer)
    assert.deepStrictEqual(found("addr.bit.", NSEC), ["addr.bit. NSEC \\000\\000.addr.bit. A TXT RRSIG NSEC"])
    assert.deepStrictEqual(found("bit.", DNSKEY), ["bit. DNSKEY …"])
  })
})
