import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { lint } from "../../src/values/lint.ts"
import { recordText, TYPE_NUMBERS, typeNumberOf } from "../../src/values/records.ts"
import { type DomainZone, domainZone, zoneFrom, type ZoneNode } from "../../src/values/zone.ts"
import { bytes, DIGEST, IP, linesOf, text, values, zoneOf } from "./exampleZone.ts"

/** Values that cost as much as they can. */
const COSTLY: ReadonlyArray<readonly [what: string, value: (name: string) => string]> = [
  ["4 MB of imports", () => JSON.stringify({ import: Array.from({ length: 400_000 }, (_, at) => `dd/${at}`) })],
  ["16 kB of imports", (name) => JSON.stringify({ import: Array.from({ length: 1_000 }, (_, at) => `${name}${at}`) })],
  ["the same import many times", () => JSON.stringify({ import: Array.from({ length: 1_500 }, () => "dd/a") })],
  [
    "a loop of imports",
    () => JSON.stringify({ import: ["dd/a", "dd/b", "d/example"], map: { a: { import: "dd/b" } } })
  ],
  ["imports of wide maps", (name) =>
    JSON.stringify({
      import: [`${name}a`, `${name}b`, `${name}c`],
      map: Object.fromEntries(Array.from({ length: 800 }, (_, at) => [`a${at}`, IP]))
    })],
  [
    "1,000 labels",
    () => JSON.stringify({ map: Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`${at}`, "::"])) })
  ],
  ["a chain of labels", () => `${"{\"map\":{\"a\":".repeat(99)}{"ip":"${IP}"}${"}}".repeat(99)}`],
  [
    "a chain of map[\"\"]",
    () =>
      `${"{\"map\":{\"\":".repeat(98)}${
        JSON.stringify(Object.fromEntries(Array.from({ length: 1_500 }, (_, at) => [at, 0])))
      }${"}}".repeat(98)}`
  ],
  ["deep JSON", () => "[".repeat(4_000_000)],
  ["texts", () => JSON.stringify({ txt: Array.from({ length: 4_000 }, () => "a") })],
  ["bad items", () => JSON.stringify({ ip: Array.from({ length: 2_000 }, (_, at) => `x${at}`) })]
]

describe("a costly value", () => {
  it.each(COSTLY)("of %s reads 15 other names at most, and takes milliseconds", (_, valueOf) => {
    let asked = 0
    const cached = new Map<string, Uint8Array>()
    const value = (name: string): Uint8Array => {
      const known = cached.get(name) ?? bytes(valueOf(name))
      cached.set(name, known)
      return known
    }
    const zone = (): DomainZone => {
      asked = 0
      return zoneFrom(
        domainZone({ name: bytes("d/example"), value: value("d/example"), host: "example.bit." }),
        (name) => {
          asked++
          return value(text(name))
        }
      )
    }
    const { sources } = zone()
    assert.isAtMost(asked, 15)
    assert.strictEqual(sources.length, asked + 1)
    const before = process.cpuUsage().user
    for (let turn = 0; turn < 5; turn++) zone()
    // A few milliseconds on a quiet machine; the limits keep it from thousands.
    assert.isBelow((process.cpuUsage().user - before) / 5_000, 100)
  })
})

const HOSTS = ["", "@", "a", "ns.@", "ns", "a.b", "x.org.", ".", "$", "*", "B", "example.bit."]
const LABELS = ["", "*", "a", "b", "ns", "_tcp", "_smtp", "_tor", "A", "a.b"]

const host = FastCheck.constantFrom(...HOSTS)
const odd = FastCheck.oneof(FastCheck.constant(null), FastCheck.json({ maxDepth: 2 }).map((json) => JSON.parse(json)))
const listOf = (one: FastCheck.Arbitrary<unknown>) => FastCheck.oneof(one, FastCheck.array(one, { maxLength: 3 }))
const small = FastCheck.constantFrom(0, 1, 25, 65_280, -1)
const base64 = FastCheck.constantFrom(DIGEST, "AQID", "", "?")

/** Values of a domain, right and wrong ones; without imports. */
const domain = FastCheck.letrec<{ object: Record<string, unknown> }>((tie) => ({
  object: FastCheck.record(
    Object.fromEntries(
      Object.entries({
        ip: listOf(FastCheck.constantFrom(IP, "192.0.2.2", "x")),
        ip6: listOf(FastCheck.constantFrom("::1", IP)),
        alias: host,
        translate: host,
        ns: listOf(host),
        dns: listOf(host),
        ds: FastCheck.array(FastCheck.tuple(small, small, small, base64), { maxLength: 2 }),
        srv: FastCheck.array(FastCheck.tuple(small, small, small, host), { maxLength: 2 }),
        mx: FastCheck.array(FastCheck.tuple(small, host), { maxLength: 2 }),
        tls: FastCheck.array(FastCheck.tuple(small, small, small, base64), { maxLength: 2 }),
        txt: listOf(FastCheck.oneof(FastCheck.string(), FastCheck.array(FastCheck.string()))),
        loc: FastCheck.constantFrom("1 N 2 E 3m", "1 N"),
        sshfp: FastCheck.array(FastCheck.tuple(small, small, base64), { maxLength: 2 }),
        o: FastCheck.array(FastCheck.tuple(small, base64), { maxLength: 2 }),
        map: FastCheck.dictionary(FastCheck.constantFrom(...LABELS), tie("object"), { maxKeys: 4 })
      }).map(([key, usual]) => [key, FastCheck.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: odd })])
    ),
    { requiredKeys: [] }
  )
})).object

const { A, AAAA, CNAME, DNAME, DS: DELEGATION, NS } = TYPE_NUMBERS

const BESIDE_NS: ReadonlySet<number> = new Set([NS, DELEGATION, A, AAAA])

const LABEL = /^(?:\*|[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)$/

/** `cut`: below a name with NS. */
const checkNode = ({ below, sets }: ZoneNode, cut: boolean): void => {
  for (const [type, records] of sets) {
    assert.isNotEmpty(records)
    assert.isTrue(records.every((record) => typeNumberOf(record) === type))
    assert.lengthOf(new Set(records.map(recordText)), records.length)
    assert.isTrue(!cut || type === A || type === AAAA)
    for (const record of records) assert.match(recordText(record), /^[ -~]+$/)
  }
  if (sets.has(CNAME)) assert.strictEqual(sets.size, 1)
  if (sets.has(NS)) assert.isTrue([...sets.keys()].every((type) => BESIDE_NS.has(type)))
  else assert.isFalse(sets.has(DELEGATION))
  if (sets.has(DNAME)) assert.strictEqual(below.size, 0)
  for (const [label, node] of below) {
    assert.match(label, LABEL)
    assert.isTrue(node.sets.size > 0 || node.below.size > 0)
    if (label === "*") assert.isFalse(node.sets.has(NS) || node.sets.has(DNAME))
    checkNode(node, cut || sets.has(NS))
  }
}

describe("the zone of any value", () => {
  it.prop("is a well-formed tree, and what lint shows", [domain], ([value]) => {
    const json = JSON.stringify(value)
    const zone = zoneOf(values(json))
    checkNode(zone.top, false)
    const [dns] = lint("d/example", json).programs
    assert.deepStrictEqual(dns?.sees.slice(0, 100), linesOf(zone).slice(0, 100))
  })

  it.prop("keeps its own records beside any import", [domain, domain], ([own, other]) => {
    const zone = zoneOf(values({ ...own, import: "dd/a" }, { "dd/a": other }))
    checkNode(zone.top, false)
    assert.deepStrictEqual(zone.sources.toSorted(), ["d/example", "dd/a"])
    assert.deepStrictEqual(linesOf(zoneOf(values({ import: "dd/a" }, { "dd/a": own }))), linesOf(zoneOf(values(own))))
  })

  it.prop("is made of any bytes", [FastCheck.uint8Array({ maxLength: 200 })], ([value]) => {
    const zone = zoneFrom(domainZone({ name: bytes("d/example"), value, host: "example.bit." }), () => value)
    checkNode(zone.top, false)
  })
})
