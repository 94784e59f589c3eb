import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { screenOf } from "../../../src/programs/cli/outcome.ts"
import { labelled, table } from "../../../src/programs/cli/table.ts"
import { widthOf } from "../../../src/programs/cli/textWidth.ts"

const PIPE = { terminal: false, columns: undefined, colours: false }
const screen = (columns: number) => ({ terminal: true, columns, colours: false })

const COLUMNS = [{ title: "NAME", atLeast: 6 }, { title: "IN", align: "right" as const }, {
  title: "VALUE",
  atLeast: 4
}]

describe("table", () => {
  it("aligns columns, even with wide characters", () => {
    const rows = [["d/a", "5", "x"], ["d/名前", "36000", "{}"]].map((row) => row.map((text) => ({ text })))
    assert.deepStrictEqual(table(COLUMNS, rows, PIPE), [
      "NAME       IN  VALUE",
      "d/a         5  x",
      "d/名前  36000  {}"
    ])
  })

  it("aligns rows above a name that is wider in its escaped form", () => {
    const rows = [["d/a", "5", "x"], ["x/\u202ea\u2066", "36000", "{}"]].map((row) => row.map((text) => ({ text })))
    assert.deepStrictEqual(table(COLUMNS, rows, PIPE), [
      "NAME                IN  VALUE",
      "d/a                  5  x",
      "x/\\u202ea\\u2066  36000  {}"
    ])
  })

  it("cuts the longest column at the width of the terminal, and nothing in a pipe", () => {
    const rows = [[{ text: "d/example" }, { text: "5" }, { text: "v".repeat(60) }]]
    assert.deepStrictEqual(table(COLUMNS, rows, screen(30)), [
      "NAME       IN  VALUE",
      `d/example   5  ${"v".repeat(14)}…`
    ])
    assert.include(table(COLUMNS, rows, PIPE)[1], "v".repeat(60))
  })

  it("pads no line of a pipe for one long cell", () => {
    const long = `d/${"x".repeat(200)}`
    const lines = table(
      [{ title: "NAME" }, { title: "VALUE" }],
      [[{ text: "d/a" }, { text: "{}" }], [{ text: long }, { text: "{}" }]],
      { terminal: false, columns: undefined, colours: false }
    )
    assert.deepStrictEqual(lines.map((line) => line.length), [66 + "VALUE".length, 66 + 2, long.length + 4])
  })

  it("leaves a recognisable part of a cell on any terminal", () => {
    const rows = [[{ text: "d/example" }, { text: "36000" }, { text: "value" }]]
    assert.deepStrictEqual(table(COLUMNS, rows, screen(1)), ["NAME       IN  VAL…", "d/exa…  36000  val…"])
  })

  it("has colours if the screen has them, and they take no width", () => {
    const rows = [[{ text: "a", colour: "red" as const }, { text: "b" }]]
    const coloured = table([{ title: "X" }, { title: "Y" }], rows, { terminal: true, columns: 80, colours: true })
    assert.deepStrictEqual(coloured, ["\u001b[1mX\u001b[0m  \u001b[1mY\u001b[0m", "\u001b[31ma\u001b[0m  b"])
  })

  it.prop("stays within the terminal and its lines for any content", {
    rows: FastCheck.array(
      FastCheck.tuple(FastCheck.fullUnicodeString(), FastCheck.nat().map(String), FastCheck.fullUnicodeString())
    ),
    columns: FastCheck.integer({ min: 30, max: 120 })
  }, ({ columns, rows }) => {
    const lines = table(COLUMNS, rows.map((row) => row.map((text) => ({ text }))), screen(columns))
    assert.lengthOf(lines, rows.length + 1)
    for (const line of lines) {
      assert.isFalse(/[\p{Cc}\p{Cf}]/u.test(line))
      assert.isAtMost(widthOf(line), columns)
    }
  })
})

describe("labelled", () => {
  it("cuts values to the terminal and escapes them", () => {
    assert.deepStrictEqual(labelled([["A", "1\u001b"], ["Long", "x".repeat(40)]], screen(20)), [
      "A     1\\u001b",
      `Long  ${"x".repeat(13)}…`
    ])
  })
})

describe("screenOf", () => {
  it("distinguishes terminals from files, and has colours without NO_COLOR", () => {
    assert.deepStrictEqual(screenOf({ isTTY: true, columns: 99 }, {}), { terminal: true, columns: 99, colours: true })
    assert.isFalse(screenOf({ isTTY: true, columns: 99 }, { NO_COLOR: "1" }).colours)
    assert.isTrue(screenOf({ isTTY: true, columns: 99 }, { NO_COLOR: "" }).colours)
    assert.isFalse(screenOf({ isTTY: true, columns: 99 }, { TERM: "dumb" }).colours)
    assert.isUndefined(screenOf({ isTTY: true, columns: 0 }, {}).columns)
    assert.deepStrictEqual(screenOf({ columns: 99 }, {}), PIPE)
  })
})
