import { assert, describe, it } from "@effect/vitest"
import { dayText, grouped, quantityOf, shortNumber, sizeText, spanText } from "../../src/base/quantities.ts"

describe("quantities", () => {
  it.each([[0, "0"], [999, "999"], [1000, "1,000"], [1234567, "1,234,567"]])("%d grouped is %s", (value, text) => {
    assert.strictEqual(grouped(value), text)
  })

  it("has a singular and a plural", () => {
    assert.deepStrictEqual([
      quantityOf(1, "peer"),
      quantityOf(0, "peer"),
      quantityOf(2, "name expires", "names expire")
    ], [
      "1 peer",
      "0 peers",
      "2 names expire"
    ])
  })

  it.each([
    [-5, "0 seconds"],
    [59, "59 seconds"],
    [60, "1 minute"],
    [3_661, "1 hour 1 minute"],
    [3_605, "1 hour"],
    [90_000, "1 day 1 hour"],
    [31_557_600 + 2_629_800, "1 year 1 month"]
  ])("%d seconds are %s", (seconds, text) => {
    assert.strictEqual(spanText(seconds), text)
  })

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [12_340_000, "12.3 MB"],
    [300_000_000, "300 MB"],
    [999_499, "999 kB"],
    [999_500, "1.0 MB"],
    [5e15, "5000 TB"]
  ])(
    "%d bytes are %s",
    (bytes, text) => {
      assert.strictEqual(sizeText(bytes), text)
    }
  )

  it.each([[0, "0"], [4096, "4,096"], [1.5, "1.500"], [123456.7, "123,457"], [1.23456e12, "1.23e+12"], [
    4.65e-10,
    "4.65e-10"
  ]])("%d in short is %s", (value, text) => {
    assert.strictEqual(shortNumber(value), text)
  })

  it("has no date for a time beyond the calendar", () => {
    assert.deepStrictEqual([dayText(0), dayText(1_700_000_000), dayText(1e300)], ["1970-01-01", "2023-11-14", ""])
  })
})
