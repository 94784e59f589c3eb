import { assert, describe, it } from "@effect/vitest"
import { poolChart } from "../../../src/web/activity/activityPage.ts"
import { type Chart, chartsView, isDrawn, type Point } from "../../../src/web/activity/svg.ts"

const pointsOf = (...values: ReadonlyArray<number>): ReadonlyArray<Point> =>
  values.map((value, at) => ({ label: `day ${at}`, value, text: String(value) }))

const chart = (points: ReadonlyArray<Point>, changes: Partial<Chart> = {}): Chart => ({
  key: "blocks",
  title: "Blocks per day",
  headline: { value: "5", note: "daily average" },
  description: "Blocks per day.",
  few: "Not enough days.",
  columns: ["Day", "Blocks"],
  points,
  form: "bars",
  ...changes
})

describe("isDrawn", () => {
  it.each([
    ["no bars", chart([]), false],
    ["one bar", chart(pointsOf(7)), false],
    ["two bars", chart(pointsOf(7, 8)), false],
    ["three bars", chart(pointsOf(7, 7, 7)), true],
    ["a flat line", chart(pointsOf(7, 7, 7), { form: "line" }), false],
    ["a line that changes", chart(pointsOf(7, 7, 8), { form: "line" }), true]
  ])("of %s", (_, given, drawn) => {
    assert.strictEqual(isDrawn(given), drawn)
  })
})

describe("chartsView", () => {
  it("draws what can be seen, and says the rest in one place", () => {
    const { text } = chartsView([
      chart(pointsOf(1), { key: "few" }),
      chart(pointsOf(1, 2, 3)),
      chart([], { key: "none", few: "None." })
    ])
    assert.lengthOf(text.match(/<svg /g) ?? [], 1)
    assert.match(
      text,
      /<div class="charts"><section id="blocks" .*<\/section><\/div><section class="card" aria-label="Without a chart">/s
    )
    assert.include(text, "<dd>Not enough days.</dd>")
    assert.include(text, "<dd>None.</dd>")
  })

  it("marks the bar of the day that still grows", () => {
    const points = pointsOf(1, 2, 3).map((point, at) => ({ ...point, growing: at === 2 }))
    assert.deepStrictEqual(
      [...chartsView([chart(points)]).text.matchAll(/<rect class="(\w*)"/g)].map(([, name]) => name),
      ["", "", "growing"]
    )
  })
})

describe("poolChart", () => {
  const part = (from: number, transactions: number) => ({ from, transactions, vsize: 200 * transactions })

  it("ends at the highest fee rate that is paid", () => {
    const { points } = poolChart([part(0, 0), part(100_000, 2), part(200_000, 0), part(300_000, 1), part(500_000, 0)])
    assert.deepStrictEqual(points.map(({ label }) => label), ["from 0.001", "from 0.002", "from 0.003"])
  })

  it("is a sentence for one fee rate, and for none", () => {
    const one = poolChart([part(0, 0), part(100_000, 2), part(200_000, 0)])
    assert.isFalse(isDrawn(one))
    assert.strictEqual(one.few, "2 transactions of 400 B, at fee rates from 0.001 NMC per kvB.")
    assert.strictEqual(poolChart([part(0, 0)]).few, "The mempool is empty.")
  })
})
