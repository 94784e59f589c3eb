import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { OPTIONS } from "../../src/config/options.ts"

const textOf = (path: string): string => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")

/** All options of `namecoind -help -help-debug`, Namecoin Core 31.1. */
const core = textOf("test/fixtures/core-options.txt").trim().split("\n")

/** The rows of the table of options in docs/from-namecoin-core.md. */
const rows = (/## Options\n([\s\S]*?)\n## /.exec(textOf("docs/from-namecoin-core.md"))?.[1] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| `") || line.startsWith("| the"))
  .map((line) => line.split("|").slice(1, 3).map((cell) => cell.trim()))
  .map(([left = "", right = ""]) => ({ left, right }))

/** The options in a cell: in code, with a dash. */
const optionsIn = (cell: string): ReadonlyArray<string> =>
  [...cell.matchAll(/`-([a-z0-9-]+)/g)].map(([, name = ""]) => name)

const known = new Set(
  Object.values(OPTIONS).flatMap(({ key }) => key ?? []).concat(Object.keys(OPTIONS), ["help", "version"])
)

describe("the table of options of Namecoin Core", () => {
  it("has each option once", () => {
    assert.deepStrictEqual(rows.flatMap(({ left }) => optionsIn(left)).sort(), [...core].sort())
  })

  it("names options that svcd has", () => {
    const named = rows.flatMap(({ left, right }) => [
      ...optionsIn(right),
      ...(/^(?:\[?the same)|; the same/.test(right) ? optionsIn(left) : [])
    ])
    assert.isAbove(named.length, 100)
    assert.deepStrictEqual(named.filter((name) => !known.has(name)), [])
  })

  it("does not miss an option of the same name", () => {
    const none = rows.flatMap(({ left, right }) => right.startsWith("none") ? optionsIn(left) : [])
    assert.deepStrictEqual(none.filter((name) => known.has(name)), [])
  })
})
