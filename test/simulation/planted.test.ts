import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { changed, PLANTED } from "./planted.ts"
import { FAILURE_KINDS } from "./World.ts"

const SOURCE = fileURLToPath(new URL("../../src/", import.meta.url))
const SIMULATION = fileURLToPath(new URL(".", import.meta.url))

/** Where the simulation fails a run with a kind in words. */
const FAILS = /(?:fail\(\{|failure(?: =|:) \{)\s*what: "([^"]+)"|this\.threw\("([^"]+)"/g

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

  it("know each kind of failure, and no other", () => {
    const files = readdirSync(SIMULATION, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    const kinds = files.flatMap((file) =>
      [...readFileSync(join(SIMULATION, file), "utf8").matchAll(FAILS)].map(([, failed, thrown]) => failed ?? thrown)
    )
    assert.deepStrictEqual([...new Set(kinds)].sort(), Object.keys(FAILURE_KINDS).sort())
  })
})
