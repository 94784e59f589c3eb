import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { escapeLines, escapeUnsafe, outputText, quoted } from "../../src/base/safeText.ts"

const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

describe("escapeUnsafe", () => {
  it.each([
    { text: "plain ünïcode 名", shown: "plain ünïcode 名", why: "letters of any script stay" },
    { text: "a\nb\r\tc", shown: "a\\u000ab\\u000d\\u0009c", why: "a line must not end" },
    { text: "\u001b[31m", shown: "\\u001b[31m", why: "terminals obey escape sequences" },
    { text: "\u009b31m", shown: "\\u009b31m", why: "C1 controls are escape sequences too" },
    { text: "a\u2028b", shown: "a\\u2028b", why: "some readers end a line there" },
    { text: "a\u202eb", shown: "a\\u202eb", why: "it turns the writing direction" },
    { text: "\u{e0001}", shown: "\\udb40\\udc01", why: "format characters beyond 16 bits are two units" },
    { text: "\ud800", shown: "\\ud800", why: "half a character cannot be written as UTF-8" }
  ])("$shown: $why", ({ shown, text }) => {
    assert.strictEqual(escapeUnsafe(text), shown)
  })

  it.prop("escapeUnsafe escapes all unsafe characters, and JSON keeps its meaning", {
    text: FastCheck.fullUnicodeString()
  }, ({ text }) => {
    assert.isFalse(UNSAFE.test(escapeUnsafe(text)))
    assert.strictEqual(JSON.parse(escapeUnsafe(JSON.stringify(text))), text)
  })
})

describe("quoted", () => {
  it("quoted cuts long text", () => {
    assert.strictEqual(quoted("x".repeat(100)), `"${"x".repeat(100)}"`)
    assert.strictEqual(quoted("x".repeat(101)), `"${"x".repeat(100)}…"`)
  })

  it("quoted escapes quotes and control characters", () => {
    assert.strictEqual(quoted("a\"b\u001b"), "\"a\\\"b\\u001b\"")
  })
})

describe("escapeLines", () => {
  it("keeps line ends and tabs", () => {
    assert.strictEqual(escapeLines("a\u001b\n\tb\u009b\n"), "a\\u001b\n\tb\\u009b\n")
  })

  it.prop("keeps the meaning of JSON", { value: FastCheck.jsonValue() }, ({ value }) => {
    const text = JSON.stringify(value, undefined, 2)
    assert.deepStrictEqual(JSON.parse(escapeLines(text)), JSON.parse(text))
  })
})

describe("outputText", () => {
  it("keeps colours, and what draws a screen again, alone of all sequences", () => {
    const own = "\u001b[2J\u001b[H\u001b[J\u001b[1;31mred\u001b[0m\n"
    assert.strictEqual(outputText(own), own)
    assert.strictEqual(
      outputText("\u001b]0;title\u0007\u001b[5A\u009b31m"),
      "\\u001b]0;title\\u0007\\u001b[5A\\u009b31m"
    )
  })

  it("leaves nothing in any text that moves the cursor, turns the direction or hides", () => {
    FastCheck.assert(FastCheck.property(FastCheck.string({ unit: "binary" }), FastCheck.boolean(), (text, json) => {
      const shown = outputText(json ? JSON.stringify({ [text]: [text] }, undefined, 2) : text)
      assert.notMatch(shown.replaceAll(/\u001b\[(?:[\d;]*m|H|2?J)/g, ""), /[^\P{C}\n\t\p{Cn}\p{Co}]|[\p{Zl}\p{Zp}]/u)
      if (json) assert.deepStrictEqual(JSON.parse(shown), JSON.parse(JSON.stringify({ [text]: [text] })))
    }))
  })
})
