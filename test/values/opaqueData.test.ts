import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { fromHex, toHex } from "../../src/protocol/bytes.ts"
import { locBytes, locText } from "../../src/values/loc.ts"
import { opaqueData } from "../../src/values/opaqueData.ts"

const read = (type: number, hex: string): string | undefined => {
  const data = opaqueData(type, fromHex(hex) ?? new Uint8Array(0))
  return data === undefined ? undefined : toHex(data)
}

describe("opaqueData", () => {
  it.each([
    ["an address", 1, "c0000201"],
    ["a name", 12, "03777777036f726700"],
    ["the root", 12, "00"],
    ["strings", 13, "01410142"],
    ["a label with any bytes", 15, "000a0200ff00"],
    ["NAPTR without an expression", 35, "000100020175000003777777" + "00"],
    ["HTTPS without parameters", 65, "000100"],
    [
      "HTTPS",
      65,
      "000100" + "0001000302" + "6832" + "00020000" + "000300020050" + "00040004c0000201" + `00060010${"00".repeat(16)}`
    ],
    ["CAA", 257, "0005697373756500"],
    ["an unknown type", 65_280, "0102"],
    ["nothing of an unknown type", 65_280, ""]
  ])("keeps %s", (_, type, hex) => assert.strictEqual(read(type, hex), hex))

  it.each([
    ["an address of 3 bytes", 1, "c00002"],
    ["a name without its end", 12, "03777777"],
    ["a name with a pointer", 12, "c000"],
    ["a name of 256 bytes", 12, `${"3f" + "61".repeat(63)}`.repeat(4) + "00"],
    ["bytes after a name", 12, "0000"],
    ["a string that is too short", 13, "0141"],
    ["a string beyond the end", 16, "0541"],
    ["no string", 16, ""],
    ["NAPTR with an expression", 35, "000100020000012100"],
    ["a parameter twice", 65, "000100" + "000300020050" + "000300020051"],
    ["parameters in another order", 65, "000100" + "00040004c0000201" + "000300020050"],
    ["half a parameter", 65, "000100" + "0003"],
    ["an empty protocol", 65, "000100" + "0001000100"],
    ["a parameter without protocols", 65, "000100" + "00020000"],
    ["an unknown parameter", 65, "000100" + "00090000"],
    ["a tag with a hyphen", 257, "00012d"],
    ["an empty tag", 257, "0000"],
    ["a type of questions", 255, ""],
    ["a type that has an item", 43, "00"],
    ["an obsolete type", 3, "00"]
  ])("refuses %s", (_, type, hex) => assert.strictEqual(read(type, hex), undefined))

  it("has names in lower case, and no other bytes", () => {
    assert.strictEqual(read(12, "03574157035a405b00"), "03776177037a405b00")
    assert.strictEqual(read(16, "0141"), "0141")
  })

  it.prop(
    "takes any bytes, and gives as many or none",
    [FastCheck.nat(65_535), FastCheck.uint8Array({ maxLength: 40 })],
    ([type, data]) => {
      const before = toHex(data)
      const own = opaqueData(type, data)
      assert.strictEqual(toHex(data), before)
      if (own !== undefined) {
        assert.strictEqual(own.length, data.length)
        assert.deepStrictEqual(opaqueData(type, own), own)
      }
    }
  )
})

describe("locBytes", () => {
  // RFC 1876, section 4: the examples of its zone file.
  it.each([
    ["42 21 54 N 71 06 18 W -24m 30m", "42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m"],
    ["42 21 43.952 N 71 5 6.344 W -24m 1m 200m", "42 21 43.952 N 71 5 6.344 W -24.00m 1.00m 200.00m 10.00m"],
    ["52 14 05 N 00 08 50 E 10m", "52 14 5.000 N 0 8 50.000 E 10.00m 1.00m 10000.00m 10.00m"],
    ["32 7 19 S 116 2 25 E 10m", "32 7 19.000 S 116 2 25.000 E 10.00m 1.00m 10000.00m 10.00m"]
  ])("reads %s", (text, whole) => {
    const data = locBytes(text)
    assert.strictEqual(data === undefined ? undefined : locText(data), whole)
  })

  it("has the bytes of the record on the wire", () => {
    assert.strictEqual(
      toHex(locBytes("52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m") ?? new Uint8Array(0)),
      "00001613" + "8b3cf018" + "810cbce0" + "009895b8"
    )
  })

  it.each([
    "",
    "52 N",
    "52 60 0 N 4 E 0m",
    "90 0 0.001 N 0 E 0m",
    "0 N 181 E 0m",
    "0 N 0 E -100000.01m",
    "0 N 0 E 0m 90000001m"
  ])(
    "refuses %s",
    (text) => assert.strictEqual(locBytes(text), undefined)
  )
})
