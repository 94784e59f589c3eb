import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { isFault, type Located, readLocatedJson } from "../../src/values/locatedJson.ts"

const plain = (value: Located): unknown => {
  switch (value.kind) {
    case "object":
      return Object.fromEntries(value.members.map(({ key, value: member }) => [key, plain(member)]))
    case "array":
      return value.items.map(plain)
    case "text":
      return value.text
    case "number":
    case "boolean":
      return value.value
    case "null":
      return null
  }
}

const parsed = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const sameAsParser = (text: string): void => {
  const read = readLocatedJson(text)
  const expected = parsed(text)
  if (isFault(read)) assert.isUndefined(expected, text)
  else assert.deepStrictEqual(plain(read), expected?.value, text)
}

describe("JSON with places", () => {
  it("reads what JSON.parse reads", () => {
    // A key __proto__ would change the object that the test compares.
    const json = FastCheck.json({ noUnicodeString: false }).filter((text) => !text.includes("__proto__"))
    FastCheck.assert(FastCheck.property(json, sameAsParser))
  })

  it("refuses what JSON.parse refuses, after a change of one character", () => {
    const changed = FastCheck.tuple(
      FastCheck.json().filter((text) => !text.includes("__proto__")),
      FastCheck.nat(),
      FastCheck.constantFrom("", "\"", ",", "}", "]", "\\", " ", "\n", "0", "e", ".", "-")
    ).map(([text, at, with_]) => {
      const place = at % Math.max(1, text.length)
      return text.slice(0, place) + with_ + text.slice(place + 1)
    })
    FastCheck.assert(FastCheck.property(changed, sameAsParser), { numRuns: 500 })
  })

  it.each([
    ["", 0, "the text ends where a value should be"],
    ["{'a':1}", 1, "use double quotes for strings, not single quotes"],
    ["{“a”:1}", 1, "use straight double quotes for strings"],
    ["{a:1}", 1, "\"a\" stands where a key in double quotes should be"],
    ["{\"a\":1,}", 6, "there is a comma before }"],
    ["[1,2,]", 4, "there is a comma before ]"],
    ["{\"a\":True}", 5, "True is not a JSON value: put a string in double quotes"],
    ["{\"a\" 1}", 5, "\"1\" stands where a colon after the key should be"],
    ["{\"a\":1 \"b\":2}", 7, "\"\\\"\" stands where a comma or } should be"],
    ["{\"a\":1", 6, "the text ends where a comma or } should be"],
    ["{} // no", 3, "there is more text after the end of the value"],
    ["{\"a\":\"b", 5, "the text that begins here does not end, or has a line break or an unknown escape"],
    ["[/* no */1]", 1, "JSON has no comments"],
    ["[".repeat(300), 201, "there are more than 200 levels"]
  ])("says where %s is wrong", (text, at, message) => {
    assert.deepStrictEqual(readLocatedJson(text), { at, message })
  })

  it("has the path of each part", () => {
    const read = readLocatedJson("{\"map\":{\"www\":{\"ip\":[\"1\",\"2\"]},\"a b\":1}}")
    assert.isFalse(isFault(read))
    const paths: Array<string> = []
    const visit = (value: Located): void => {
      paths.push(value.path)
      if (value.kind === "object") value.members.forEach((member) => visit(member.value))
      if (value.kind === "array") value.items.forEach(visit)
    }
    if (!isFault(read)) visit(read)
    assert.deepStrictEqual(paths, [
      "",
      "map",
      "map.www",
      "map.www.ip",
      "map.www.ip[0]",
      "map.www.ip[1]",
      "map[\"a b\"]"
    ])
  })
})
