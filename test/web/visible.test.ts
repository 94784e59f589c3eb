import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { toHex } from "../../src/protocol/bytes.ts"
import { html } from "../../src/web/html.ts"
import { firstOf, listedName, titleName, visible, wholeName } from "../../src/web/visible.ts"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

const marked = (label: string): string => `<span class="mark">${label}</span>`

describe("visible", () => {
  it.each([
    ["\u0000", "U+0000", "a control character"],
    ["\u007f", "U+007F", "delete"],
    ["\u0085", "U+0085", "a control character of the upper half"],
    ["\n", "U+000A", "a new line"],
    ["\u00a0", "U+00A0", "a space that does not break"],
    ["\u00ad", "U+00AD", "a hyphen that is not shown"],
    ["\u034f", "U+034F", "a joiner of graphemes"],
    ["\u061c", "U+061C", "a mark of direction"],
    ["\u115f", "U+115F", "a filler"],
    ["\u200b", "U+200B", "a space without width"],
    ["\u202e", "U+202E", "an override of direction"],
    ["\u2028", "U+2028", "a separator of lines"],
    ["\u2066", "U+2066", "an isolate"],
    ["\u2800", "U+2800", "the blank pattern of braille"],
    ["\u3164", "U+3164", "a filler of Hangul"],
    ["\ufe0f", "U+FE0F", "a selector of variations"],
    ["\ufeff", "U+FEFF", "a mark of byte order"],
    ["\ue000", "U+E000", "a private character"],
    ["\u{e0041}", "U+E0041", "a tag"],
    ["\ud800", "U+D800", "half a pair"]
  ])("spells %j out as %s: %s", (character, label) => {
    assert.strictEqual(visible(`a${character}b`).text, `a${marked(label)}b`)
  })

  it.each(["plain text", "d/müller", "日本語", "שלום", "😀", "e\u0301", "a  b"])("leaves %j as it is", (text) => {
    assert.strictEqual(visible(text).text, text)
  })

  it("shows the letters of an encoded domain behind the name, and only where they imitate no others", () => {
    for (const show of [listedName, wholeName]) {
      assert.strictEqual(
        show(utf8("d/xn--zrich-kva")).text,
        "<bdi class=\"name\">d/xn--zrich-kva</bdi> <bdi class=\"muted\">(zürich.bit)</bdi>"
      )
      // Cyrillic letters that look like "apple", markup, and an encoding of nothing else.
      for (const name of ["d/xn--80ak6aa92e", "d/xn--<b>-kva", "d/xn--example-", "d/müller", "id/xn--zrich-kva"]) {
        assert.notInclude(show(utf8(name)).text, "muted", name)
      }
    }
  })

  it("spells marks out that pile up on a letter, from the fourth on", () => {
    assert.strictEqual(visible("e\u0301\u0301\u0301").text, "e\u0301\u0301\u0301")
    assert.strictEqual(visible("e\u0301\u0301\u0301\u0302").text, `e\u0301\u0301\u0301${marked("U+0302")}`)
  })

  it("keeps new lines and tabs in multi-line text, and no other control character", () => {
    assert.strictEqual(visible("a\n\tb\r", true).text, `a\n\tb${marked("U+000D")}`)
  })

  it.prop("shows all invisible characters, and escapes markup", [FastCheck.fullUnicodeString()], ([text]) => {
    const shown = visible(text).text
    assert.notMatch(shown, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u)
    assert.notMatch(shown.replaceAll(/<span class="mark">U\+[0-9A-F]{4,6}<\/span>/g, ""), /[<>"'`]/)
  })
})

describe("names", () => {
  it("shows text as text and other bytes in hexadecimal", () => {
    assert.strictEqual(listedName(utf8("d/<b>")).text, "<bdi class=\"name\">d/&lt;b&gt;</bdi>")
    assert.strictEqual(listedName(Uint8Array.of(0xff, 0)).text, "<bdi class=\"name hex\">0xff00</bdi>")
    assert.include(listedName(new Uint8Array(0)).text, "empty name")
  })

  it("spells spaces at the ends out", () => {
    const space = marked("space")
    assert.strictEqual(listedName(utf8(" a b  ")).text, `<bdi class="name">${space}a b${space}${space}</bdi>`)
    assert.strictEqual(listedName(utf8("  ")).text, `<bdi class="name">${space}${space}</bdi>`)
  })

  it("cuts long names in lists, and shows them in full on their own page", () => {
    assert.strictEqual(listedName(utf8("x".repeat(64))).text, `<bdi class="name">${"x".repeat(64)}</bdi>`)
    assert.strictEqual(listedName(utf8("x".repeat(65))).text, `<bdi class="name">${"x".repeat(64)}…</bdi>`)
    assert.strictEqual(wholeName(utf8("x".repeat(255))).text, `<bdi class="name">${"x".repeat(255)}</bdi>`)
    const long = new Uint8Array(255).fill(0xff)
    assert.strictEqual(listedName(long).text, `<bdi class="name hex">0x${"f".repeat(64)}…</bdi>`)
    assert.strictEqual(wholeName(long).text, `<bdi class="name hex">0x${toHex(long)}</bdi>`)
    assert.isBelow(wholeName(new Uint8Array(1_000_000).fill(0xff)).text.length, 2_000)
  })

  it("puts only visible characters into a title", () => {
    assert.strictEqual(titleName(utf8("d/a\u202eb")), "d/a\ufffdb")
    assert.strictEqual(titleName(Uint8Array.of(0xff)), "0xff")
  })

  it.prop("cuts between characters", [FastCheck.fullUnicodeString(), FastCheck.nat(10)], ([text, count]) => {
    const cut = firstOf(text, count)
    assert.isTrue(text.startsWith(cut))
    assert.isAtMost(Array.from(cut).length, Math.max(count, 0))
    assert.strictEqual(html`${cut}`.text.includes("\ufffd"), cut.includes("\ufffd"))
    if (Array.from(text).length <= count) assert.strictEqual(cut, text)
  })
})
