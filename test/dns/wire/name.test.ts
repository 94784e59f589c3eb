import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import {
  ancestorName,
  childName,
  compareWireNames,
  firstLabel,
  isAtOrBelow,
  labelCount,
  lowerCaseName,
  nameOfLabels,
  parentName,
  readNameText,
  ROOT,
  wireLabels,
  wireNameOfHost,
  wireNameText
} from "../../../src/dns/wire/name.ts"
import { compare, fromBinaryString } from "../../../src/protocol/bytes.ts"
import { anyName, wireName } from "../../support/dnsRecords.ts"

describe("texts of names (RFC 1035, section 5.1)", () => {
  it.each([
    [".", "\0"],
    ["example.bit.", "\x07example\x03bit\0"],
    ["example.bit", "\x07example\x03bit\0"],
    ["ExAmPle.BIT.", "\x07example\x03bit\0"],
    ["a\\.b.bit.", "\x03a.b\x03bit\0"],
    ["a\\046b.bit.", "\x03a.b\x03bit\0"],
    ["\\000.bit.", "\x01\0\x03bit\0"],
    ["\\255\\\\.bit.", "\x02\xff\\\x03bit\0"],
    ["\\*.bit.", "\x01*\x03bit\0"],
    [`${"a".repeat(63)}.`, `\x3f${"a".repeat(63)}\0`]
  ])("%s is read", (text, wire) => {
    assert.strictEqual(readNameText(text), wire)
  })

  it.each([
    ["an empty text", ""],
    ["an empty label", "a..bit"],
    ["an empty first label", ".bit"],
    ["a label of 64 bytes", `${"a".repeat(64)}.bit`],
    ["a name of 256 bytes", `${`${"a".repeat(63)}.`.repeat(3)}${"a".repeat(62)}`],
    ["a lone backslash", "a\\"],
    ["an escape beyond a byte", "\\256.bit"],
    ["a character beyond a byte", "a\u0142.bit"],
    ["an escaped character beyond a byte", "a\\\u0142.bit"],
    ["a text of a megabyte", "a.".repeat(500_000)]
  ])("%s is refused", (_, text) => {
    assert.isUndefined(readNameText(text))
  })

  it("a name of 255 bytes is read", () => {
    assert.strictEqual(readNameText(`${`${"a".repeat(63)}.`.repeat(3)}${"a".repeat(61)}`)?.length, 255)
  })

  it("a printed name is read again", () => {
    fc.assert(fc.property(anyName, (name) => {
      assert.strictEqual(readNameText(wireNameText(name)), lowerCaseName(name))
      assert.match(wireNameText(name), /^[!-~]+$/)
    }))
  })

  it.each([
    ["\x03a.b\x01\0\x03bit\0", "a\\.b.\\000.bit."],
    ["\x04\"();\x02@$\0", "\\\"\\(\\)\\;.\\@\\$."],
    ["\x03a b\0", "a\\032b."]
  ])("%j is printed with escapes", (wire, text) => {
    assert.strictEqual(wireNameText(wireName(text)), text)
    assert.strictEqual(wireName(text), wire)
  })

  it.each([[".", "\0"], ["bit.", "\x03bit\0"], ["_443._tcp.a-b.bit.", "\x04_443\x04_tcp\x03a-b\x03bit\0"]])(
    "the host %s is a name",
    (host, wire) => {
      assert.strictEqual(wireNameOfHost(host), wire)
    }
  )
})

describe("the tree of names", () => {
  it("labels make the name again", () => {
    fc.assert(fc.property(anyName, (name) => {
      const labels = wireLabels(name)
      assert.strictEqual(nameOfLabels(labels), name)
      assert.strictEqual(labelCount(name), labels.length)
      assert.strictEqual(firstLabel(name), labels[0])
      assert.deepStrictEqual(wireLabels(parentName(name)), labels.slice(1))
      assert.strictEqual(ancestorName(name, labels.length), ROOT)
      const [first = ""] = labels
      if (labels.length > 0) assert.strictEqual(childName(first, parentName(name)), name)
    }))
  })

  it("a label that ends like a name does not make it an ancestor", () => {
    const bit = wireName("bit")
    assert.isTrue(isAtOrBelow(bit, bit))
    assert.isTrue(isAtOrBelow(wireName("a.b.bit"), bit))
    assert.isFalse(isAtOrBelow(bit, wireName("a.bit")))
    assert.isFalse(isAtOrBelow(wireName("orbit"), bit))
    assert.isFalse(isAtOrBelow(wireName("x\\003bit"), bit))
    assert.isTrue(isAtOrBelow(wireName("x.bit"), ROOT))
  })

  it("a name does not grow beyond 255 bytes, a label not beyond 63", () => {
    const longest = nameOfLabels(["a".repeat(61), ..."bcd".split("").map((char) => char.repeat(63))])
    assert.strictEqual(longest?.length, 255)
    assert.isUndefined(nameOfLabels(["a".repeat(62), ..."bcd".split("").map((char) => char.repeat(63))]))
    assert.isUndefined(childName("a".repeat(64), ROOT))
    assert.isUndefined(childName("", ROOT))
  })
})

describe("the order of names (RFC 4034, section 6.1)", () => {
  it("is that of the example of the RFC", () => {
    const names = [
      "example",
      "a.example",
      "yljkjljk.a.example",
      "Z.a.example",
      "zABC.a.EXAMPLE",
      "z.example",
      "\\001.z.example",
      "*.z.example",
      "\\200.z.example"
    ]
      .map(wireName)
    for (const [i, name] of names.entries()) {
      for (const [j, other] of names.entries()) {
        assert.strictEqual(
          Math.sign(compareWireNames(name, other)),
          Math.sign(i - j),
          `${wireNameText(name)} and ${wireNameText(other)}`
        )
      }
    }
  })

  it("compares labels from the last one on, as bytes", () => {
    const slow = (a: string, b: string): number => {
      const [left, right] = [a, b].map((name) => wireLabels(wireName(name)).reverse().map(fromBinaryString))
      for (let i = 0;; i++) {
        const [one, other] = [left?.[i], right?.[i]]
        if (one === undefined || other === undefined) return (one ? 1 : 0) - (other ? 1 : 0)
        if (compare(one, other) !== 0) return compare(one, other)
      }
    }
    fc.assert(fc.property(anyName, anyName, (a, b) => {
      const expected = slow(wireNameText(a), wireNameText(b))
      assert.strictEqual(Math.sign(compareWireNames(lowerCaseName(a), lowerCaseName(b))), Math.sign(expected))
    }))
  })

  it("only the letters A to Z have two cases (RFC 4343)", () => {
    assert.strictEqual(lowerCaseName("\x06A[\xc4@Zz\0" as never), "\x06a[\xc4@zz\0")
    fc.assert(fc.property(anyName, (name) => {
      const lower = lowerCaseName(name)
      assert.strictEqual(lower.length, name.length)
      assert.strictEqual(lowerCaseName(lower), lower)
    }))
  })
})
