import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { RecordSet } from "../../../src/dns/records.ts"
import {
  childName,
  compareWireNames,
  isAtOrBelow,
  lowerCaseName,
  MAX_NAME_BYTES,
  nameOfLabels,
  type WireName,
  wireNameText
} from "../../../src/dns/wire/name.ts"
import { denials } from "../../../src/dns/zone/denial.ts"
import { wireName } from "../../support/dnsRecords.ts"

const ORIGIN = wireName("bit")
const deny = denials(ORIGIN)

/** Owner and next name of the NSEC records that deny a name right below an encloser which has no wildcard. */
const proofOf = (label: string, encloser: WireName): ReadonlyArray<readonly [WireName, WireName]> =>
  deny.without({ name: childName(label, encloser) ?? assert.fail(label), encloser: existing(encloser) })
    .flatMap(({ owner, records }: RecordSet) =>
      records.flatMap((each) => each.type === "NSEC" ? [[owner, each.next]] : [])
    )

const existing = (name: WireName) => ({ name, types: [], below: new Map() })

const covers = ([owner, next]: readonly [WireName, WireName], name: WireName): boolean =>
  compareWireNames(owner, name) < 0 && (next === ORIGIN || compareWireNames(name, next) < 0)

/** A name of so many bytes, below which little fits. */
const enclosers = [
  ORIGIN,
  wireName("a.bit"),
  ...Array.from({ length: 8 }, (_, room) => {
    const rest = MAX_NAME_BYTES - ORIGIN.length - 3 * 64 - 1 - room
    return nameOfLabels(["m".repeat(rest), ...Array<string>(3).fill("m".repeat(63))], ORIGIN) ?? assert.fail()
  })
]

/** Labels in the order of names just beside the wildcard, and others. */
const label = fc.oneof(
  fc.array(fc.constantFrom("\0", "\x01", "(", ")", "*", "+", "\xfe", "\xff"), { minLength: 1, maxLength: 4 })
    .map((bytes) => bytes.join("")),
  fc.constantFrom(`)${"\xff".repeat(62)}`, `)${"\xff".repeat(61)}`, `*${"\0".repeat(62)}`, `*${"\xff".repeat(62)}`),
  fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 4 })
)

describe("the proof that neither a name nor the wildcard beside it exists", () => {
  it.each([
    ["*\0", ")\\255.a.bit", "*\\000\\000.a.bit"],
    [")\xff", ")\\254\\255.a.bit", "*\\000.a.bit"],
    [")\xff\x01", ")\\255.a.bit", "*\\000.a.bit"],
    [`)${"\xff".repeat(62)}`, ")\\255.a.bit", "*\\000.a.bit"]
  ])("is one NSEC where that of %j and that of the wildcard overlap", (first, owner, next) => {
    const texts = proofOf(first, wireName("a.bit")).map((names) => names.map(wireNameText))
    assert.deepStrictEqual(texts, [[owner, next].map((text) => wireNameText(wireName(text)))])
  })

  it("is two apart from that", () => {
    assert.lengthOf(proofOf("none", ORIGIN), 2)
  })

  it("has one and the same NSEC around the wildcard of the apex, while the types of the apex stay", () => {
    const wildcardOf = (label: string, encloser: ReturnType<typeof existing>) =>
      deny.without({ name: childName(label, encloser.name) ?? assert.fail(label), encloser })[1]
    const apex = existing(ORIGIN)
    const first = wildcardOf("none", apex)
    assert.isTrue(first?.isShared)
    assert.strictEqual(wildcardOf("other", apex), first)
    const other = wildcardOf("none", { ...apex, name: wireName("a.bit") })
    assert.deepStrictEqual([other?.isShared, other?.owner], [false, wireName(")\\255.a.bit")])
    assert.notStrictEqual(wildcardOf("none", existing(ORIGIN)), first)
  })

  // A validator takes what a question has in common with either end for names that exist (RFC 4035, section 5.4).
  it("has no end at or below the name or the wildcard", () => {
    fc.assert(
      fc.property(label, fc.constantFrom(...enclosers), (first, encloser) => {
        const name = childName(first, encloser)
        const wildcard = childName("*", encloser)
        fc.pre(name !== undefined && wildcard !== undefined && name !== wildcard && lowerCaseName(name) === name)
        const proof = proofOf(first, encloser)
        for (const missing of [name, wildcard]) {
          assert.lengthOf(proof.filter((each) => covers(each, missing)), 1, wireNameText(missing))
          for (const end of proof.flat()) assert.isFalse(isAtOrBelow(end, missing), wireNameText(end))
        }
      }),
      { numRuns: 2_000 }
    )
  })
})
