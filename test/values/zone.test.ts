import { assert, describe, it } from "@effect/vitest"
import { lint } from "../../src/values/lint.ts"
import { domainZone, zoneFrom } from "../../src/values/zone.ts"
import { fixtureText, sharedFixture } from "../support/fixtures.ts"
import { bytes, DIGEST, IP, linesOf, values, zoneOf } from "./exampleZone.ts"

/** The cases that all programs for .bit share (hlandau/nctestsuite), in a companion of the project. */
const SUITE = "dns/nctestsuite/testsuite.txt"

interface SuiteCase {
  readonly id: string
  readonly values: ReadonlyMap<string, string>
  readonly records: ReadonlyArray<string>
}

const suiteCases = (): ReadonlyArray<SuiteCase> => {
  const lines = fixtureText(SUITE).split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  const cases: Array<{ id: string; values: Map<string, string>; records: Array<string> }> = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ""
    const [, id] = /^IN ?(.*)$/.exec(line) ?? []
    if (id !== undefined) {
      if (id !== "" || cases.length === 0) cases.push({ id, values: new Map(), records: [] })
      cases.at(-1)?.values.set(lines[++at] ?? "", lines[++at] ?? "")
    } else if (!line.startsWith("OUT")) cases.at(-1)?.records.push(line.replace(/ IN /, " ").toLowerCase())
  }
  return cases
}

const NOT_JSON = ["ipv6-array-trailing-invalid", "import-subsubreference", "delegate-subsubreference"]

const HAS_SUITE = sharedFixture(SUITE) !== undefined

describe.runIf(HAS_SUITE)("the shared cases of programs for .bit", () => {
  const cases = HAS_SUITE ? suiteCases() : []
  const withDs = cases.filter(({ records }) => records.some((line) => line.includes(" ds ")))

  it("are 98: 3 are not JSON, and 3 have DS without NS", () => {
    assert.lengthOf(cases, 98)
    assert.lengthOf(withDs, 3)
  })

  it.each(cases)("$id", ({ id, records, values }) => {
    const seen = linesOf(zoneOf(values)).map((line) => line.toLowerCase())
    if (NOT_JSON.includes(id)) {
      assert.deepStrictEqual(seen, [])
      const { findings } = lint("d/example", values.get("d/example") ?? "")
      assert.deepStrictEqual(findings.map(({ code, severity }) => `${severity} ${code}`), ["error json"])
    } else assert.deepStrictEqual(seen.toSorted(), records.filter((line) => !line.includes(" ds ")).toSorted())
  })
})

const HEX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
const TOP = `example.bit. A ${IP}`
const WWW = `www.example.bit. A ${IP}`
const DS = [[1, 13, 2, DIGEST]]
const deep = (labels: number, label = "a"): object =>
  Array.from({ length: labels }).reduce<object>((inner) => ({ map: { [label]: inner } }), { ip: IP })

/** Rules that the shared cases do not have. */
const RULES: ReadonlyArray<
  readonly [
    rule: string,
    own: string | object,
    lines: ReadonlyArray<string>,
    others?: Readonly<Record<string, string | object>>
  ]
> = [
  ["an empty value has no records", "", []],
  ["a list has no records", "[]", []],
  ["a byte order mark is not JSON", "\ufeff{\"ip\":\"192.0.2.1\"}", []],
  ["JSON of 300 levels has no records", `${"[".repeat(300)}${"]".repeat(300)}`, []],
  ["the last of a repeated item counts", `{"ip":"192.0.2.9","ip":"${IP}"}`, [TOP]],
  ["the last of a repeated item counts if it is null", `{"ip":"${IP}","ip":null}`, []],
  ["the last of a repeated label counts", `{"map":{"www":{"ip6":"::1"},"www":{"ip":"${IP}"}}}`, [WWW]],
  ["a set has each record once", { ip: [IP, "192.0.2.2", IP] }, [TOP, "example.bit. A 192.0.2.2"]],
  ["ns without a server replaces nothing", { ns: [], ip: IP }, [TOP]],
  ["a bad alias replaces nothing", { alias: "a$", ip: IP }, [TOP]],
  ["a bad ns leaves alias", { ns: ["$"], alias: "a", ip: IP }, ["example.bit. CNAME a.example.bit."]],
  ["dns comes before ns", { ns: "a.", dns: "b." }, ["example.bit. NS b."]],
  ["dns that is null leaves ns", { ns: "a.", dns: null }, ["example.bit. NS a."]],
  ["DS needs ns", { ds: DS, ip: IP }, [TOP]],
  ["DS stays with ns", { ds: DS, ns: "a." }, [`example.bit. DS 1 13 2 ${HEX}`, "example.bit. NS a."]],
  ["DS needs ns at its own level", { ns: "a.", map: { b: { ns: "c.", ds: DS } } }, ["example.bit. NS a."]],
  ["a DS without digest is left out", { ds: [[1, 13, 2, ""]], ns: "a." }, ["example.bit. NS a."]],
  ["a key with capitals is left out", { map: { WWW: { ip: IP }, "a.b": { ip: IP }, "": { map: { "-": IP } } } }, []],
  ["names are in lower case", { alias: "WWW.Example.ORG." }, ["example.bit. CNAME www.example.org."]],
  ["an object without records does not exist", { ip: IP, map: { www: {}, a: { map: { b: { info: {} } } } } }, [TOP]],
  ["a text in map is ip or ip6", { map: { www: IP, "a": "::1" } }, [WWW, "a.example.bit. AAAA ::1"]],
  ["map[\"\"] can be a text of ip6", { map: { "": "::1" } }, ["example.bit. AAAA ::1"]],
  ["map[\"\"] has a map", { map: { "": { map: { www: { ip: IP } } } } }, [WWW]],
  [
    "map of map[\"\"] merges label by label",
    { map: { www: { ip: IP }, "": { map: { www: { ip: "192.0.2.9", ip6: "::1" } } } } },
    [WWW, "www.example.bit. AAAA ::1"]
  ],
  ["an own null does not hide map[\"\"]", { ip: null, map: { www: null, "": { ip: IP, map: { www: IP } } } }, [
    TOP,
    WWW
  ]],
  ["map[\"\"] counts before imports", { import: "dd/x", map: { "": { ip: IP } } }, [TOP], {
    "dd/x": { ip: "192.0.2.9" }
  }],
  ["map[\"\"] can import", { map: { "": { import: "dd/x" } } }, [TOP], { "dd/x": { ip: IP } }],
  ["ns keeps its hosts below", {
    ns: ["ns", "a.b", "x."],
    ip: IP,
    map: { ns: IP, b: { ip: IP, map: { a: IP, c: IP } } }
  }, [
    "a.b.example.bit. A 192.0.2.1",
    "example.bit. NS a.b.example.bit.",
    "example.bit. NS ns.example.bit.",
    "example.bit. NS x.",
    "ns.example.bit. A 192.0.2.1"
  ]],
  ["ns that is the name itself keeps ip and ip6", { ns: ["@"], ip: IP, ip6: "::1", txt: "a" }, [
    TOP,
    "example.bit. AAAA ::1",
    "example.bit. NS example.bit."
  ]],
  ["nothing is below translate", { translate: "a.", map: { ns: IP, b: { ns: "ns.@" } } }, ["example.bit. DNAME a."]],
  ["alias leaves what is below", { alias: "a.", map: { www: IP } }, ["example.bit. CNAME a.", WWW]],
  ["an alias of itself is left out", { alias: "@", ip: IP }, [TOP]],
  [
    "* has no ns and no translate",
    { map: { "*": { ns: "a.", ds: DS }, b: { map: { "*": { translate: "c." } } } } },
    []
  ],
  ["* can have an alias", { map: { "*": { alias: "a." } } }, ["*.example.bit. CNAME a."]],
  ["a name below * cannot be relative", { map: { "*": { map: { a: { alias: "b" }, c: { alias: "b.@" } } } } }, [
    "c.*.example.bit. CNAME b.example.bit."
  ]],
  ["16 labels are served", deep(16), [`${"a.".repeat(16)}example.bit. A ${IP}`]],
  ["17 labels are not", deep(17), []],
  ["a name of 253 characters is served", { map: { ["a".repeat(61)]: deep(3, "b".repeat(59)) } }, [
    `${`${"b".repeat(59)}.`.repeat(3)}${"a".repeat(61)}.example.bit. A ${IP}`
  ]],
  ["a name of 254 characters is not", { map: { ["a".repeat(62)]: deep(3, "b".repeat(59)) } }, []],
  [". is a target of srv and mx alone", { srv: [[0, 0, 0, "."]], mx: [[0, "."]], alias: "." }, [
    "example.bit. MX 0 .",
    "example.bit. SRV 0 0 0 ."
  ]],
  ["mx comes from port 25 of _smtp._tcp", {
    map: { _tcp: { map: { _smtp: { srv: [[10, 7, 25, "mail.@"], [20, 0, 587, "b."]] } } } }
  }, [
    "_smtp._tcp.example.bit. SRV 10 7 25 mail.example.bit.",
    "_smtp._tcp.example.bit. SRV 20 0 587 b.",
    "example.bit. MX 10 mail.example.bit."
  ]],
  ["mx replaces that of srv", { mx: [[5, "a."]], map: { _tcp: { map: { _smtp: { srv: [[10, 0, 25, "b."]] } } } } }, [
    "_smtp._tcp.example.bit. SRV 10 0 25 b.",
    "example.bit. MX 5 a."
  ]],
  [
    "mx without hosts replaces that of srv",
    { mx: [], map: { _tcp: { map: { _smtp: { srv: [[0, 0, 25, "b."]] } } } } },
    [
      "_smtp._tcp.example.bit. SRV 0 0 25 b."
    ]
  ],
  ["mx from srv is replaced by alias", {
    map: { www: { alias: "a.", map: { _tcp: { map: { _smtp: { srv: [[0, 0, 25, "b."]] } } } } } }
  }, ["_smtp._tcp.www.example.bit. SRV 0 0 25 b.", "www.example.bit. CNAME a."]],
  ["a long text is cut", { txt: `${"a".repeat(255)}b` }, [`example.bit. TXT "${"a".repeat(255)}" "b"`]],
  ["a long text is cut by bytes", { txt: `${"a".repeat(254)}ä` }, [
    `example.bit. TXT "${"a".repeat(254)}\\195" "\\164"`
  ]],
  ["lists of texts are records", { txt: [["a", "b\"\\"], "c", ""] }, [
    "example.bit. TXT \"\"",
    "example.bit. TXT \"a\" \"b\\\"\\\\\"",
    "example.bit. TXT \"c\""
  ]],
  ["a bad list of texts is left out", { txt: [["a".repeat(256)], ["a", 1], [], "b"] }, ["example.bit. TXT \"b\""]],
  ["tls is a list or dane", {
    tls: [[3, 1, 1, DIGEST], { dane: [2, 1, 1, DIGEST] }, { d8: [1, "AAAA", 1, 2, 3, "AAAA"] }]
  }, [
    `example.bit. TLSA 2 1 1 ${HEX}`,
    `example.bit. TLSA 3 1 1 ${HEX}`
  ]],
  ["dane counts beside d8", { tls: [{ d8: [1, "AAAA", 1, 2, 3, "AAAA"], dane: [2, 1, 1, DIGEST] }] }, [
    `example.bit. TLSA 2 1 1 ${HEX}`
  ]],
  ["a place has 16 bytes", { loc: ["52 22 23 N 4 53 32 E -2.00m 0.00m 10000m 10m", "90 S 180 W 0", "91 N 0 E 0"] }, [
    "example.bit. LOC 52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000.00m 10.00m",
    "example.bit. LOC 90 0 0.000 S 180 0 0.000 W 0.00m 1.00m 10000.00m 10.00m"
  ]],
  ["sshfp has hexadecimal digits", { sshfp: [[2, 1, "EjRWeJq83vZ4kBI0VniavN72eJA="]] }, [
    "example.bit. SSHFP 2 1 123456789abcdef67890123456789abcdef67890"
  ]],
  ["o is a record of any type", { o: [[65280, "AQID"], [65280, ""], [257, "AAVpc3N1ZWE="]] }, [
    "example.bit. TYPE257 \\# 8 0005697373756561",
    "example.bit. TYPE65280 \\# 0",
    "example.bit. TYPE65280 \\# 3 010203"
  ]],
  ["o has none of these types", {
    o: [0, 2, 5, 6, 39, 41, 43, 46, 47, 50, 128, 250, 255].map((type) => [type, "AA=="])
  }, []],
  ["o has no malformed data", {
    o: [[1, "AQID"], [15, "AAo="], [12, "wAA="], [65, "AAE="], [257, "AAk="], [65, "AAEAAAMAAQA="]]
  }, []],
  ["o has names in lower case", { o: [[12, "A0FiQwA="]] }, ["example.bit. TYPE12 \\# 5 0361626300"]],
  ["o does not add to another item", { ip: IP, o: [[1, "wAACAg=="], [65280, "AA=="]] }, [
    TOP,
    "example.bit. TYPE65280 \\# 1 00"
  ]],
  ["o is replaced by alias", { alias: "a.", o: [[65280, "AA=="]] }, ["example.bit. CNAME a."]],
  ["a second text with a slash is a second import", { import: ["dd/a", "dd/b"] }, [TOP, "example.bit. AAAA ::1"], {
    "dd/a": { ip: IP },
    "dd/b": { ip: "192.0.2.9", ip6: "::1" }
  }],
  ["an inner list of an import has two values", { import: [["dd/a", "", "dd/b"]] }, [TOP], {
    "dd/a": { ip: IP },
    "dd/b": { ip6: "::1" }
  }],
  ["any namespace can be imported", { import: [["id/a"], ["x/y"], ["noslash"]] }, [TOP, "example.bit. AAAA ::1"], {
    "id/a": { ip: IP },
    "x/y": { ip6: "::1" },
    "noslash": { txt: "a" }
  }],
  ["an import that is missing or bad is empty", { ip: IP, import: [["dd/missing"], ["dd/bad"], ["dd/a"]] }, [
    TOP,
    "example.bit. AAAA ::1"
  ], { "dd/bad": "{", "dd/a": { ip6: "::1" } }],
  ["maps of imports merge label by label", { import: "dd/a", map: { www: { ip: IP, txt: null } } }, [
    "b.example.bit. AAAA ::2",
    WWW,
    "www.example.bit. AAAA ::1"
  ], { "dd/a": { map: { www: { ip: "192.0.2.9", ip6: "::1", txt: "a" }, b: { ip6: "::2" } } } }],
  ["an own null removes a label of an import", { import: "dd/a", map: { www: null } }, ["b.example.bit. AAAA ::2"], {
    "dd/a": { map: { www: { ip: IP }, b: { ip6: "::2" } } }
  }],
  ["map null removes all labels of an import", { import: "dd/a", map: null }, [TOP], {
    "dd/a": { ip: IP, map: { www: { ip: IP } } }
  }],
  ["own dns wins over an imported ns", { import: "dd/a", dns: "a." }, ["example.bit. NS a."], { "dd/a": { ns: "b." } }],
  ["an own ns that is null removes an imported dns", { import: "dd/a", ns: null }, [TOP], {
    "dd/a": { dns: "b.", ip: IP }
  }],
  ["an own bad item wins over an imported one", { import: "dd/a", ip: [] }, [], { "dd/a": { ip: IP } }],
  ["relative names belong to the place of the import", { map: { sub: { map: { www: { import: "dd/a" } } } } }, [
    "mail.www.sub.example.bit. CNAME a.www.sub.example.bit.",
    "www.sub.example.bit. CNAME b.sub.example.bit."
  ], { "dd/a": { alias: "b", map: { mail: { alias: "a" } } } }],
  ["a selector goes down by label", { import: [["dd/a", "x.WWW"]] }, [TOP], {
    "dd/a": { map: { www: { map: { x: { ip: IP } } } } }
  }],
  ["a label of a selector is tried as *", { import: [["dd/a", "x.y"]] }, [TOP], {
    "dd/a": { map: { "*": { map: { x: { ip: IP } } } } }
  }],
  ["a selector that leads nowhere is empty", { ip: IP, import: [["dd/a", "y"]] }, [TOP], {
    "dd/a": { ip6: "::1", map: { z: { ip6: "::1" } } }
  }],
  ["a selector finds what the imported name imports", { import: [["dd/a", "www"]] }, [TOP], {
    "dd/a": { import: "dd/b" },
    "dd/b": { map: { www: { ip: IP } } }
  }],
  ["delegate replaces all", { ip: IP, map: { www: IP }, delegate: [["dd/a", "b"]] }, ["example.bit. AAAA ::1"], {
    "dd/a": { map: { b: { ip6: "::1" } } }
  }],
  ["a delegate that is missing keeps the own items", { ip: IP, delegate: "dd/missing", import: "dd/a" }, [
    TOP,
    "example.bit. AAAA ::1"
  ], { "dd/a": { ip6: "::1" } }],
  [
    "four imports in a row are read, the fifth is empty",
    { import: "dd/1" },
    [1, 2, 3, 4].map((at) => `example.bit. TXT "${at}"`).slice(0, 1),
    Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`dd/${at}`, { txt: `${at}`, import: `dd/${at + 1}` }]))
  ],
  [
    "labels of four imports in a row are read, not of the fifth",
    { import: "dd/1" },
    [1, 2, 3, 4].map((at) => `l${at}.example.bit. A ${IP}`),
    Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`dd/${at}`, { map: { [`l${at}`]: IP }, import: `dd/${at + 1}` }]))
  ],
  ["a host with another suffix is not a label", { alias: "www.@.x" }, []]
]

describe("domainZone", () => {
  it.each(RULES.map(([rule, own, lines, others]) => ({ rule, own, lines, others })))(
    "$rule",
    ({ lines, others, own }) => {
      assert.deepStrictEqual(linesOf(zoneOf(values(own, others))).toSorted(), lines.toSorted())
    }
  )

  it("serves nothing of a value that is not UTF-8", () => {
    const value = Uint8Array.from([...bytes("{\"ip\":\"192.0.2.1\",\"txt\":\""), 0xff, ...bytes("\"}")])
    const zone = zoneFrom(domainZone({ name: bytes("d/example"), value, host: "example.bit." }), () => undefined)
    assert.deepStrictEqual(linesOf(zone), [])
    assert.deepStrictEqual(zone.sources.map(String), ["d/example"])
  })

  it("completes relative names with the domain, below another suffix too", () => {
    const own = { alias: "a", map: { www: { alias: "" }, b: { alias: "c.@" }, ns: { ns: "x.bit." } } }
    assert.deepStrictEqual(linesOf(zoneOf(values(own), "example.bit.example.org.")), [
      "example.bit.example.org. CNAME a.example.bit.example.org.",
      "www.example.bit.example.org. CNAME example.bit.example.org.",
      "b.example.bit.example.org. CNAME c.example.bit.example.org.",
      "ns.example.bit.example.org. NS x.bit."
    ])
  })

  it("has empty non-terminals, and no leaf without records", () => {
    const { top } = zoneOf(values({ map: { a: { map: { b: { map: { c: IP, d: {} } } } } } }))
    const a = top.below.get("a")
    const b = a?.below.get("b")
    assert.deepStrictEqual([top, a, b].map((node) => node?.sets.size), [0, 0, 0])
    assert.deepStrictEqual([...(b?.below.keys() ?? [])], ["c"])
  })

  it("lists all names that it read or missed, each once, the own first", () => {
    const others = { "dd/a": { import: "dd/b" }, "dd/b": {} }
    const own = { import: ["dd/a", "dd/b"], map: { www: { import: "dd/missing" }, b: { import: "dd/missing" } } }
    const zone = zoneOf(values(own, others))
    assert.deepStrictEqual(zone.sources.toSorted(), ["d/example", "dd/a", "dd/b", "dd/missing"])
    assert.strictEqual(zone.sources[0], "d/example")
    assert.isFalse(zone.isCut)
  })

  it("reads 16 names", () => {
    const names = Array.from({ length: 20 }, (_, at) => `dd/${at}`)
    const others = Object.fromEntries(names.map((name, at) => [name, { map: { [`l${at}`]: IP } }]))
    const [few, many] = [15, 16].map((count) => zoneOf(values({ import: names.slice(0, count) }, others)))
    assert.deepStrictEqual([few, many].map((zone) => zone?.isCut), [false, true])
    assert.deepStrictEqual([few, many].map((zone) => zone?.top.below.size), [15, 15])
    assert.deepStrictEqual([few, many].map((zone) => zone?.sources.length), [16, 16])
  })

  it("reads 16 kB of a value, and 64 kB of all", () => {
    const padded = (size: number, key: string): string => {
      const rest = JSON.stringify({ map: { [key]: IP }, info: "" })
      return rest.replace("\"info\":\"", `"info":"${"x".repeat(size - rest.length)}`)
    }
    const alone = [16_384, 16_385].map((size) => zoneOf(values(padded(size, "a"))))
    assert.deepStrictEqual(alone.map(({ isCut, top }) => [isCut, top.below.size]), [[false, 1], [true, 0]])
    const others = Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`dd/${at}`, padded(16_000, `a${at}`)]))
    const zone = zoneOf(values({ import: Object.keys(others) }, others))
    assert.deepStrictEqual([...zone.top.below.keys()], ["a1", "a2", "a3", "a4"])
    assert.isTrue(zone.isCut)
  })

  it("does not count a loop as cut", () => {
    const zone = zoneOf(values({ ip: IP, import: "dd/a" }, { "dd/a": { import: ["dd/a", "d/example"], ip6: "::1" } }))
    assert.deepStrictEqual(linesOf(zone), [TOP, "example.bit. AAAA ::1"])
    assert.isFalse(zone.isCut)
  })
})
