import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { fromHex, toHex } from "../../src/protocol/bytes.ts"
import { nameKey } from "../../src/protocol/keys.ts"
import {
  bitDomainOf,
  classify,
  decodeText,
  encodeText,
  keyOfText,
  NAME_ENCODINGS,
  type NameClass,
  type NameEncoding,
  namespaceOf,
  printable
} from "../../src/protocol/nameText.ts"

const hex = (text: string): Uint8Array => fromHex(text) ?? assert.fail(`not hexadecimal: ${text}`)
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const decoded = (text: string, encoding: NameEncoding): string | undefined => {
  const bytes = decodeText(text, encoding)
  // The key of a text is that of its bytes, although nearly all keys are made without them.
  assert.strictEqual(keyOfText(text, encoding), bytes === undefined ? undefined : nameKey(bytes))
  return bytes === undefined ? undefined : toHex(bytes)
}

describe("ascii", () => {
  it("ascii has every byte from 0x20 to 0x7f and no other", () => {
    for (let byte = 0; byte < 256; byte++) {
      const inside = byte >= 0x20 && byte <= 0x7f
      const character = String.fromCharCode(byte)
      assert.strictEqual(encodeText(Uint8Array.of(0x61, byte), "ascii"), inside ? `a${character}` : undefined)
      assert.strictEqual(
        decoded(`a${character}`, "ascii"),
        inside ? `61${byte.toString(16).padStart(2, "0")}` : undefined
      )
    }
    assert.strictEqual(encodeText(new Uint8Array(0), "ascii"), "")
    assert.strictEqual(decoded("", "ascii"), "")
    assert.isUndefined(decodeText("d/a\n", "ascii"))
    assert.isUndefined(decodeText("d/ä", "ascii"))
    assert.isUndefined(decodeText("d/\u0120", "ascii"))
  })
})

describe("utf8", () => {
  it.each([
    ["", ""],
    ["00", "\0"],
    ["0a1f7f", "\n\x1f\x7f"],
    ["c280", "\u0080"],
    ["dfbf", "\u07ff"],
    ["e0a080", "\u0800"],
    ["ed9fbf", "\ud7ff"],
    ["ee8080", "\ue000"],
    ["efbfbe", "\ufffe"],
    ["efbfbd", "\ufffd"],
    ["f0908080", "\u{10000}"],
    ["f48fbfbf", "\u{10ffff}"],
    ["efbbbf61", "\ufeffa"],
    ["642fc3a4c3b6", "d/äö"]
  ])("%s is %j", (data, text) => {
    assert.strictEqual(encodeText(hex(data), "utf8"), text)
    assert.strictEqual(decoded(text, "utf8"), data)
  })

  it.each([
    ["80", "a continuation byte alone"],
    ["c3", "a cut sequence of two"],
    ["c328", "a sequence without its continuation"],
    ["e282", "a cut sequence of three"],
    ["f09f98", "a cut sequence of four"],
    ["c080", "NUL in two bytes"],
    ["c1bf", "0x7f in two bytes"],
    ["e09fbf", "U+07FF in three bytes"],
    ["f08fbfbf", "U+FFFF in four bytes"],
    ["eda080", "a surrogate"],
    ["edbfbf", "a surrogate"],
    ["eda081edb080", "a surrogate pair"],
    ["f8888080", "a sequence of five"],
    ["fe", "a byte that never occurs"],
    ["ff", "a byte that never occurs"]
  ])("%s has no text: %s", (data) => {
    assert.isUndefined(encodeText(hex(data), "utf8"))
    assert.isUndefined(encodeText(hex(`61${data}61`), "utf8"))
  })

  it.each(["f4908080", "f5808080", "f7bfbfbf"])(
    "%s has no text, although the reference node prints it",
    (data) => {
      assert.isUndefined(encodeText(hex(data), "utf8"))
      assert.strictEqual(encodeText(hex(data), "hex"), data)
      assert.strictEqual(printable(hex(data)), `0x${data}`)
    }
  )

  it("a text is converted correctly after bytes without text", () => {
    assert.isUndefined(encodeText(hex("f09f98"), "utf8"))
    assert.strictEqual(encodeText(hex("80"), "utf8"), undefined)
    assert.strictEqual(encodeText(hex("61"), "utf8"), "a")
  })

  it.each(["\ud800", "\udfff", "a\ud800b", "\udc00\ud800"])(
    "half of a surrogate pair has no bytes: %j",
    (text) => {
      assert.isUndefined(decodeText(text, "utf8"))
    }
  )
})

describe("hex", () => {
  it.each([["", ""], ["00ff", "00ff"], ["00FF", "00ff"], ["aBcD", "abcd"]])("%j is %j", (text, data) => {
    assert.strictEqual(decoded(text, "hex"), data)
    assert.strictEqual(encodeText(hex(data), "hex"), data)
  })

  it.each(["0", "000", "0g", "0x00", " 00", "00\n", "00 00", "ｆｆ"])("%j is not hex", (text) => {
    assert.isUndefined(decodeText(text, "hex"))
  })
})

describe("encodings", () => {
  it("the default encoding is first", () => {
    assert.deepStrictEqual([...NAME_ENCODINGS], ["ascii", "utf8", "hex"])
  })

  it.prop("the text of any bytes gives the same bytes again", {
    bytes: FastCheck.oneof(
      FastCheck.uint8Array({ maxLength: 40 }),
      FastCheck.fullUnicodeString({ maxLength: 20 }).map(bytesOf)
    ),
    encoding: FastCheck.constantFrom(...NAME_ENCODINGS)
  }, ({ bytes, encoding }) => {
    const text = encodeText(bytes, encoding)
    if (text !== undefined) assert.strictEqual(decoded(text, encoding), toHex(bytes))
    else assert.notStrictEqual(encoding, "hex")
  })

  it.prop("the bytes of any text give the same text again", {
    text: FastCheck.oneof(FastCheck.string(), FastCheck.fullUnicodeString(), FastCheck.string16bits()),
    encoding: FastCheck.constantFrom<NameEncoding>("ascii", "utf8")
  }, ({ encoding, text }) => {
    const bytes = decodeText(text, encoding)
    if (bytes !== undefined) assert.strictEqual(encodeText(bytes, encoding), text)
  })

  it.prop(
    "every text without half surrogate pairs is valid utf8",
    { text: FastCheck.fullUnicodeString() },
    ({ text }) => {
      assert.strictEqual(decoded(text, "utf8"), toHex(bytesOf(text)))
    }
  )
})

describe("printable", () => {
  it.each([
    ["d/example", "'d/example'"],
    ["", "''"],
    ["it's", "'it's'"],
    ["\x7f", "'\x7f'"],
    ["d/ä", "0x642fc3a4"],
    ["a\nb", "0x610a62"],
    ["\0", "0x00"]
  ])("printable shows %j as %j", (name, shown) => {
    assert.strictEqual(printable(bytesOf(name)), shown)
  })
})

const LABEL_63 = "wikileaks-wikileaks-wikileaks-wikileaks-wikileaks-wikileaks-wik"

describe("classify (reference/protocol.md 7.1)", () => {
  it.each<[string, NameClass]>([
    ["d/wikileaks", "domain"],
    ["d/wiki-leaks", "domain"],
    ["d/xn--wikileaks", "domain"],
    ["d/123wikileaks", "domain"],
    [`d/${LABEL_63}`, "domain"],
    ["d/a", "domain"],
    ["d/1a", "domain"],
    ["d/1-2", "domain"],
    ["d/xn--1", "domain"],
    ["d/xn--a-b", "domain"],
    ["id/123", "identity"],
    ["id/wikileaks", "identity"],
    ["id/wiki-leaks", "identity"],
    ["id/123wikileaks", "identity"],
    [`id/${"a".repeat(252)}`, "identity"],
    ["dd/wikileaks", "domain-data"],
    ["dd/WIKI LEAKS/", "domain-data"],
    ["idd/wikileaks", "identity-data"],
    ["idd/-", "identity-data"],
    ["wikileaks", "nonstandard"],
    ["nft/wikileaks", "nonstandard"],
    ["d/d/wikileaks", "nonstandard"],
    ["", "nonstandard"],
    [`d/${LABEL_63}i`, "nonstandard"],
    ["d/WIKILEAKS", "nonstandard"],
    ["d/Wikileaks", "nonstandard"],
    ["d/wiki_leaks", "nonstandard"],
    ["d/wiki--leaks", "nonstandard"],
    ["d/-wikileaks", "nonstandard"],
    ["d/wikileaks-", "nonstandard"],
    ["d/xn--", "nonstandard"],
    ["d/xn---a", "nonstandard"],
    ["d/xn--a--b", "nonstandard"],
    ["d/123", "nonstandard"],
    ["d/wiki\nleaks", "nonstandard"],
    ["d/wikileaks\n", "nonstandard"],
    ["d/wikileäks", "nonstandard"],
    ["id/xn--wikileaks", "nonstandard"],
    ["id/WIKILEAKS", "nonstandard"],
    ["id/Wikileaks", "nonstandard"],
    ["id/wiki_leaks", "nonstandard"],
    ["id/wiki--leaks", "nonstandard"],
    ["id/-wikileaks", "nonstandard"],
    ["id/wikileaks-", "nonstandard"],
    ["id/wiki\nleaks", "nonstandard"],
    ["dd/wikileäks", "nonstandard"],
    ["d/", "nonstandard"],
    ["dd/", "nonstandard"],
    ["id/", "nonstandard"],
    ["idd/", "nonstandard"],
    ["/", "nonstandard"],
    ["/d/a", "nonstandard"],
    ["d", "nonstandard"],
    ["D/a", "nonstandard"],
    [" d/a", "nonstandard"]
  ])("the class of %j is %s", (name, expected) => {
    assert.strictEqual(classify(bytesOf(name)), expected)
  })
})

describe("namespaceOf", () => {
  it.each([
    ["d/wikileaks", "d/"],
    ["d/", "d/"],
    ["nft/wikileaks/x", "nft/"],
    ["/", "/"],
    ["wikileaks", undefined],
    ["", undefined],
    ["d/ä", undefined],
    ["d/\0", undefined]
  ])("the namespace of %j is %j", (name, namespace) => {
    assert.strictEqual(namespaceOf(bytesOf(name)), namespace)
  })
})

describe("bitDomainOf (reference/protocol.md 7.2)", () => {
  it.each([
    ["d/wikileaks", "wikileaks.bit"],
    ["d/xn--wikileaks", "xn--wikileaks.bit"],
    ["d/WIKILEAKS", undefined],
    ["d/", undefined],
    ["id/wikileaks", undefined],
    ["dd/wikileaks", undefined],
    ["wikileaks", undefined],
    ["d/ä", undefined]
  ])("the domain of %j is %j", (name, domain) => {
    assert.strictEqual(bitDomainOf(bytesOf(name)), domain)
  })
})
