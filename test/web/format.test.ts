import { assert, describe, it } from "@effect/vitest"
import { amountText } from "../../src/protocol/amount.ts"
import { ago, dated, day, distance, moment, rate } from "../../src/web/format.ts"

describe("format", () => {
  it("writes numbers with separators", () => {
    assert.strictEqual(amountText(1_000_000), "0.01 NMC")
    assert.strictEqual(amountText(100_000_000), "1 NMC")
    assert.strictEqual(amountText(10_000_000_000), "100 NMC")
    assert.strictEqual(rate(0.25), "0.3 blocks/s")
    assert.strictEqual(rate(1_234.5), "1,235 blocks/s")
  })

  it.each([
    [0, "now"],
    [-4, "now"],
    [-5, "5 sec. ago"],
    [-59, "59 sec. ago"],
    [-60, "1 min. ago"],
    [-3_599, "59 min. ago"],
    [-3_600, "1 hr. ago"],
    [-86_400, "1 day ago"],
    [3 * 86_400, "in 3 days"],
    [-3 * 31_557_600, "3 yr. ago"]
  ])("shows the age of %i seconds as %j", (seconds, text) => {
    assert.strictEqual(distance(seconds), text)
  })

  it("shows times with their dates, also times beyond the calendar", () => {
    assert.strictEqual(moment(1_700_000_000), "2023-11-14 22:13 UTC")
    assert.strictEqual(day(1_700_000_000), "14 Nov 2023")
    assert.strictEqual(
      ago(1_700_000_000, { now: 1_700_000_060 }).text,
      "<time datetime=\"2023-11-14T22:13:20.000Z\" title=\"2023-11-14 22:13 UTC\">1 min. ago</time>"
    )
    // The date is outside of the element whose text the script keeps current.
    assert.strictEqual(
      dated(1_700_000_000, { now: 1_700_000_060 }).text,
      `${ago(1_700_000_000, { now: 1_700_000_060 }).text} <span class="date">2023-11-14 22:13 UTC</span>`
    )
    assert.strictEqual(moment(-1), "1970-01-01 00:00 UTC")
    assert.include(moment(1e20), "275760-09-13")
  })
})
