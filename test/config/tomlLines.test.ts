import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { parse } from "smol-toml"
import { tomlLines } from "../../src/config/tomlLines.ts"

describe("tomlLines", () => {
  const document = [
    "# comment with = and [brackets]", // 1
    "",
    "first = 1 # \"not a string", // 3
    "  indented\t=\t'a # b'", // 4
    "\"quoted \\\" key\" = 1", // 5
    "'literal.key' = 2", // 6
    "list = [", // 7
    "  \"]\", # ]",
    "  'x = 1',",
    "  [1, 2]",
    "]", // 11
    "text = \"\"\"", // 12
    "fake = 1",
    "[fake]",
    "ends with quotes: \\\"\"\"\"\"", // 15
    "literal = '''", // 16
    "a'b''c",
    "''''", // 18
    "inline = { inner = 1, other = [1] }", // 19
    "a.b.c = 1", // 20
    "a . d = 2", // 21
    "[ table ] # comment", // 22
    "key = 1", // 23
    "[table.'sub table']", // 24
    "key = 2", // 25
    "[[many]]", // 26
    "key = 3" // 27
  ].join("\n")

  it("has a test document that the parser accepts", () => {
    assert.hasAllKeys(parse(document), [
      "first",
      "indented",
      "quoted \" key",
      "literal.key",
      "list",
      "text",
      "literal",
      "inline",
      "a",
      "table",
      "many"
    ])
  })

  it.each([
    { path: ["first"], line: 3 },
    { path: ["indented"], line: 4 },
    { path: ["quoted \" key"], line: 5 },
    { path: ["literal.key"], line: 6 },
    { path: ["list"], line: 7 },
    { path: ["text"], line: 12 },
    { path: ["literal"], line: 16 },
    { path: ["inline"], line: 19 },
    { path: ["inline", "inner"], line: 19 },
    { path: ["a"], line: 20 },
    { path: ["a", "b", "c"], line: 20 },
    { path: ["a", "d"], line: 21 },
    { path: ["table"], line: 22 },
    { path: ["table", "key"], line: 23 },
    { path: ["table", "sub table"], line: 24 },
    { path: ["table", "sub table", "key"], line: 25 },
    { path: ["many"], line: 26 },
    { path: ["many", "key"], line: 27 },
    { path: ["fake"], line: 1 }
  ])("finds $path in line $line", ({ line, path }) => {
    assert.strictEqual(tomlLines(document)(path), line)
    assert.strictEqual(tomlLines(document.replaceAll("\n", "\r\n"))(path), line)
  })

  it.prop("terminates for any text", {
    text: FastCheck.stringOf(FastCheck.constantFrom(..."[]{}'\"\\=#.\n ab1")).map((text) => text.repeat(3))
  }, ({ text }) => {
    const line = tomlLines(text)(["a"])
    assert.isTrue(line >= 1 && line <= text.split("\n").length)
  })

  const noise = FastCheck.constantFrom(
    "# k7 = 1",
    "",
    "x = [ '''\nk1 = 2\n''', # ]\n 2]",
    "y = \"\"\"\\\"\"\" k2 = 3\n\"\"\"",
    "z = { a = \"}\", b = ']' }",
    "w = 1979-05-27T07:32:00Z"
  )

  it.prop("finds keys between values of every kind", {
    before: FastCheck.uniqueArray(noise),
    after: FastCheck.constantFrom("", "v = 1")
  }, ({ after, before }) => {
    const text = [...before, "k = 1", after].join("\n")
    parse(text)
    assert.strictEqual(tomlLines(text)(["k"]), before.join("\n").split("\n").length + (before.length > 0 ? 1 : 0))
  })
})
