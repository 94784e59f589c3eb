import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { Amount, encodeJson, encodeString, formatNumber, RawJson } from "../../../src/rpc/json/encodeJson.ts"
import { JsonNumber } from "../../../src/rpc/json/json.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"

describe("Amount", () => {
  it.each([[0, "0.00000000"], [-1_024_800, "-0.01024800"], [2_100_000_000_000_000, "21000000.00000000"]])(
    "is printed with eight decimals: %d as %s",
    (units, text) => {
      assert.strictEqual(encodeJson(new Amount(units)), text)
    }
  )
})

describe("formatNumber", () => {
  it.each([
    [0, "0"],
    [-0, "0"],
    [1, "1"],
    [-7, "-7"],
    [4294967295, "4294967295"],
    [9007199254740991, "9007199254740991"],
    [0.5, "0.5"],
    [0.1, "0.1"],
    [0.000797, "0.000797"],
    [0.0001, "0.0001"],
    [0.00001, "1e-05"],
    [1e-8, "1e-08"],
    [4.656542373906925e-10, "4.656542373906925e-10"],
    [0.9999999999999999, "0.9999999999999999"],
    [1234567890123456.5, "1234567890123456"],
    [1234567890123457.5, "1234567890123458"],
    [1234567890123460.5, "1234567890123460"],
    [123456789012345.25, "123456789012345.2"],
    [123456789012345.75, "123456789012345.8"],
    [-123456789012344.25, "-123456789012344.2"],
    [123456789012345.28, "123456789012345.3"],
    [100000000000000.5, "100000000000000.5"],
    [2.5e-5, "2.5e-05"],
    [100.25, "100.25"],
    [10.5, "10.5"],
    [1e16, "1e+16"],
    [123456789012345680000, "1.234567890123457e+20"],
    [1.5e300, "1.5e+300"],
    [-1e-7, "-1e-07"],
    [5e-324, "4.940656458412465e-324"]
  ])("prints %d as %s, as printf(\"%%.16g\") would", (value, text) => {
    assert.strictEqual(formatNumber(value), text)
  })

  it.prop("prints JSON numbers that are off by less than half a unit of the sixteenth digit", {
    value: FastCheck.double({ noNaN: true, min: -1e300, max: 1e300 })
  }, ({ value }) => {
    const text = formatNumber(value)
    assert.instanceOf(parseJson(text), JsonNumber)
    assert.isAtMost(Math.abs(Number(text) - value), Math.abs(value) * 1e-15)
  })

  it("refuses NaN and infinities", () => {
    for (const value of [Number.NaN, Infinity, -Infinity]) assert.throws(() => encodeJson([value]), RangeError)
  })
})

describe("encodeString", () => {
  it.each([
    ["d/example", "\"d/example\""],
    ["äöü € 😀", "\"äöü € 😀\""],
    ["a\"b\\c", "\"a\\\"b\\\\c\""],
    ["\b\t\n\f\r\u0000\u000b\u001f\u007f", "\"\\b\\t\\n\\f\\r\\u0000\\u000b\\u001f\\u007f\""],
    ["\u0080\u2028", "\"\u0080\u2028\""]
  ])("writes %j as the reference node does", (value, text) => {
    assert.strictEqual(encodeString(value), text)
  })

  it.prop("writes what JSON.parse reads back", { value: FastCheck.string({ unit: "binary" }) }, ({ value }) => {
    assert.strictEqual(JSON.parse(encodeString(value)), value)
  })
})

describe("encodeJson", () => {
  it.prop("writes the same text as JSON.stringify, except numbers", {
    value: FastCheck.jsonValue({ noUnicodeString: false }).filter((value) =>
      !/\d\.|e[-+]|\u007f/.test(JSON.stringify(value))
    )
  }, ({ value }) => {
    // The library's type of JSON values does not distinguish ours from others.
    const text = JSON.stringify(value)
    const read = parseJson(text)
    assert.strictEqual(encodeJson(read ?? null), text)
  })

  it("writes every kind of value", () => {
    const value = {
      nothing: null,
      left: undefined,
      yes: true,
      count: 3,
      large: 2n ** 64n,
      amount: new Amount(-150_000_000),
      raw: new RawJson("[1,  2]"),
      number: new JsonNumber("1e3"),
      list: [1, "x", [], {}],
      map: new Map([["10", 1], ["2", 2], ["__proto__", 3]])
    }
    assert.strictEqual(
      encodeJson(value),
      "{\"nothing\":null,\"yes\":true,\"count\":3,\"large\":18446744073709551616,\"amount\":-1.50000000," +
        "\"raw\":[1,  2],\"number\":1e3,\"list\":[1,\"x\",[],{}],\"map\":{\"10\":1,\"2\":2,\"__proto__\":3}}"
    )
  })

  it("writes empty containers, and objects whose members are all undefined", () => {
    assert.strictEqual(encodeJson([[], {}, { a: undefined }, new Map()]), "[[],{},{},{}]")
  })

  it("keeps repeated members and their order", () => {
    const text = "{\"b\":1,\"a\":2,\"b\":3,\"1\":4}"
    assert.strictEqual(encodeJson(parseJson(text) ?? null), text)
  })

  it("writes large results: 4 MB of hex, and 100,000 objects", () => {
    const hex = "ab".repeat(2_000_000)
    assert.strictEqual(encodeJson(hex).length, hex.length + 2)
    const names = Array.from({ length: 100_000 }, (_, height) => ({ name: `d/${height}`, height, expired: false }))
    assert.strictEqual(encodeJson(names), JSON.stringify(names))
  })
})
