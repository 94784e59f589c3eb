import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { decodeNumber, encodeNumber, isTrue } from "../../../src/consensus/interpreter/scriptNumber.ts"
import { type Bytes, fromHex, toHex } from "../../../src/protocol/bytes.ts"

const bytes = (hex: string): Bytes => fromHex(hex) ?? assert.fail(`no hex: ${hex}`)

describe("encodeNumber", () => {
  it.each([
    { value: 0, hex: "" },
    { value: 1, hex: "01" },
    { value: -1, hex: "81" },
    { value: 127, hex: "7f" },
    { value: 128, hex: "8000" },
    { value: -127, hex: "ff" },
    { value: -128, hex: "8080" },
    { value: 255, hex: "ff00" },
    { value: 256, hex: "0001" },
    { value: 0x7fffffff, hex: "ffffff7f" },
    { value: -0x7fffffff, hex: "ffffffff" },
    { value: 0x80000000, hex: "0000008000" },
    { value: 2 ** 32 - 2, hex: "feffffff00" }
  ])("encodeNumber returns $hex for $value", ({ hex, value }) => {
    assert.strictEqual(toHex(encodeNumber(value)), hex)
    assert.strictEqual(decodeNumber(bytes(hex), true, 5), value)
  })

  it("encodeNumber encodes a negative zero as zero", () => assert.strictEqual(encodeNumber(-0).length, 0))

  it.prop("an encoded number is decoded again, and is in its shortest form", {
    value: FastCheck.integer({ min: -0x7fffffff, max: 0x7fffffff })
  }, ({ value }) => {
    const element = encodeNumber(value)
    assert.strictEqual(decodeNumber(element, true), value)
    if (element.length > 0) assert.notStrictEqual(decodeNumber(element.subarray(0, element.length - 1), false), value)
  })
})

describe("decodeNumber", () => {
  it.each([
    { hex: "00", value: 0 },
    { hex: "80", value: -0 },
    { hex: "0000", value: 0 },
    { hex: "0100", value: 1 },
    { hex: "0180", value: -1 },
    { hex: "7f00", value: 127 },
    { hex: "ff0000", value: 255 },
    { hex: "ff0080", value: -255 },
    { hex: "00000080", value: -0 }
  ])("decodeNumber decodes $hex, unless it has to be minimal", ({ hex, value }) => {
    assert.isTrue(decodeNumber(bytes(hex), false) === value)
    assert.isUndefined(decodeNumber(bytes(hex), true))
  })

  it("the last byte is needed if the byte before it has its highest bit set", () => {
    assert.strictEqual(decodeNumber(bytes("ff00"), true), 255)
    assert.strictEqual(decodeNumber(bytes("ff80"), true), -255)
  })

  it("decodeNumber accepts four bytes, or the given maximum, and no more", () => {
    assert.strictEqual(decodeNumber(bytes("ffffff7f"), true), 0x7fffffff)
    assert.isUndefined(decodeNumber(bytes("0000008000"), true))
    assert.strictEqual(decodeNumber(bytes("ffffffff7f"), true, 5), 2 ** 39 - 1)
    assert.isUndefined(decodeNumber(bytes("000000000001"), false, 5))
  })
})

describe("isTrue", () => {
  it.each([
    { hex: "", expected: false },
    { hex: "00", expected: false },
    { hex: "80", expected: false },
    { hex: "0000", expected: false },
    { hex: "0080", expected: false },
    { hex: "01", expected: true },
    { hex: "81", expected: true },
    { hex: "8000", expected: true },
    { hex: "0001", expected: true },
    { hex: "8080", expected: true }
  ])("isTrue returns $expected for $hex", ({ expected, hex }) => assert.strictEqual(isTrue(bytes(hex)), expected))
})
