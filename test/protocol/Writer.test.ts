import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { concat, toHex } from "../../src/protocol/bytes.ts"
import { compactSizeLength, Writer } from "../../src/protocol/Writer.ts"
import { bytesOf, hex } from "../support/bytes.ts"

describe("Writer", () => {
  it("numbers are written little endian", () => {
    const writer = new Writer().u8(1).u16(0x0302).u32(0x07060504).i32(-4).u64(0x0807060504030201n)
    assert.strictEqual(toHex(writer.toBytes()), "01020304050607fcffffff0102030405060708")
    assert.strictEqual(writer.size, 19)
  })

  it.each([
    [0, "0000000000000000"],
    [-1, "ffffffffffffffff"],
    [21_000_000 * 100_000_000, "0040075af0750700"],
    [Number.MAX_SAFE_INTEGER, "ffffffffffff1f00"],
    [Number.MIN_SAFE_INTEGER, "010000000000e0ff"],
    [-0x100000000, "00000000ffffffff"],
    [-0x100000001, "fffffffffeffffff"]
  ])("i64 of %d is %s", (value, text) => {
    assert.strictEqual(toHex(new Writer().i64(value).toBytes()), text)
  })

  it.each([NaN, Infinity, -Infinity, 0.5])("i64 refuses %d, and writes nothing", (value) => {
    const writer = new Writer()
    assert.throws(() => writer.i64(value), RangeError, "is not an integer")
    assert.strictEqual(writer.size, 0)
  })

  it.each([NaN, Infinity])("CompactSize refuses %d", (value) => {
    assert.throws(() => new Writer().compactSize(value), RangeError, "is not an integer")
  })

  it.each([
    [0, "00"],
    [0xfc, "fc"],
    [0xfd, "fdfd00"],
    [0xffff, "fdffff"],
    [0x10000, "fe00000100"],
    [0xffffffff, "feffffffff"],
    [0x100000000, "ff0000000001000000"]
  ])("CompactSize of %d is %s", (value, text) => {
    assert.strictEqual(toHex(new Writer().compactSize(value).toBytes()), text)
    assert.strictEqual(compactSizeLength(value), text.length / 2)
  })

  it("a writer grows from any capacity, zero included, and keeps its content", () => {
    const parts = FastCheck.array(bytesOf(0, 50), { maxLength: 20 })
    FastCheck.assert(FastCheck.property(FastCheck.integer({ min: 0, max: 64 }), parts, (capacity, parts) => {
      const writer = new Writer(capacity)
      for (const part of parts) writer.bytes(part)
      assert.deepStrictEqual(writer.toBytes(), concat(...parts))
    }))
  })

  it("toBytes returns a copy, written returns a view, clear empties the writer", () => {
    const writer = new Writer(8).bytes(hex("aabb"))
    const copy = writer.toBytes()
    const view = writer.written()
    writer.clear().u8(1)
    assert.strictEqual(toHex(copy), "aabb")
    assert.strictEqual(toHex(view), "01bb")
    assert.strictEqual(toHex(writer.toBytes()), "01")
    assert.strictEqual(writer.size, 1)
  })
})
