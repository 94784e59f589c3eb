import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { pushData } from "../../src/protocol/script.ts"
import {
  hasValidOperations,
  isCompressedKey,
  isKeySized,
  isMinimalPush,
  minimalNumber,
  pushedNumber
} from "../../src/protocol/scriptOperations.ts"
import { bytesOf, hex } from "../support/bytes.ts"

describe("numbers in scripts", () => {
  it.each<[string, number, number | undefined]>([
    ["", 0, 0],
    ["01", 1, undefined],
    ["11", 17, 17],
    ["7f", 127, 127],
    ["80", 0, undefined],
    ["81", -1, undefined],
    ["ff", -127, -127],
    ["8000", 128, 128],
    ["8080", -128, -128],
    ["0080", 0, undefined],
    ["1100", 17, undefined],
    ["1180", -17, undefined],
    ["ff7f", 32_767, 32_767],
    ["ffffff7f", 2_147_483_647, 2_147_483_647],
    ["ffffffff", -2_147_483_647, -2_147_483_647],
    ["00000080", 0, undefined]
  ])("%s is %i, and %s with minimal encoding", (text, number, minimal) => {
    const data = hex(text)
    assert.strictEqual(pushedNumber(data), number)
    assert.strictEqual(minimalNumber(data.length, data), minimal)
    assert.isFalse(Object.is(pushedNumber(data), -0))
  })

  it.each([[0x50, undefined], [0x51, 1], [0x60, 16], [0x61, undefined], [0x4f, undefined]])(
    "opcode %i has the number %s",
    (opcode, number) => assert.strictEqual(minimalNumber(opcode, hex("")), number)
  )

  it("five bytes are not a number", () => assert.isUndefined(minimalNumber(5, hex("0000000001"))))
})

describe("the shortest push", () => {
  it.each([
    ["", 0x00, 0x4c],
    ["00", 0x01, 0x4c],
    ["11", 0x01, 0x4c],
    ["82", 0x01, 0x4c],
    ["aa".repeat(75), 75, 0x4c],
    ["aa".repeat(76), 0x4c, 0x4d],
    ["aa".repeat(255), 0x4c, 0x4d],
    ["aa".repeat(256), 0x4d, 0x4e],
    ["aa".repeat(65_535), 0x4d, 0x4e]
  ])("the shortest push of %# has its opcode", (text, shortest, longer) => {
    const data = hex(text)
    assert.isTrue(isMinimalPush(shortest, data))
    assert.isFalse(isMinimalPush(longer, data))
  })

  it("more than 65,535 bytes have only one form of push", () => {
    assert.isTrue(isMinimalPush(0x4e, new Uint8Array(65_536)))
  })

  it.each(["01", "10", "81"])(
    "%s has its own opcode",
    (text) => assert.isFalse(isMinimalPush(1, hex(text)))
  )

  it("pushData makes the shortest push, except for numbers", () => {
    FastCheck.assert(FastCheck.property(bytesOf(2, 300), (data) => {
      assert.isTrue(isMinimalPush(pushData(data)[0] ?? 0, data))
    }))
  })
})

describe("scripts with valid operations", () => {
  it.each([
    ["", true],
    ["00", true],
    ["b9", true],
    ["ba", false],
    ["ff", false],
    ["01ff", true],
    ["02ff", false],
    ["4c", false],
    ["50", true],
    [`4d0802${"00".repeat(520)}`, true],
    [`4d0902${"00".repeat(521)}`, false]
  ])("%s has only valid operations: %s", (script, valid) => assert.strictEqual(hasValidOperations(hex(script)), valid))
})

describe("keys by their size", () => {
  it.each([
    ["02", 33, true, true],
    ["03", 33, true, true],
    ["04", 65, true, false],
    ["06", 65, true, false],
    ["07", 65, true, false],
    ["02", 32, false, false],
    ["02", 34, false, false],
    ["02", 65, false, false],
    ["04", 33, false, false],
    ["05", 65, false, false],
    ["05", 33, false, false],
    ["08", 65, false, false],
    ["01", 33, false, false]
  ])("a key with first byte %s and %i bytes: size and compression", (first, size, sized, compressed) => {
    const key = hex(first + "00".repeat(size - 1))
    assert.strictEqual(isKeySized(key), sized)
    assert.strictEqual(isCompressedKey(key), compressed)
  })

  it("empty bytes are not a key", () => assert.isFalse(isKeySized(hex(""))))
})
