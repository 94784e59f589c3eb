import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { indentedJson } from "../../src/web/valueView.ts"

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth)

describe("indentedJson", () => {
  it("puts members and items on separate lines, and keeps their spelling", () => {
    assert.strictEqual(
      indentedJson("{\"ip\" :[\"192.0.2.1\", 1.50e3],\"a\":{},\"a\":[ ],\"b\":\"\\u003c, {\"}"),
      [
        "{",
        "  \"ip\": [",
        "    \"192.0.2.1\",",
        "    1.50e3",
        "  ],",
        "  \"a\": {},",
        "  \"a\": [],",
        "  \"b\": \"\\u003c, {\"",
        "}"
      ].join("\n")
    )
  })

  it.each(["", "1", "\"text\"", "null", "{", "{} {}", "{'a':1}", "text"])("keeps %j unchanged", (text) => {
    assert.isUndefined(indentedJson(text))
  })

  it("keeps text unchanged that is too deep or too long", () => {
    assert.isDefined(indentedJson(nested(24)))
    assert.isUndefined(indentedJson(nested(25)))
    assert.isDefined(indentedJson(`["${"x".repeat(16_380)}"]`))
    assert.isUndefined(indentedJson(`["${"x".repeat(16_381)}"]`))
  })

  it.prop("keeps the meaning of JSON", [FastCheck.jsonValue({ maxDepth: 4 })], ([value]) => {
    const text = JSON.stringify(value)
    const indented = indentedJson(text)
    if (typeof value !== "object" || value === null) return assert.isUndefined(indented)
    assert.deepStrictEqual(JSON.parse(indented ?? ""), JSON.parse(text))
    if (!text.includes("__proto__")) {
      assert.strictEqual(indented?.replaceAll(/(?<=:) (?=[^ ])/g, " "), JSON.stringify(JSON.parse(text), null, 2))
    }
  })
})
