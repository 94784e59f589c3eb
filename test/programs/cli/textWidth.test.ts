import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { cutTo, padTo, shownText, widthOf } from "../../../src/programs/cli/textWidth.ts"

describe("widthOf", () => {
  it.each([
    ["", 0],
    ["d/example", 9],
    ["Zoë", 3],
    ["Zoe\u0308", 3],
    ["名前", 4],
    ["ﾅﾏｴ", 3],
    ["가", 2],
    ["😀", 2],
    ["👩‍👩‍👧", 2],
    ["\u0301", 0],
    ["שלום", 4]
  ])("of %j is %d", (text, width) => {
    assert.strictEqual(widthOf(text), width)
  })
})

describe("shownText", () => {
  it("escapes characters that move the cursor, hide text, or change its direction", () => {
    assert.strictEqual(shownText("a\u001b[2Jb"), "a\\u001b[2Jb")
    assert.strictEqual(shownText("a\nb\r\u009b1m\u202e\u200b\u0007"), "a\\u000ab\\u000d\\u009b1m\\u202e\\u200b\\u0007")
  })

  it("limits stacked accents", () => {
    assert.strictEqual(shownText(`a${"\u0301".repeat(50)}b`), "a\u0301\u0301b")
  })

  it.prop(
    "leaves no control or format character in any text",
    { text: FastCheck.fullUnicodeString() },
    ({ text }) => {
      assert.isFalse(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(shownText(text)))
    }
  )
})

describe("cutTo and padTo", () => {
  it.each([
    ["abcdef", 6, "abcdef"],
    ["abcdef", 5, "abcd…"],
    ["名前名前", 8, "名前名前"],
    ["名前名前", 7, "名前名…"],
    ["名前名前", 6, "名前…"],
    ["ab", 1, "…"],
    ["ab", 0, ""]
  ])("cut %j to %d", (text, width, cut) => {
    assert.strictEqual(cutTo(text, width), cut)
  })

  const shown = FastCheck.fullUnicodeString({ maxLength: 30 }).map(shownText)

  it.prop(
    "return exactly the width",
    { text: shown, width: FastCheck.integer({ min: 1, max: 40 }) },
    ({ text, width }) => {
      assert.isAtMost(widthOf(cutTo(text, width)), width)
      for (const align of ["left", "right"] as const) {
        const padded = padTo(cutTo(text, width), width, align)
        assert.isTrue(padded.includes(cutTo(text, width)))
        // A mark at the beginning joins the space before it, and takes no column then.
        if (!/^\p{M}/u.test(text)) assert.strictEqual(widthOf(padded), width)
      }
    }
  )
})
