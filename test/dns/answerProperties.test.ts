import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { DnsAnswer } from "../../src/dns/answer.ts"
import type { RecordSet } from "../../src/dns/records.ts"
import { nameOfLabels, wireLabels, type WireName, wireNameText } from "../../src/dns/wire/name.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import {
  answerFrom,
  linesOf,
  signedApex,
  typeText,
  wire,
  zonesOf,
  type ZoneSpec,
  type ZonesSpec
} from "../support/dnsZone.ts"

/**
 * Random zones and questions: the answer is that of a list of all names, searched as RFC 1034, 4592 and 6672 say, and a
 * judge who knows only the NSEC records of the answer and this list accepts the proof.
 */

const { A, CNAME, DNAME, DS, NS, NSEC, RRSIG, SOA, TXT } = TYPE_NUMBERS
const ORIGIN = wire("bit.")

// Zones

const DOMAINS = ["a", "b", "c"]
/** Few labels, so that questions hit; one as long as labels get. */
const LABELS = ["a", "b", "[", "_c", "z".repeat(63)]

const target = fc.constantFrom(
  "a.bit.",
  "b.bit.",
  "a.b.bit.",
  "_c.a.bit.",
  "b.a.a.bit.",
  "c.bit.",
  "d.bit.",
  "a.example."
)

const records = (place: string) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(["A 192.0.2.1"]) },
    { weight: 2, arbitrary: fc.constant(["A 192.0.2.2", "TXT x"]) },
    { weight: 2, arbitrary: target.map((to) => [`CNAME ${to}`]) },
    ...place.startsWith("*") ? [] : [
      { weight: 1, arbitrary: target.map((to) => [`DNAME ${to}`, "TXT x"]) },
      { weight: 1, arbitrary: fc.constant(["NS ns.example."]) },
      { weight: 1, arbitrary: fc.constant(["NS ns.example.", "DS"]) }
    ]
  )

const places = fc.uniqueArray(
  fc.tuple(fc.array(fc.constantFrom(...LABELS), { maxLength: 3 }), fc.boolean()).map(([labels, wild]) =>
    [...wild ? ["*"] : [], ...labels].join(".")
  ),
  { maxLength: 6 }
)

const isBelow = (place: string, above: string): boolean =>
  place !== above && (above === "" || place.endsWith(`.${above}`))

/** As values give them: nothing below DNAME and NS. */
const pruned = (spec: ZoneSpec): ZoneSpec => {
  const ends = Object.keys(spec).filter((place) => spec[place]?.some((text) => /^(?:NS|DNAME)/.test(text)))
  return Object.fromEntries(Object.entries(spec).filter(([place]) => !ends.some((end) => isBelow(place, end))))
}

const domain: fc.Arbitrary<ZoneSpec> = places.chain((list) =>
  fc.tuple(...list.map(records)).map((held) =>
    pruned(Object.fromEntries(list.map((place, i) => [place, held[i] ?? []])))
  )
)

const zones: fc.Arbitrary<ZonesSpec> = fc.tuple(...DOMAINS.map(() => fc.option(domain, { nil: undefined }))).map((
  specs
) => Object.fromEntries(specs.flatMap((spec, i) => spec === undefined ? [] : [[DOMAINS[i] ?? "", spec]])))

// Questions: any bytes, and names as long as names get

const byte = fc.oneof(
  fc.constantFrom(0, 1, 0x29, 0x2a, 0x40, 0x5b, 0x60, 0x61, 0x62, 0xfe, 0xff),
  fc.integer({ min: 0, max: 255 })
)

/** No capitals: the responder lowers them. */
const bytesLabel = fc.tuple(
  fc.oneof(fc.constantFrom(1, 2, 62, 63), fc.integer({ min: 1, max: 63 })),
  byte,
  byte
).map(([length, first, last]) =>
  (String.fromCharCode(first).repeat(length - 1) + String.fromCharCode(last)).replace(/[A-Z]/g, "a")
)

const label = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...LABELS, "*", "d") },
  { weight: 1, arbitrary: bytesLabel },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "\0",
      "a\0",
      "a\0\0",
      "z".repeat(62) + "\0",
      "z".repeat(62) + "{",
      "a[",
      "a".repeat(62) + "@",
      "\xff".repeat(63),
      "`\xff",
      "*\0",
      ")\xff"
    )
  }
)

const question: fc.Arbitrary<WireName> = fc.tuple(
  fc.array(label, { maxLength: 4 }),
  fc.constantFrom(...DOMAINS, ...DOMAINS, "d", "\0", "\xff".repeat(63)),
  fc.boolean()
).map(([labels, under, fills]) => {
  let name = nameOfLabels([under], ORIGIN) ?? ORIGIN
  for (const each of labels) name = nameOfLabels([each], name) ?? name
  // A label in front that leaves no room for more.
  const room = 255 - name.length - 1
  return fills && room > 0 && room < 64 ? nameOfLabels(["q".repeat(room)], name) ?? name : name
})

const asked = fc.constantFrom(A, TXT, CNAME, NS, DS, DNAME, 65)

// The reference: all names of all zones in one map

type Names = ReadonlyMap<WireName, ReadonlyArray<number>>

const namesOf = (spec: ZonesSpec): Names => {
  const names = new Map<WireName, ReadonlyArray<number>>([
    [ORIGIN, [NS, SOA, TYPE_NUMBERS.DNSKEY]],
    [wire("x--nmc.bit."), []],
    [wire("this.x--nmc.bit."), [A]],
    [wire("aia.x--nmc.bit."), [CNAME]]
  ])
  for (const [under, records] of Object.entries(spec)) {
    names.set(wire(`${under}.bit.`), names.get(wire(`${under}.bit.`)) ?? [])
    for (const [place, texts] of Object.entries(records)) {
      const labels = [...place === "" ? [] : place.split("."), under]
      for (let i = 1; i < labels.length; i++) {
        const above = nameOfLabels(labels.slice(i), ORIGIN)
        if (above !== undefined && !names.has(above)) names.set(above, [])
      }
      const name = nameOfLabels(labels, ORIGIN)
      const types = texts.map((text) => ({ A, TXT, CNAME, DNAME, NS, DS })[text.split(" ")[0] ?? ""] ?? 0)
      if (name !== undefined) names.set(name, [...new Set(types)])
    }
  }
  return names
}

const ancestors = (name: WireName): ReadonlyArray<WireName> => {
  const labels = wireLabels(name)
  return labels.flatMap((_, i) => nameOfLabels(labels.slice(i)) ?? [])
}

type Verdict =
  | { readonly is: "referral"; readonly at: WireName }
  | { readonly is: "moved"; readonly at: WireName }
  | { readonly is: "held"; readonly at: WireName; readonly encloser: WireName | undefined }
  | { readonly is: "missing"; readonly encloser: WireName }

const judge = (names: Names, name: WireName, type: number): Verdict => {
  const above = [...ancestors(name)].reverse()
  for (const at of above) {
    const types = names.get(at)
    if (at !== ORIGIN && types?.includes(NS) && !(at === name && type === DS)) return { is: "referral", at }
    if (at !== name && types?.includes(DNAME)) return { is: "moved", at }
  }
  if (names.has(name)) return { is: "held", at: name, encloser: undefined }
  const encloser = above.findLast((at) => names.has(at)) ?? ORIGIN
  const wildcard = nameOfLabels(["*"], encloser)
  return wildcard !== undefined && names.has(wildcard)
    ? { is: "held", at: wildcard, encloser }
    : { is: "missing", encloser }
}

// The judge of proofs

const order = (a: WireName, b: WireName): number => {
  const [left, right] = [a, b].map((name) => wireLabels(name).reverse().map((each) => Buffer.from(each, "latin1")))
  for (const [i, mine] of (left ?? []).entries()) {
    const theirs = right?.[i]
    if (theirs === undefined) return 1
    const compared = Buffer.compare(mine, theirs)
    if (compared !== 0) return compared
  }
  return (left?.length ?? 0) - (right?.length ?? 0)
}

interface Interval {
  readonly owner: WireName
  readonly next: WireName
  readonly types: ReadonlyArray<number>
}

const intervals = (sets: ReadonlyArray<RecordSet>): ReadonlyArray<Interval> =>
  sets.flatMap(({ owner, records }) =>
    records.flatMap((record) => record.type === "NSEC" ? [{ owner, next: record.next, types: record.types }] : [])
  )

const covers = ({ next, owner }: Interval, name: WireName): boolean =>
  order(owner, name) < 0 && (next === ORIGIN || order(name, next) < 0)

/** Owner, next name and types are the truth about the names of the list. */
const isTrue = (names: Names, each: Interval): void => {
  const text = `${wireNameText(each.owner)} NSEC ${wireNameText(each.next)} ${each.types.map(typeText).join(" ")}`
  assert.isTrue(each.next === ORIGIN || order(each.owner, each.next) < 0, text)
  const types = [...names.get(each.owner) ?? [], RRSIG, NSEC].toSorted((a, b) => a - b)
  assert.deepStrictEqual([...each.types], types, text)
  assert.deepStrictEqual([...names.keys()].filter((name) => covers(each, name)).map(wireNameText), [], text)
  for (const name of [each.owner, each.next]) {
    assert.isAtMost(name.length, 255)
    // Validators compare names in lower case.
    assert.notMatch(name, /[A-Z]/, text)
  }
}

const nextCloser = (name: WireName, encloser: WireName): WireName => {
  const labels = wireLabels(name)
  return nameOfLabels(labels.slice(labels.length - wireLabels(encloser).length - 1)) ?? name
}

/** The NSEC that covers a name gives away its closest encloser (RFC 4035, section 5.4). */
const encloserBy = ({ next, owner }: Interval, name: WireName): WireName => {
  const shared = (other: WireName) => ancestors(name).find((at) => ancestors(other).includes(at)) ?? ORIGIN
  return [shared(owner), shared(next)].reduce((a, b) => a.length >= b.length ? a : b)
}

const checkProof = (names: Names, answer: DnsAnswer, [name, type]: readonly [WireName, number]): void => {
  const proof = intervals(answer.authority)
  const verdict = judge(names, name, type)
  const covered = (missing: WireName): Interval => {
    const found = proof.find((each) => covers(each, missing))
    assert.isDefined(found, `no NSEC around ${wireNameText(missing)}`)
    return found
  }
  const at = (owner: WireName) => proof.find((each) => each.owner === owner)
  if (verdict.is === "referral") {
    if (!names.get(verdict.at)?.includes(DS)) assert.isDefined(at(verdict.at))
  } else if (verdict.is === "missing") {
    assert.strictEqual(encloserBy(covered(name), name), verdict.encloser)
    covered(nextCloser(name, verdict.encloser))
    covered(nameOfLabels(["*"], verdict.encloser) ?? name)
  } else if (verdict.is === "held") {
    if (verdict.encloser !== undefined) {
      assert.strictEqual(encloserBy(covered(name), name), verdict.encloser)
      covered(nextCloser(name, verdict.encloser))
    }
    const types = names.get(verdict.at) ?? []
    if (!types.includes(type) && !types.includes(CNAME)) {
      assert.isDefined(at(verdict.at), `no NSEC at ${wireNameText(verdict.at)}`)
      assert.notInclude(at(verdict.at)?.types ?? [], type)
    }
  }
}

/** Follows what the answer says from the question to the last name. */
const lastName = (answer: DnsAnswer, [name, asked]: readonly [WireName, number]): WireName =>
  answer.answer.reduce((at, { owner, records: [record], type }) => {
    // A CNAME that was asked for is the end.
    if (owner !== at || type !== CNAME || asked === CNAME || record === undefined) return at
    if (record.type === "opaque") return Buffer.from(record.data).toString("latin1") as WireName
    return record.type === "CNAME" ? wire(record.target) : at
  }, name)

describe("answerOf for random zones", () => {
  it("finds what the list of all names has, and proves nothing but the truth", () => {
    fc.assert(
      fc.property(zones, question, asked, (spec, name, type) => {
        const names = namesOf(spec)
        const answer = answerFrom(zonesOf(spec), { apex: signedApex, name, type, proof: true })
        const verdict = judge(names, name, type)
        const [first] = answer.answer
        const held = verdict.is === "held" ? names.get(verdict.at) ?? [] : []
        const alias = type !== CNAME && held.includes(CNAME)
        if (verdict.is === "referral") {
          assert.deepStrictEqual([answer.authoritative, answer.authority[0]?.owner], [false, verdict.at])
        } else if (verdict.is === "moved") assert.deepStrictEqual([first?.owner, first?.type], [verdict.at, DNAME])
        else if (verdict.is === "missing") assert.deepStrictEqual([answer.rcode, answer.answer], ["NXDOMAIN", []])
        else if (alias || held.includes(type)) {
          assert.deepStrictEqual([first?.owner, first?.type], [name, alias ? CNAME : type])
          assert.strictEqual(first?.wildcard, verdict.at === name ? undefined : verdict.at)
        } else assert.deepStrictEqual([answer.rcode, linesOf(answer.answer)], ["NOERROR", []])

        for (const each of intervals(answer.authority)) isTrue(names, each)
        const last = lastName(answer, [name, type])
        const ended = answer.outside !== undefined || answer.rcode === "YXDOMAIN" || answer.answer.length > 7
        const circle = answer.answer.filter(({ owner, type: each }) => owner === last && each === CNAME).length > 0
        if (!ended && !circle) checkProof(names, answer, [last, type])
      }),
      { numRuns: 1_000 }
    )
  })

  it("is the same without a proof, but for NSEC and the DS of a referral", () => {
    fc.assert(
      fc.property(zones, question, asked, (spec, name, type) => {
        const found = zonesOf(spec)
        const plain = answerFrom(found, { apex: signedApex, name, type })
        const proved = answerFrom(found, { apex: signedApex, name, type, proof: true })
        const rest = proved.authority.filter((set) => set.type !== NSEC && set.type !== DS)
        assert.deepStrictEqual(plain, { ...proved, authority: rest })
      }),
      { numRuns: 300 }
    )
  })
})
