import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { readValue } from "../../src/mail/forwarding.ts"
import { findingText, lint, lintRecord, lintWarnings } from "../../src/values/lint.ts"
import { searchPairs } from "../../src/values/searchable.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const findings = (name: string, value: string): ReadonlyArray<string> =>
  lint(bytes(name), bytes(value)).findings.map((finding) =>
    `${finding.severity} ${finding.code}: ${findingText(finding)}`
  )

const seen = (name: string, value: unknown): Record<string, ReadonlyArray<string>> =>
  Object.fromEntries(
    lint(bytes(name), bytes(typeof value === "string" ? value : JSON.stringify(value))).programs.map((
      { program, sees }
    ) => [program, sees])
  )

const KEY = "ab".repeat(32)
const SHA256 = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
const ONION = `${"a".repeat(56)}.onion`

describe("lint", () => {
  it("shows no program of an expired record, but what is wrong with its value", () => {
    const record = { name: "d/example", value: "{\"ip\":\"192.0.2.1\",\"ip6\":1}" }
    const whole = lint(record.name, record.value)
    assert.isNotEmpty(whole.programs)
    assert.deepStrictEqual(lintRecord(record, { expired: false }), whole)
    assert.deepStrictEqual(lintRecord(record, { expired: true }), { ...whole, programs: [] })
  })

  it("takes texts as well as bytes", () => {
    for (
      const [name, value] of [["d/example", "{\"ip\":\"192.0.2.1\"}"], ["d/ex", "{\"ip\":\"\u00e4\"}"], [
        "id/a",
        "{"
      ]] as const
    ) {
      assert.deepStrictEqual(lint(name, value), lint(bytes(name), bytes(value)))
      assert.deepStrictEqual(lintWarnings(name, value), lintWarnings(bytes(name), bytes(value)))
    }
  })

  it.each([
    ["d/example", "{\"ip\":\"192.0.2.1\"}"],
    ["d/example", ""],
    ["d/example", "{\"map\":{\"www\":{\"alias\":\"\"},\"*\":{\"ip\":[]}}}"],
    ["d/example", "{\"import\":[[\"dd/example\",\"www\"]],\"info\":null,\"tls\":[]}"],
    [
      "d/example",
      JSON.stringify({
        ns: ["ns1", "ns.example.org."],
        ds: [[12345, 8, 2, SHA256]],
        map: { ns1: { ip: "192.0.2.1" } }
      })
    ],
    ["d/example", JSON.stringify({ map: { _tcp: { map: { _443: { tls: [[3, 1, 1, SHA256]] } } } } })],
    ["id/123", "{}"],
    ["id/alice", JSON.stringify({ email: "alice@example.org", backup: [], pubkey: "", nostr: KEY })],
    ["dd/Anything", "no JSON, and none is asked for"],
    ["idd/x", "[]"]
  ])("finds nothing in %s with %s", (name, value) => {
    assert.deepStrictEqual(findings(name, value), [])
  })

  it.each([
    ["wikileaks", "", "warning namespace: 'wikileaks' has no namespace"],
    ["", "", "warning namespace: '' has no namespace"],
    ["nft/x", "", "warning namespace: 'nft/x' is in a namespace that no application is known to read"],
    ["d/ä", "", "error name-form: \"d/ä\" has a character beyond ASCII"],
    ["d/123", "", "error name-form: 'd/123' is not a domain"],
    ["d/Upper", "", "error name-form: 'd/Upper' is not a domain"],
    ["id/a_b", "", "error name-form: 'id/a_b' is not an identity"],
    ["dd/", "", "error name-form: 'dd/' has nothing after its namespace"],
    ["d/example", "{", "error json: line 1, column 2: the value is not valid JSON: the text ends"],
    ["d/example", "[]", "error not-object: the value is JSON, but no object"],
    ["id/example", "\"text\"", "error not-object: the value is JSON, but no object"],
    ["dd/x", "v".repeat(521), "error too-long: the value has 521 bytes: with more than 520 the name can never"],
    ["dd/x", "v".repeat(1_024), "error too-long: the value has 1024 bytes, and the network takes 1023"],
    [`dd/${"v".repeat(253)}`, "", "error too-long: the name has 256 bytes"],
    ["d/x", "{\"ip\":[],\"ip\":\"192.0.2.1\"}", "error duplicate-key: line 1, column 10: ip is there twice"],
    [
      "d/x",
      "{\"map\":{\"a\":{\"ip\":[],\"ip\":[]}}}",
      "error duplicate-key: line 1, column 22: map.a.ip is there twice"
    ],
    ["d/x", "{\"ip\":\"192.0.2.001\"}", "error invalid: line 1, column 7: ip \"192.0.2.001\" is not an IPv4 address"],
    ["d/x", "{\"ip\":\"2001:db8::1\"}", "error invalid: line 1, column 7: ip \"2001:db8::1\" is an IPv6 address: it"],
    ["d/x", "{\"ip\":3221225985}", "error wrong-type: line 1, column 7: ip is a number, not an IPv4 address as text"],
    ["d/x", "{\"ip6\":[\"::1\",1]}", "error wrong-type: line 1, column 15: ip6[1] is a number"],
    ["d/x", "{\"ip6\":\"192.0.2.1\"}", "error invalid: line 1, column 8: ip6 \"192.0.2.1\" is an IPv4 address: it"],
    ["d/x", "{\"ns\":\"192.0.2.1\"}", "error invalid: line 1, column 7: ns \"192.0.2.1\" is an address, not the name"],
    [
      "d/x",
      "{\"ns\":\"ns.example.org\"}",
      "warning unusual: line 1, column 7: ns has no dot at its end, so it means ns"
    ],
    [
      "d/x",
      "{\"alias\":\"ex$ample.\"}",
      "error invalid: line 1, column 10: alias \"ex$ample.\" is not the name of a host"
    ],
    ["d/x", "{\"alias\":[\"a.\"]}", "error wrong-type: line 1, column 10: alias is a list"],
    ["d/x", "{\"alias\":\"@\"}", "error invalid: line 1, column 10: alias means this name itself"],
    [
      "d/x",
      "{\"ds\":[1,8,1,\"\"]}",
      "error wrong-type: line 1, column 7: ds is one list; it has to be a list of lists"
    ],
    ["d/x", "{\"ds\":[[1,8]]}", "error invalid: line 1, column 8: ds[0] has 2 values, and needs 4"],
    ["d/x", "{\"ds\":[[70000,8,1,\"\"]]}", "error wrong-type: line 1, column 9: ds[0][0] is not a whole number from 0"],
    ["d/x", "{\"tls\":{\"sha1\":[]}}", "error deprecated: line 1, column 8: tls is in an old form"],
    ["d/x", "{\"map\":{\"a.b\":{}}}", "error invalid: line 1, column 15: map[\"a.b\"] is below a key"],
    ["d/x", "{\"map\":{\"www\":\"192.0.2.1\"}}", "warning deprecated: line 1, column 15: map.www is an address alone"],
    ["d/x", "{\"map\":[]}", "error wrong-type: line 1, column 8: map is a list, not an object of subdomains"],
    ["d/x", "{\"dns\":\"ns.a.\"}", "warning deprecated: line 1, column 8: dns is an old word for ns"],
    ["d/x", "{\"ipv4\":\"192.0.2.1\"}", "warning unknown-item: line 1, column 9: ipv4 is not an item"],
    [
      "d/x",
      "{\"ns\":\"a.b.\",\"ip\":\"192.0.2.1\"}",
      "warning suppressed: line 1, column 19: ip has no effect: ns beside"
    ],
    [
      "d/x",
      "{\"translate\":\"a.b.\",\"map\":{\"c\":{\"ip\":[]}}}",
      "warning suppressed: line 1, column 38: map.c.ip has no"
    ],
    [
      "d/x",
      "{\"ns\":\"a.\",\"dns\":null,\"ds\":[]}",
      ""
    ],
    ["d/x", "{\"ns\":[],\"ip\":\"192.0.2.1\"}", ""],
    ["d/x", `{"ds":[[1,13,2,"${SHA256}"]]}`, "warning unusual: line 1, column 7: ds has no effect without ns"],
    ["d/x", "{\"ds\":[[1,13,2,\"\"]]}", "error invalid: line 1, column 16: ds[0][3] is empty: the record needs bytes"],
    [
      "d/x",
      "{\"map\":{\"*\":{\"ns\":\"a.\"}}}",
      "error invalid: line 1, column 19: map.*.ns has no effect below *"
    ],
    ["d/x", "{\"map\":{\"WWW\":{}}}", "error invalid: line 1, column 15: map.WWW is below a key that is not a label"],
    ["d/x", "{\"loc\":\"91 N 0 E 0\"}", "error invalid: line 1, column 8: loc \"91 N 0 E 0\" is not a location"],
    ["d/x", "{\"delegate\":\"dd/a\"}", "warning deprecated: line 1, column 13: delegate is an old item"],
    ["d/x", "{\"import\":[[\"dd/a\",\"b\",\"c\"]]}", "warning unusual: line 1, column 24: import[0][2] is ignored"],
    ["d/x", "{\"import\":[\"dd/a\",\"b\",\"c\"]}", "error invalid: line 1, column 11: import is not a list of lists"],
    ["d/x", "{\"import\":\"example\"}", "error invalid: line 1, column 11: import \"example\" is not a name"],
    ["d/x", "{\"tor\":\"example.onion\"}", "error invalid: line 1, column 8: tor \"example.onion\" is not the address"],
    ["d/x", "{\"nostr\":\"npub1x\"}", "error invalid: line 1, column 10: nostr is an npub"],
    [
      "id/x",
      "{\"nostr\":{\"names\":{\"a\":\"nsec1x\"}}}",
      "error invalid: line 1, column 24: nostr.names.a is a secret key"
    ],
    ["id/x", "{\"nostr\":{}}", "error invalid: line 1, column 10: nostr has neither names nor pubkey"],
    ["id/x", "{\"email\":\"x\"}", "error invalid: line 1, column 10: email \"x\" is not an address that mail can be"],
    ["id/x", "{\"email\":[1]}", "error wrong-type: line 1, column 10: email is a list"],
    ["id/x", "{\"email\":\"a@b.org\",\"backup\":\"c@d.org\"}", "error wrong-type: line 1, column 29: backup is a text"],
    [
      "id/x",
      JSON.stringify({ email: "a@b.org", backup: Array.from({ length: 9 }, (_, at) => `c${at}@d.org`) }),
      "warning unusual: line 1, column 29: backup has unused addresses; svcd-mail uses at most 8 besides the first"
    ],
    [
      "id/x",
      JSON.stringify({ email: Array.from({ length: 10 }, (_, at) => `c${at}@d.org`) }),
      "warning unusual: line 1, column 10: email has unused addresses; svcd-mail uses at most 8 besides the first"
    ],
    ["id/x", "{\"backup\":[]}", "error invalid: line 1, column 11: backup has no effect without email"],
    ["id/x", "{\"name\":1}", "error wrong-type: line 1, column 9: name is a number, not a text"],
    ["id/x", "{\"name\":\"Zoë\"}", "warning not-ascii: the value has characters beyond ASCII"]
  ])("finds in %s with %s: %s", (name, value, expected) => {
    const [first = "", ...others] = findings(name, value)
    assert.strictEqual(first.slice(0, expected.length), expected)
    assert.deepStrictEqual(others, [])
  })

  it("says which item has no effect, and which record a value cannot have", () => {
    assert.deepStrictEqual(findings("d/x", "{\"ns\":\"a.\",\"dns\":\"b.\"}"), [
      "warning suppressed: line 1, column 7: ns has no effect: dns beside it replaces it",
      "warning deprecated: line 1, column 18: dns is an old word for ns"
    ])
    assert.deepStrictEqual(findings("d/x", "{\"ip\":\"192.0.2.1\",\"o\":[[1,\"wAACAQ==\"],[5,\"AA==\"]]}"), [
      "error invalid: line 1, column 23: o has records of the type 1, which another item has",
      "warning unusual: line 1, column 23: o is experimental, and few programs read it",
      "error invalid: line 1, column 39: o[1] is not a record that a value can have as bytes: type 5"
    ])
    const d8 = "{\"map\":{\"_tcp\":{\"map\":{\"_443\":{\"tls\":[{\"d8\":[1,\"AAAA\",1,2,3,\"AAAA\"]}]}}}}}"
    assert.deepStrictEqual(findings("d/x", d8), [
      "warning unusual: line 1, column 45: map._tcp.map._443.tls[0].d8 gives no TLSA record: write the record itself, as a list or in dane"
    ])
    const deep = `${"{\"map\":{\"a\":".repeat(17)}{"ip":"192.0.2.1"}${"}}".repeat(17)}`
    assert.deepStrictEqual(
      findings("d/x", deep).map((line) => line.slice(-49)),
      [
        "ip is below more than 16 labels, or 253 characters"
      ].map((line) => line.slice(-49))
    )
  })

  it("counts lines, and warns about line breaks", () => {
    assert.deepStrictEqual(findings("d/example", "{\"ip\":\n '1'}").map((line) => line.slice(0, 40)), [
      "warning not-ascii: the value has charact",
      "error json: line 2, column 2: the value "
    ])
  })

  it("finds a value that is not text, and what is wrong with both name and value", () => {
    assert.include(lintWarnings(bytes("d/example"), Uint8Array.of(0xff))[0], "not UTF-8")
    assert.strictEqual(findings("d/123", "{").length, 2)
    assert.deepStrictEqual(findings("dd/x", "v".repeat(520)), [])
  })

  it("shows the records of a domain, without those that others suppress", () => {
    assert.deepStrictEqual(
      seen("d/example", {
        ip: ["192.0.2.1", "no"],
        ip6: "2001:DB8:0:0::1",
        map: {
          "www": { alias: "" },
          "mail": { map: { "": { ip: "192.0.2.3" } } },
          "_tcp": { map: { _443: { tls: [[3, 1, 1, SHA256]] } } },
          "sub": { ns: ["ns", "ns.example.org."], ip: "192.0.2.9", map: { ns: { ip: "192.0.2.4" } } }
        },
        import: "dd/more",
        tor: ONION,
        nostr: { names: { _: KEY, bob: KEY } }
      }),
      {
        DNS: [
          "example.bit. A 192.0.2.1",
          "example.bit. AAAA 2001:db8::1",
          "www.example.bit. CNAME example.bit.",
          "mail.example.bit. A 192.0.2.3",
          "_443._tcp.example.bit. TLSA 3 1 1 2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
          "sub.example.bit. NS ns.example.bit.",
          "sub.example.bit. NS ns.example.org.",
          "example.bit. also has what is in dd/more"
        ],
        Tor: [`example.bit. → ${ONION}`],
        nostr: [`_@example.bit is ${KEY}`, `bob@example.bit is ${KEY}`]
      }
    )
  })

  it("keeps the addresses of name servers below the domain", () => {
    const value = { ns: ["ns1", "ns2.example.org."], map: { ns1: { ip: "192.0.2.1" }, ns3: { ip: "192.0.2.3" } } }
    assert.deepStrictEqual(seen("d/example", value)["DNS"], [
      "example.bit. NS ns1.example.bit.",
      "example.bit. NS ns2.example.org.",
      "ns1.example.bit. A 192.0.2.1"
    ])
  })

  it("shows what an identity says, and where its mail goes", () => {
    const value = { name: "Alice", email: "a@example.org", backup: ["b@example.org", "a@example.org"], nostr: KEY }
    assert.deepStrictEqual(seen("id/alice", value), {
      "profiles": ["name: \"Alice\""],
      "svcd-mail": ["forwards mail for alice to a@example.org, else to b@example.org"],
      "nostr": [`alice is ${KEY}`]
    })
    assert.deepStrictEqual(seen("id/alice", {})["svcd-mail"], [
      "refuses mail for alice: the value has no email"
    ])
  })

  it("says that svcd-mail forwards exactly where it does", () => {
    const address = FastCheck.constantFrom("a@example.org", "b@example.org", "no", "", 1, null)
    const fields = FastCheck.record({
      email: address,
      backup: FastCheck.oneof(FastCheck.array(address, { maxLength: 3 }), address),
      pubkey: FastCheck.constantFrom("", "AAAA", "?", 1, null)
    }, { requiredKeys: [] })
    FastCheck.assert(FastCheck.property(fields, (value) => {
      const text = JSON.stringify(value)
      const mail = readValue(text)
      const [line] = seen("id/alice", text)["svcd-mail"] ?? []
      assert.strictEqual(
        line?.startsWith("forwards") ? line : undefined,
        mail === undefined
          ? undefined
          : `forwards mail for alice to ${mail.email}${
            mail.backup.length === 0 ? "" : `, else to ${mail.backup.join(", ")}`
          }`,
        text
      )
    }))
  })

  it("takes any bytes, and as many as there are", () => {
    const name = FastCheck.oneof(
      FastCheck.constantFrom("d/a", "dd/a", "id/a", "x").map(bytes),
      FastCheck.uint8Array({ maxLength: 300 })
    )
    const value = FastCheck.oneof(FastCheck.uint8Array({ maxLength: 1_100 }), FastCheck.json().map(bytes))
    FastCheck.assert(FastCheck.property(name, value, (name, value) => {
      assert.strictEqual(lint(name, value).bytes, value.length)
    }))
    assert.lengthOf(lint(bytes("d/x"), bytes("[".repeat(1_000_000))).findings, 1)
  })
})

/** The records that programs see, in any order. */
const recordsOf = (value: unknown): ReadonlyArray<string> =>
  lint(bytes("d/example"), bytes(JSON.stringify(value))).programs.flatMap(({ sees }) => sees).toSorted()

describe("second forms of items", () => {
  /** The canonical form of an item, and another one that is permitted. */
  const FORMS: ReadonlyArray<readonly [canonical: object, second: object]> = [
    [{ ip: ["192.0.2.1"] }, { ip: "192.0.2.1" }],
    [{ ip6: ["2001:db8::1"] }, { ip6: "2001:db8::1" }],
    [{ ns: ["ns.example.com."] }, { ns: "ns.example.com." }],
    [{ ns: ["ns.example.com."] }, { dns: ["ns.example.com."] }],
    [{ txt: ["a"] }, { txt: "a" }],
    [{ mx: [[10, "mail.example.com."]] }, { map: { "": { mx: [[10, "mail.example.com."]] } } }],
    [{ ip: ["192.0.2.1"] }, { map: { "": { ip: "192.0.2.1" } } }],
    [{ ip: ["192.0.2.1"] }, { map: { "": "192.0.2.1" } }],
    [{ ip: ["192.0.2.1"], ip6: ["2001:db8::1"] }, { ip6: "2001:db8::1", map: { "": "192.0.2.1" } }],
    [{ map: { www: { ip: ["192.0.2.1"] } } }, { map: { www: "192.0.2.1" } }],
    [{ map: { "*": { ip: ["192.0.2.1"] } } }, { map: { "*": { map: { "": "192.0.2.1" } } } }]
  ]

  it.prop(
    "give the records of the canonical form, below any key",
    [FastCheck.constantFrom(...FORMS), FastCheck.array(FastCheck.constantFrom("www", "a", "*"), { maxLength: 3 })],
    ([[canonical, second], keys]) => {
      // DNS has no wildcard of a delegation.
      FastCheck.pre(!("ns" in canonical && keys[0] === "*"))
      const below = (form: object): object => keys.reduce((inner: object, key) => ({ map: { [key]: inner } }), form)
      const records = recordsOf(below(canonical))
      assert.isNotEmpty(records)
      assert.deepStrictEqual(recordsOf(below(second)), records)
    }
  )

  it.prop(
    "are found by the same items",
    [FastCheck.constantFrom(...FORMS), FastCheck.array(FastCheck.constantFrom("www", "a", "*"), { maxLength: 3 })],
    ([[canonical, second], keys]) => {
      const pairsBelow = (form: object): ReadonlyArray<string> => {
        const value = keys.reduce((inner: object, key) => ({ map: { [key]: inner } }), form)
        return searchPairs(bytes(JSON.stringify(value))).map(({ key, value }) => `${key}:${value}`).toSorted()
      }
      assert.deepStrictEqual(pairsBelow(second), pairsBelow(canonical))
    }
  )
})
