import { assert, describe, it } from "@effect/vitest"
import { batchOf, prefixEnd, successor } from "../../src/names/nameChanges.ts"
import { binaryString, compare, concat, toHex } from "../../src/protocol/bytes.ts"
import { bytesOf, hex } from "../support/bytes.ts"
import { blockAt, text } from "./blocks.ts"

const [a, b] = [text("d/a"), text("d/b")]

describe("batchOf", () => {
  it("batchOf numbers operations by height and position in the block", () => {
    const { operations } = batchOf([blockAt(0), blockAt(1, [{ name: a }, { name: b }]), blockAt(2, [{ name: a }])])
    assert.deepStrictEqual(operations.map(({ id }) => id), [0x100000, 0x100001, 0x200000])
    assert.deepStrictEqual(operations.map(({ effect }) => effect.height), [1, 1, 2])
  })

  it("batchOf keeps the last operation of each name, in the order of first appearance", () => {
    const { latest } = batchOf([blockAt(7, [{ name: b }, { name: a }, { name: a }]), blockAt(8, [{ name: b }])])
    assert.deepStrictEqual([...latest.keys()], [binaryString(b), binaryString(a)])
    assert.deepStrictEqual([...latest.values()].map(({ id }) => id), [8 * 0x100000, 7 * 0x100000 + 2])
  })

  it("batchOf gives distinct numbers at heights beyond any chain", () => {
    const { operations } = batchOf([blockAt(2 ** 32, [{ name: a }, { name: b }])])
    assert.deepStrictEqual(operations.map(({ id }) => id), [2 ** 52, 2 ** 52 + 1])
  })

  it("batchOf refuses blocks that are not consecutive", () => {
    assert.throws(() => batchOf([blockAt(3), blockAt(5)]), /block 5 comes where block 4 should/)
    assert.throws(() => batchOf([blockAt(3), blockAt(3)]), /block 3 comes where block 4 should/)
  })

  it("batchOf returns an empty batch for no blocks", () => {
    assert.deepStrictEqual(batchOf([]), { operations: [], latest: new Map() })
  })
})

describe("prefixEnd", () => {
  it.each([
    { prefix: "", end: undefined, why: "every name begins with nothing" },
    { prefix: "64", end: "65", why: "the next byte" },
    { prefix: "642f", end: "6430", why: "the last byte counts" },
    { prefix: "64ff", end: "65", why: "no byte is above ff" },
    { prefix: "ff", end: undefined, why: "nothing follows" },
    { prefix: "ffff", end: undefined, why: "nothing follows" },
    { prefix: "00", end: "01", why: "zero is a byte like others" }
  ])("prefixEnd of $prefix is $end: $why", ({ end, prefix }) => {
    const found = prefixEnd(hex(prefix))
    assert.strictEqual(found === undefined ? undefined : toHex(found), end)
  })

  it.prop("prefixEnd is above all names with the prefix, and not above larger names", {
    prefix: bytesOf(0, 3),
    rest: bytesOf(0, 3)
  }, ({ prefix, rest }) => {
    const end = prefixEnd(prefix)
    if (end === undefined) return
    assert.isBelow(compare(concat(prefix, rest), end), 0)
    const beginsSo = rest.length >= prefix.length && prefix.every((byte, i) => byte === rest[i])
    assert.strictEqual(compare(rest, prefix) >= 0 && compare(rest, end) < 0, beginsSo)
  })
})

describe("successor", () => {
  it.prop(
    "no name lies between a name and its successor",
    { name: bytesOf(0, 3), other: bytesOf(0, 4) },
    ({ name, other }) => {
      const next = successor(name)
      assert.isBelow(compare(name, next), 0)
      assert.isFalse(compare(other, name) > 0 && compare(other, next) < 0)
    }
  )
})
