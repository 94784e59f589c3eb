import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import {
  childName,
  compareWireNames,
  isAtOrBelow,
  lowerCaseName,
  MAX_NAME_BYTES,
  nameOfLabels,
  wireLabels,
  type WireName,
  wireNameText
} from "../../../src/dns/wire/name.ts"
import { nsecAround, nsecNext } from "../../../src/dns/zone/neighbours.ts"
import { anyNameBelow, wireName } from "../../support/dnsRecords.ts"

const ORIGIN = wireName("bit")

/** A name of 255 bytes, as long as a name can be. */
const full = (first: string): WireName => {
  const rest = MAX_NAME_BYTES - ORIGIN.length - 3 * 64 - (1 + first.length) - 1
  return nameOfLabels([first, "m".repeat(rest), ...Array<string>(3).fill("m".repeat(63))], ORIGIN) ?? assert.fail(first)
}

/** Names as values of names can make them, and the edges of labels and names. */
const existing = fc.array(
  fc.oneof(
    fc.string({ unit: fc.constantFrom(..."az09-_"), minLength: 1, maxLength: 3 }),
    fc.constantFrom("*", "a".repeat(63), "z".repeat(63), `${"a".repeat(62)}b`)
  ),
  { minLength: 1, maxLength: 5 }
).map((labels) => nameOfLabels(labels, ORIGIN) ?? ORIGIN)

const question = fc.oneof(anyNameBelow(ORIGIN), existing.chain(anyNameBelow), existing).map(lowerCaseName).filter((
  name
) => name !== ORIGIN)

const isBetween = (name: WireName, from: WireName, to: WireName): boolean =>
  compareWireNames(from, name) < 0 && (to === ORIGIN || compareWireNames(name, to) < 0)

const isValid = (name: WireName): boolean => nameOfLabels(wireLabels(name)) === name && lowerCaseName(name) === name

describe("neighbours of a name that does not exist (RFC 4470)", () => {
  it.each([
    ["none.bit", "nond\\255.bit", "none\\000.bit"],
    ["a.none.bit", "\\`\\255.none.bit", "a\\000.none.bit"],
    ["\\[.bit", "\\@\\255.bit", "[\\000.bit"],
    ["a\\000.bit", "\\255.a.bit", "a\\000\\000.bit"],
    ["\\000.a.bit", "a.bit", "\\000\\000.a.bit"],
    [`${"a".repeat(63)}.bit`, `\\255.${"a".repeat(62)}\`.bit`, `${"a".repeat(62)}b.bit`],
    [`${"a".repeat(62)}\\@.bit`, `\\255.${"a".repeat(62)}?.bit`, `${"a".repeat(62)}[.bit`],
    [`${"a".repeat(61)}\\255\\255.bit`, `\\255.${"a".repeat(61)}\\255\\254.bit`, `${"a".repeat(60)}b.bit`],
    [`${"\\255".repeat(63)}.bit`, `\\255.${"\\255".repeat(62)}\\254.bit`, "bit"],
    [`${"\\255".repeat(63)}.a.bit`, `\\255.${"\\255".repeat(62)}\\254.a.bit`, "a\\000.bit"]
  ])("%s is between %s and %s", (name, before, after) => {
    const found = nsecAround(wireName(name), ORIGIN)
    assert.strictEqual(wireNameText(found.owner), wireNameText(wireName(before)))
    assert.strictEqual(wireNameText(found.next), wireNameText(wireName(after)))
  })

  it.each([["b", "a", "c"], ["\xff", "\xfe", undefined], ["a\0", "a", "a\x01"]])(
    "a full name that begins with %j has neighbours of the same length or shorter",
    (first, before, after) => {
      const name = full(first)
      assert.strictEqual(name.length, MAX_NAME_BYTES)
      const found = nsecAround(name, ORIGIN)
      assert.strictEqual(wireLabels(found.owner)[0], before)
      if (after !== undefined) assert.strictEqual(wireLabels(found.next)[0], after)
      else assert.isBelow(wireLabels(found.next).length, wireLabels(name).length)
    }
  )

  it("are in the zone and within the limits, in lower case, and around the name with all names below it", () => {
    fc.assert(
      fc.property(question, fc.array(fc.string({ maxLength: 3 })), (name, labels) => {
        const { next: after, owner: before } = nsecAround(name, ORIGIN)
        assert.isTrue(isValid(before) && isValid(after), `${wireNameText(before)} ${wireNameText(after)}`)
        assert.isTrue(isAtOrBelow(before, ORIGIN) && isAtOrBelow(after, ORIGIN))
        assert.isTrue(isBetween(name, before, after))
        const below = labels.reduce<WireName>((parent, label) => nameOfLabels([label], parent) ?? parent, name)
        assert.isTrue(isBetween(lowerCaseName(below), before, after), wireNameText(below))
      }),
      { numRuns: 1_000 }
    )
  })

  it("deny nothing that exists", () => {
    fc.assert(
      fc.property(fc.array(existing, { maxLength: 30 }), question, (names, name) => {
        if (names.some((other) => isAtOrBelow(other, name))) return
        const { next: after, owner: before } = nsecAround(name, ORIGIN)
        for (const other of names) assert.isFalse(isBetween(other, before, after), wireNameText(other))
      }),
      { numRuns: 1_000 }
    )
  })
})

describe("the next name behind one that exists", () => {
  it.each([
    ["a.bit", "\\000\\000.a.bit"],
    ["bit", "\\000\\000.bit"],
    ["*.a.bit", "\\000\\000.*.a.bit"]
  ])(
    "behind %s is %s",
    (name, next) => {
      assert.strictEqual(nsecNext(wireName(name), ORIGIN), wireName(next))
    }
  )

  it("is that of the proof that nothing is at \\000 below it, whose owner is the name as well", () => {
    // Resolvers keep one NSEC record for each owner.
    fc.assert(fc.property(existing, (name) => {
      const first = childName("\0", name)
      if (first === undefined) return
      assert.deepStrictEqual(nsecAround(first, ORIGIN), { owner: name, next: nsecNext(name, ORIGIN) })
    }))
  })

  it("a full name has no name below it", () => {
    assert.strictEqual(wireLabels(nsecNext(full("b"), ORIGIN))[0], "c")
  })

  it("no other name is between that can exist", () => {
    fc.assert(
      fc.property(existing, existing, (name, other) => {
        assert.isFalse(isBetween(other, name, nsecNext(name, ORIGIN)) && other !== name, wireNameText(other))
      }),
      { numRuns: 1_000 }
    )
  })
})
