import { assert, describe, it } from "@effect/vitest"
import { nameHints } from "../../../src/programs/cli/nameHints.ts"

describe("nameHints", () => {
  it.each([
    ["example.bit", "Did you mean d/example?"],
    ["www.example.bit", "Did you mean d/example?"],
    ["Example.BIT", "Did you mean d/example?"],
    ["1.bit", "Did you mean d/1?"],
    ["0x10.bit", "Did you mean d/0x10?"],
    ["１.bit", "Did you mean d/1?"],
    ["zürich.bit", "Did you mean d/xn--zrich-kva?"],
    ["d/zürich", "Did you mean d/xn--zrich-kva?"],
    ["'d/example'", "Did you mean d/example?"],
    ["\"example.bit\"", "Did you mean d/example?"]
  ])("%s: %s", (text, hint) => {
    assert.deepStrictEqual(nameHints(text), [hint])
  })

  it("names the encoding for other text beyond ASCII, and is silent otherwise", () => {
    assert.include(nameHints("id/zoë")[0], "nameEncoding")
    for (const text of ["d/example", "id/alice", "x", undefined]) assert.deepStrictEqual(nameHints(text), [])
  })
})
