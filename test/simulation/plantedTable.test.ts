import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { PLANTED } from "./planted.ts"
import { type PlantedRow, withRows } from "./plantedTable.ts"

const order = PLANTED.map(({ name }) => name)
const document = readFileSync(new URL("../../docs/testing.md", import.meta.url), "utf8")

const row = (name: string, found: string | undefined, seeds = 3): PlantedRow => ({ name, past: false, seeds, found })

describe("the table of planted bugs", () => {
  it("keeps the rows of bugs that were not searched for", () => {
    assert.strictEqual(withRows(document, { order, rows: [] }), document)
  })

  it("replaces rows, and has them in the order of the bugs", () => {
    const [first = "", second = ""] = order
    const both = withRows(document, { order, rows: [row(second, "a property"), row(first, undefined)] })
    const again = withRows(both, { order, rows: [row(first, "another property", 12)] })
    assert.include(again, `| ${first} | 12 | another property |\n| ${second} | 3 | a property |`)
    assert.notInclude(again, `| ${first} | 3`)
  })

  it("needs its place", () => {
    assert.throws(() => withRows("nothing", { order, rows: [] }), /no table/)
  })
})
