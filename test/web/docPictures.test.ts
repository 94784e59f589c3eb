import { assert, it } from "@effect/vitest"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { SHOWN } from "./browser.ts"

/** The pictures of pages that documents show. */

const FOLDER = "docs/pictures"

const MOST_BYTES = { each: 100_000, all: 1_300_000 }

it("documents show each picture that the tests make, no other one, and together they are small", () => {
  const names = readdirSync(FOLDER)
  assert.deepStrictEqual(names.toSorted(), [...SHOWN.keys()].map((name) => `${name}.webp`).toSorted())
  const shown = ["docs/status-page.md", "docs/desk.md"].map((path) => readFileSync(path, "utf8")).join("\n")
  assert.deepStrictEqual(names.filter((name) => !shown.includes(`](pictures/${name})`)), [])
  const sizes = names.map((name) => ({ name, bytes: statSync(join(FOLDER, name)).size }))
  console.log(`pictures: ${sizes.reduce((sum, { bytes }) => sum + bytes, 0)} bytes, at most ${MOST_BYTES.all}`)
  assert.deepStrictEqual(sizes.filter(({ bytes }) => bytes > MOST_BYTES.each), [])
  assert.isBelow(sizes.reduce((sum, { bytes }) => sum + bytes, 0), MOST_BYTES.all)
})
