import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { changed, PLANTED } from "./planted.ts"

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url))

describe("planted bugs", () => {
  it("has twenty-five or more, five of which were fixed before, and each name once", () => {
    assert.isAtLeast(PLANTED.filter(({ past }) => past !== true).length, 20)
    assert.isAtLeast(PLANTED.filter(({ past }) => past === true).length, 5)
    assert.strictEqual(new Set(PLANTED.map(({ name }) => name)).size, PLANTED.length)
  })

  it.each(PLANTED.map((each) => [each.name, each] as const))("%s applies to the sources of today", (_, { edits }) => {
    const files = new Map<string, string>()
    for (const edit of edits) {
      const before = files.get(edit.file) ?? readFileSync(SOURCE + edit.file, "utf8")
      const after = changed(before, edit)
      assert.notStrictEqual(after, before)
      files.set(edit.file, after)
    }
  })

  it("refuses a text that is not there, or there twice", () => {
    const edit = { file: "a.ts", find: "one", put: "two" }
    assert.throws(() => changed("three", edit), /src\/a\.ts does not have the text to replace: one/)
    assert.throws(() => changed("one one", edit), /src\/a\.ts has the text to replace twice: one/)
  })
})
