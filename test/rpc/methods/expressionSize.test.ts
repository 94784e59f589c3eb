import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { RE2JS } from "re2js"
import { expressionSize } from "../../../src/rpc/methods/expressionSize.ts"

const atom = FastCheck.constantFrom(
  "a",
  "b",
  "ä",
  ".",
  "\\d",
  "\\.",
  "[a-z]",
  "[^]x]",
  "[[:alpha:]_]",
  "\\Qa+b\\E",
  "k",
  "[k-sſ]",
  "[^k]",
  "[À-žΑ-ω]",
  "[\\pL\\d]",
  "\\p{Greek}",
  "\\PL",
  "[[:^upper:]]",
  "[]\\]-]",
  "^",
  "$"
)

const repeat = FastCheck.oneof(
  { weight: 3, arbitrary: FastCheck.constant("") },
  FastCheck.constantFrom("*", "+", "?", "*?", "{0}", "{3}", "{2,}", "{0,4}", "{3,9}", "{x}", "{,3}")
)

/** Expressions of the size that a caller sends, with repeats of repeats. */
const { expression } = FastCheck.letrec<{ readonly expression: string }>((tie) => ({
  expression: FastCheck.oneof(
    { maxDepth: 3 },
    FastCheck.tuple(atom, repeat).map((parts) => parts.join("")),
    FastCheck.array(tie("expression"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("")),
    FastCheck.tuple(tie("expression"), tie("expression"), repeat).map(([one, other, again]) =>
      `(${one}|${other})${again}`
    ),
    FastCheck.tuple(tie("expression"), repeat).map(([inner, again]) => `(?:${inner})${again}`)
  )
}))

const flags = FastCheck.constantFrom("", "(?i)", "(?is)", "(?U)", "(?m-i)")

describe("expressionSize", () => {
  it.prop("is at least the size of the compiled expression", { expression, flags }, ({ expression, flags }) => {
    const text = flags + expression
    let size: number
    try {
      size = RE2JS.compile(text).programSize()
    } catch {
      return
    }
    assert.isAtLeast(expressionSize(text), size, text)
  }, { fastCheck: { numRuns: 1_000 } })

  it("of a class is one step, even where it has the letters of both cases", () => {
    for (const text of ["[a-z]", "[k-sſ]", "[^k]", "[À-žΑ-ω]", "\\pL", "[\\pL\\pN]", "[[:alpha:]]"]) {
      const [size, folded] = [text, `(?i)${text}`].map((each) => RE2JS.compile(each).programSize())
      assert.strictEqual(folded, size, text)
      assert.strictEqual(size, RE2JS.compile("a").programSize(), text)
    }
  })

  it.each([
    ["d/[a-z]+", 8],
    ["^d/(foo|bar)[0-9]{2,4}$", 40],
    ["a{100}", 110]
  ])("of %s is small", (text, most) => assert.isAtMost(expressionSize(text), most))

  it.each(["a{0,1000}".repeat(56), "(x{1,1000}|y{1,1000})".repeat(24), "((((a{1,30}){1,30}){1,30}){1,30}){1,30}"])(
    "of %s is known without compiling it",
    (text) => assert.isAbove(expressionSize(text), 40_000)
  )
})
