import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { DOMAIN_FIELDS, type DomainField, readDomainForm, writeDomainForm } from "../../src/values/domainForm.ts"
import { type FormLines, linesOf } from "../../src/values/formFields.ts"
import { readIdentityForm, writeIdentityForm } from "../../src/values/identityForm.ts"
import { lint } from "../../src/values/lint.ts"

const SHA256 = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
const DIGEST = Buffer.from(SHA256, "base64").toString("hex")
const ONION = `${"a".repeat(56)}.onion`

/** The value with these lines, or what is wrong with them. */
const written = (value: string, lines: FormLines<DomainField>): string => {
  const made = writeDomainForm(value, lines)
  if (made === undefined) return "no object"
  return "value" in made
    ? made.value
    : made.faults.map(({ field, line, message }) => `${field} ${line}: ${message}`).join("; ")
}

const shown = (value: unknown): FormLines<DomainField> => {
  const form = readDomainForm(typeof value === "string" ? value : JSON.stringify(value))
  return Object.fromEntries(Object.entries(form?.lines ?? {}).filter(([, lines]) => lines.length > 0))
}

describe("readDomainForm", () => {
  it("shows each item on the line that DNS tools write", () => {
    const value = {
      ip: ["192.0.2.1", "192.0.2.2"],
      ip6: "2001:db8::1",
      ns: "ns1.example.org.",
      ds: [[12345, 8, 2, SHA256]],
      tor: ONION,
      txt: ["one", "two words"],
      map: {
        www: "192.0.2.3",
        mail: { ip: "192.0.2.4", ip6: ["2001:db8::2"], txt: "v=spf1 -all" },
        shop: { alias: "example.org." },
        _tcp: { map: { _443: { tls: [[3, 1, 1, SHA256]] }, _smtp: { srv: [[10, 0, 25, "mail"]] } } },
        _udp: { map: { _853: { tls: [[3, 1, 1, SHA256]] } } }
      }
    }
    assert.deepStrictEqual(shown(value), {
      address: ["192.0.2.1", "192.0.2.2", "2001:db8::1"],
      ns: ["ns1.example.org."],
      ds: [`12345 8 2 ${DIGEST}`],
      tls: [`443 3 1 1 ${DIGEST}`, `853/udp 3 1 1 ${DIGEST}`],
      mail: ["10 mail"],
      tor: [ONION],
      text: ["one", "two words"],
      subdomain: [
        "www 192.0.2.3",
        "mail 192.0.2.4",
        "mail 2001:db8::2",
        "mail txt v=spf1 -all",
        "shop alias example.org."
      ]
    })
    assert.deepStrictEqual(readDomainForm(JSON.stringify(value))?.kept, [])
  })

  it("names the parts that it does not show", () => {
    const value = {
      info: { r: "me" },
      ip: [1],
      txt: [["two", "parts"]],
      import: null,
      map: {
        "": { ip: "192.0.2.1" },
        www: { ip: "192.0.2.1", loc: "x", map: { deeper: { ip: "192.0.2.2" } } },
        empty: {},
        _tcp: { map: { _443: { tls: [{ dane: [3, 1, 1, SHA256] }] }, _http: { srv: [[1, 1, 80, "x"]] } } }
      }
    }
    assert.deepStrictEqual(readDomainForm(JSON.stringify(value))?.kept, [
      "info",
      "ip",
      "txt",
      "map[\"\"]",
      "map.www.loc",
      "map.www.map",
      "map.empty",
      "map._tcp"
    ])
    assert.isUndefined(readDomainForm("[]"))
    assert.isUndefined(readDomainForm("no JSON"))
  })
})

describe("writeDomainForm", () => {
  it.each<readonly [lines: FormLines<DomainField>, value: string]>([
    [{}, "{}"],
    [{ address: ["192.0.2.1"] }, "{\"ip\":\"192.0.2.1\"}"],
    [
      { address: ["192.0.2.1", "::1", "192.0.2.2"] },
      "{\"ip\":[\"192.0.2.1\",\"192.0.2.2\"],\"ip6\":\"::1\"}"
    ],
    [{ alias: ["Example.ORG"] }, "{\"alias\":\"example.org.\"}"],
    [{ ns: ["ns1.example.org", "ns2", "ns.@"] }, "{\"ns\":[\"ns1.example.org.\",\"ns2\",\"ns.@\"]}"],
    [{ ds: [`12345 8 2 ${DIGEST}`] }, `{"ds":[[12345,8,2,"${SHA256}"]]}`],
    [
      { ds: [`x.bit. 3600 IN DS 12345 8 2 ${DIGEST.slice(0, 56)} ${DIGEST.slice(56)}`] },
      `{"ds":[[12345,8,2,"${SHA256}"]]}`
    ],
    [{ tls: [`443 3 1 1 ${DIGEST.toUpperCase()}`] }, `{"map":{"_tcp":{"map":{"_443":{"tls":[[3,1,1,"${SHA256}"]]}}}}}`],
    [
      { tls: [`_853._udp.x.bit. IN TLSA 3 1 1 ${DIGEST}`] },
      `{"map":{"_udp":{"map":{"_853":{"tls":[[3,1,1,"${SHA256}"]]}}}}}`
    ],
    [
      { mail: ["mail.example.org"] },
      "{\"map\":{\"_tcp\":{\"map\":{\"_smtp\":{\"srv\":[[10,0,25,\"mail.example.org.\"]]}}}}}"
    ],
    [
      { mail: ["5 mail.@", "@"] },
      "{\"map\":{\"_tcp\":{\"map\":{\"_smtp\":{\"srv\":[[5,0,25,\"mail.@\"],[10,0,25,\"@\"]]}}}}}"
    ],
    [{ tor: [ONION] }, `{"map":{"_tor":{"txt":"${ONION}"}}}`],
    [{ text: ["say \"no\"", "ä"] }, "{\"txt\":[\"say \\\"no\\\"\",\"ä\"]}"],
    [
      { subdomain: ["www 192.0.2.1", "www ::1", "* alias @", "_dmarc txt v=DMARC1; p=none"] },
      "{\"map\":{\"www\":{\"ip\":\"192.0.2.1\",\"ip6\":\"::1\"},\"*\":{\"alias\":\"@\"},\"_dmarc\":{\"txt\":\"v=DMARC1; p=none\"}}}"
    ]
  ])("writes %j", (lines, value) => {
    assert.strictEqual(written("", lines), value)
    assert.deepStrictEqual(
      lint(Buffer.from("d/x"), Buffer.from(value)).findings.filter(({ severity }) => severity === "error"),
      []
    )
  })

  it.each<readonly [lines: FormLines<DomainField>, message: string]>([
    [{ address: ["192.0.2.1", "192.0.2.999"] }, "address 2: is not an address"],
    [{ alias: ["a.example", "b.example"] }, "alias 2: is one too many"],
    [{ ns: ["192.0.2.1"] }, "ns 1: is an address, but must be a host name"],
    [{ ns: ["<b>"] }, "ns 1: \"<b>\" is not the name of a host"],
    [{ ds: ["12345 8 2"] }, "ds 1: has to be four parts"],
    [{ ds: ["99999 8 2 ab"] }, "ds 1: has to be four parts"],
    [{ tls: ["0 3 1 1 ab"] }, "tls 1: has to be a port"],
    [{ tls: ["443 9 1 1 ab"] }, "tls 1: has to be a port"],
    [{ mail: ["10 20 mail"] }, "mail 1: has to be a priority"],
    [{ mail: ["mail"] }, "mail 1: \"mail\" is not a whole host name: write 10 mail.example.org, or 10 mail.@ for"],
    [{ mail: ["5 x"] }, "mail 1: \"x\" is not a whole host name: write 5 "],
    [{ tor: ["example.onion"] }, "tor 1: \"example.onion\" is not the address of an onion service"],
    [{ text: ["a\u202eb"] }, "text 1: has a character that cannot be seen"],
    [{ subdomain: ["www"] }, "subdomain 1: has to be a label"],
    [{ subdomain: ["a.b 192.0.2.1"] }, "subdomain 1: \"a.b\" is more than one level"],
    [{ subdomain: ["_tcp 192.0.2.1"] }, "subdomain 1: \"_tcp\" cannot be the label"]
  ])("refuses %j", (lines, message) => {
    assert.include(written("", lines), message)
  })

  it("keeps what it does not show, and the text of what is unchanged", () => {
    const value =
      "{ \"ip\": [\"192.0.2.1\"], \"x\": 1.50e3, \"x\": \"\\u00e4\", \"map\": {\"www\":\"192.0.2.2\", \"a\":{\"map\":{}}} }"
    assert.strictEqual(
      written(value, { ns: ["ns1.example.org."], subdomain: ["www 192.0.2.2", "www ns ns2"] }),
      "{\"ip\":[\"192.0.2.1\"],\"x\":1.50e3,\"x\":\"\\u00e4\"," +
        "\"map\":{\"www\":{\"ip\":\"192.0.2.2\",\"ns\":\"ns2\"},\"a\":{\"map\":{}}},\"ns\":\"ns1.example.org.\"}"
    )
    assert.strictEqual(
      written(value, { address: [], subdomain: [] }),
      "{\"x\":1.50e3,\"x\":\"\\u00e4\",\"map\":{\"a\":{\"map\":{}}}}"
    )
    assert.strictEqual(written("{\"map\":{\"www\":\"192.0.2.2\"},\"ip\":null}", { subdomain: [] }), "{\"ip\":null}")
    assert.include(written("{\"ip\":[1]}", { address: ["192.0.2.1"] }), "address 1: cannot be added: the value has ip")
    assert.strictEqual(written("[]", {}), "no object")
  })
})

describe("the form of identities", () => {
  it("reads and writes one text each, and a list of backups", () => {
    const key = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"
    const lines = {
      name: ["Alice"],
      email: ["alice@example.org"],
      backup: ["a@example.net"],
      nostr: ["npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"]
    }
    const made = writeIdentityForm("{\"x\":[1]}", lines)
    const value = made !== undefined && "value" in made ? made.value : ""
    assert.deepStrictEqual(JSON.parse(value), {
      x: [1],
      name: "Alice",
      email: "alice@example.org",
      backup: ["a@example.net"],
      nostr: key
    })
    assert.deepStrictEqual(readIdentityForm(value)?.kept, ["x"])
    assert.deepStrictEqual(readIdentityForm(value)?.lines.nostr, [key])
    assert.deepStrictEqual(writeIdentityForm("", { email: ["a b"], nostr: ["nsec1x"] }), {
      faults: [
        { field: "email", line: 1, message: "\"a b\" is not an address that mail can be forwarded to" },
        { field: "nostr", line: 1, message: "is a secret key, and the value of a name is public" }
      ]
    })
  })
})

describe("the form of identities with an email that it does not show", () => {
  it.each([["a list", ["a@example.org", "b@example.org"]], ["an object", {
    default: "a@example.org",
    work: ["c@d.org"]
  }]])(
    "keeps %s, and all other fields",
    (_, email) => {
      const before = { email, name: "Alice", backup: ["d@example.net"], website: "https://example.org/", x: { y: [1] } }
      const read = readIdentityForm(JSON.stringify(before))
      assert.deepStrictEqual(read?.lines.email, [])
      assert.deepStrictEqual(read?.kept, ["email", "x"])
      const write = (lines: Parameters<typeof writeIdentityForm>[1]) => {
        const made = writeIdentityForm(JSON.stringify(before), lines)
        return made !== undefined && "value" in made ? JSON.parse(made.value) : made
      }
      // What the desk sends: the lines that it showed, of which the owner changed one.
      assert.deepStrictEqual(write({ ...read?.lines, name: ["Bob"] }), { ...before, name: "Bob" })
      assert.property(write({ ...read?.lines, email: ["new@example.org"] }), "faults")
    }
  )
})

interface Hidden {
  readonly info?: unknown
  readonly map?: { readonly www?: { readonly loc?: unknown } }
}

const readValue = (json: string): Hidden => JSON.parse(json)

describe("any value", () => {
  const text = FastCheck.oneof(
    FastCheck.constantFrom("192.0.2.1", "::1", "ns1.example.org.", ONION, "10 mail", "", " x", "a\nb", "\u202e", "0x"),
    FastCheck.string({ maxLength: 8 })
  )
  const row = FastCheck.oneof(
    FastCheck.tuple(FastCheck.nat(3), FastCheck.nat(3), FastCheck.nat(3), FastCheck.constantFrom(SHA256, "q80=", "?")),
    FastCheck.tuple(FastCheck.nat(9), FastCheck.nat(1), FastCheck.constantFrom(25, 80), text),
    FastCheck.array(FastCheck.jsonValue({ maxDepth: 1 }), { maxLength: 4 })
  )
  const item = FastCheck.oneof(
    text,
    FastCheck.array(text, { maxLength: 3 }),
    FastCheck.array(row, { maxLength: 2 }),
    FastCheck.jsonValue({ maxDepth: 2 })
  )
  const itemKey = FastCheck.constantFrom(
    "ip",
    "ip6",
    "alias",
    "ns",
    "ds",
    "txt",
    "tls",
    "srv",
    "tor",
    "info",
    "__proto__",
    "a.b"
  )
  const below = FastCheck.constantFrom("www", "_tcp", "_443", "_smtp", "_tor", "*", "", "A", "ip")
  const levelOver = (map: FastCheck.Arbitrary<unknown>) =>
    FastCheck.tuple(FastCheck.dictionary(itemKey, item, { maxKeys: 4 }), FastCheck.option(map, { nil: undefined })).map(
      ([items, map]) => ({ ...items, map })
    )
  const mapOf = (inner: FastCheck.Arbitrary<unknown>) =>
    FastCheck.dictionary(below, FastCheck.oneof({ weight: 4, arbitrary: inner }, item), { maxKeys: 3 })
  const level = levelOver(mapOf(levelOver(mapOf(levelOver(item)))))

  it("stays the same through the form and back", () => {
    FastCheck.assert(
      FastCheck.property(level, (value) => {
        const json = JSON.stringify(value)
        const form = readDomainForm(json)
        assert.isDefined(form)
        // As a browser sends it back.
        const lines = Object.fromEntries(
          Object.entries(form?.lines ?? {}).map(([key, each]) => [key, linesOf(each.join("\r\n"))])
        )
        const made = written(json, lines)
        assert.deepStrictEqual(JSON.parse(made), JSON.parse(json))
        assert.deepStrictEqual(readDomainForm(made), form)
      }),
      { numRuns: 300 }
    )
  })

  it("has the lines that were written, and all that no field shows", () => {
    const line: Readonly<Record<DomainField, FastCheck.Arbitrary<string>>> = {
      address: FastCheck.constantFrom("192.0.2.1", "192.0.2.9", "2001:db8::1"),
      alias: FastCheck.constant("example.org."),
      ns: FastCheck.constantFrom("ns1.example.org.", "ns2"),
      ds: FastCheck.constantFrom(`1 2 3 ${DIGEST}`, "7 8 1 abcd"),
      tls: FastCheck.constantFrom(`443 3 1 1 ${DIGEST}`, "25/udp 0 0 0 ab"),
      mail: FastCheck.constantFrom("10 mail.@", "0 mail.example.org."),
      tor: FastCheck.constant(ONION),
      text: FastCheck.constantFrom("a text", "<b>"),
      subdomain: FastCheck.constantFrom("www 192.0.2.1", "www ns ns1", "* ::1", "www txt ip 192.0.2.1")
    }
    const lines = FastCheck.record(
      Object.fromEntries(DOMAIN_FIELDS.map((key) => [key, FastCheck.uniqueArray(line[key], { maxLength: 2 })]))
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.jsonValue({ maxDepth: 2 }), lines, (hidden, wanted) => {
        const json = JSON.stringify({ info: hidden, ip: "192.0.2.1", map: { www: { loc: hidden } } })
        const before = readValue(json)
        const made = writeDomainForm(json, wanted)
        if (made === undefined || !("value" in made)) return
        const after = readDomainForm(made.value)
        for (const key of DOMAIN_FIELDS) {
          assert.sameMembers([...after?.lines[key] ?? []], [...new Set(wanted[key] ?? [])], key)
        }
        const rest = readValue(made.value)
        assert.deepStrictEqual([rest.info, rest.map?.www?.loc], [before.info, before.map?.www?.loc])
      }),
      { numRuns: 300 }
    )
  })
})
