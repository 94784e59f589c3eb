import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { escapeUnsafe, quoted } from "../../src/base/safeText.ts"

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
