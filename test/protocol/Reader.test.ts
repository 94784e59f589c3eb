import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { toHex } from "../../src/protocol/bytes.ts"
import { DecodeError, MAX_SIZE, Reader } from "../../src/protocol/Reader.ts"
import { Writer } from "../../src/protocol/Writer.ts"
import { bytesOf, decodeError, hex } from "../support/bytes.ts"

const reader = (text: string): Reader => new Reader(hex(text))

describe("numbers", () => {
  it("numbers are little endian", () => {
    const all = reader("01 0203 04050607 fcffffff 0102030405060708")
    assert.strictEqual(all.u8("a"), 1)
    assert.strictEqual(all.u16("b"), 0x0302)
    assert.strictEqual(all.u32("c"), 0x07060504)
    assert.strictEqual(all.i32("d"), -4)
    assert.strictEqual(all.u64("e"), 0x0807060504030201n)
    assert.strictEqual(all.remaining, 0)
  })

  it("unsigned numbers are read as unsigned", () => {
    assert.strictEqual(reader("ff").u8("a"), 0xff)
    assert.strictEqual(reader("ffff").u16("a"), 0xffff)
    assert.strictEqual(reader("ffffffff").u32("a"), 0xffffffff)
    assert.strictEqual(reader("ffffffffffffffff").u64("a"), (1n << 64n) - 1n)
  })

  it.each([
    ["0000000000000000", 0],
    ["ffffffffffffffff", -1],
    ["0040075af0750700", 21_000_000 * 100_000_000],
    ["ffffffffffff1f00", Number.MAX_SAFE_INTEGER],
    ["010000000000e0ff", Number.MIN_SAFE_INTEGER],
    ["ffffffff00000000", 0xffffffff],
    ["00000000ffffffff", -0x100000000]
  ])("i64 of %s is %d", (text, value) => {
    assert.strictEqual(reader(text).i64("value"), value)
  })

  it("i64 keeps sign and magnitude beyond the exact range of a double", () => {
    assert.isAbove(reader("ffffffffffffff7f").i64("value"), 9e18)
    assert.isBelow(reader("0000000000000080").i64("value"), -9e18)
  })

  it("a read past the end fails with field, position and reason, and does not move the cursor", () => {
    const cases: ReadonlyArray<readonly [number, (reader: Reader) => unknown]> = [
      [1, (r) => r.u8("f")],
      [2, (r) => r.u16("f")],
      [4, (r) => r.u32("f")],
      [4, (r) => r.i32("f")],
      [8, (r) => r.i64("f")],
      [8, (r) => r.u64("f")],
      [7, (r) => r.bytes(7, "f")],
      [9, (r) => r.skip(9, "f")]
    ]
    for (const [size, read] of cases) {
      const short = new Reader(new Uint8Array(2 + size - 1), 2)
      const error = decodeError(() => read(short))
      assert.strictEqual(error.field, "f")
      assert.strictEqual(error.offset, 2)
      assert.strictEqual(error.reason, `needs ${size} bytes, ${size - 1} are left`)
      assert.strictEqual(error.message, `f at byte 2: needs ${size} bytes, ${size - 1} are left`)
      assert.strictEqual(short.offset, 2)
      const enough = new Reader(new Uint8Array(2 + size), 2)
      read(enough)
      assert.strictEqual(enough.remaining, 0)
    }
  })
})

describe("bytes", () => {
  it("bytes are views", () => {
    const source = hex("00010203")
    const view = new Reader(source, 1).bytes(2, "f")
    source[1] = 0xaa
    assert.strictEqual(toHex(view), "aa02")
  })

  it("bytes of a source that is a view are read at the right offset", () => {
    const inner = new Reader(hex("ffff01020304ff").subarray(2, 6))
    assert.strictEqual(inner.u16("a"), 0x0201)
    assert.strictEqual(toHex(inner.bytes(2, "b")), "0304")
    decodeError(() => inner.u8("c"))
  })

  it("end refuses unread bytes", () => {
    const two = reader("0102")
    two.u8("a")
    assert.strictEqual(decodeError(() => two.end("whole")).reason, "1 unexpected bytes follow")
    two.u8("b")
    two.end("whole")
  })
})

describe("CompactSize", () => {
  it.each([
    ["00", 0],
    ["fc", 252],
    ["fdfd00", 253],
    ["fdffff", 0xffff],
    ["fe00000100", 0x10000],
    ["fe00000002", MAX_SIZE]
  ])("%s is %d", (text, value) => {
    const one = reader(text)
    assert.strictEqual(one.compactSize("n"), value)
    one.end("n")
  })

  it.each(["fd0000", "fdfc00", "fe00000000", "feffff0000", "ff0000000000000000", "ffffffffff00000000"])(
    "%s is not the shortest form",
    (text) => {
      assert.strictEqual(decodeError(() => reader(text).compactSize("n", Infinity)).kind, "not shortest")
    }
  )

  it.each(["fe01000002", "feffffffff", "ff0000000001000000", "ffffffffffffffffff"])("%s is above the limit", (text) => {
    assert.strictEqual(decodeError(() => reader(text).compactSize("n")).kind, "too large")
  })

  it.each(["", "fd", "fd00", "fe000000", "ff00000000000000"])("%s is too short", (text) => {
    assert.instanceOf(decodeError(() => reader(text).compactSize("n")), DecodeError)
  })

  it("a given limit of a CompactSize applies to reader and writer", () => {
    assert.strictEqual(reader("05").compactSize("n", 5), 5)
    decodeError(() => reader("06").compactSize("n", 5))
    assert.strictEqual(reader("fd2c01").compactSize("n", 300), 300)
    decodeError(() => reader("fd2d01").compactSize("n", 300))
    assert.strictEqual(reader("ff0000000001000000").compactSize("n", 2 ** 32), 2 ** 32)
  })

  it("count refuses at once a number that cannot fit", () => {
    assert.strictEqual(reader("02 0000000000000000").count("list", 4), 2)
    assert.include(decodeError(() => reader("03 0000000000000000").count("list", 4)).reason, "do not fit")
    assert.include(decodeError(() => reader("fe00000002").count("list", 1)).reason, "do not fit")
  })

  it("varBytes takes exactly the announced bytes", () => {
    const list = reader("03aabbcc00")
    assert.strictEqual(toHex(list.varBytes("a")), "aabbcc")
    assert.strictEqual(toHex(list.varBytes("b")), "")
    decodeError(() => reader("03aabb").varBytes("a"))
  })
})

it("the reader reads back all values of the writer", () => {
  const written = FastCheck.record({
    u8: FastCheck.integer({ min: 0, max: 0xff }),
    u16: FastCheck.integer({ min: 0, max: 0xffff }),
    u32: FastCheck.integer({ min: 0, max: 0xffffffff }),
    i32: FastCheck.integer(),
    i64: FastCheck.maxSafeInteger(),
    u64: FastCheck.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    size: FastCheck.integer({ min: 0, max: MAX_SIZE }),
    bytes: bytesOf(0, 400)
  })
  FastCheck.assert(FastCheck.property(written, (v) => {
    const bytes = new Writer(1).u8(v.u8).u16(v.u16).u32(v.u32).i32(v.i32).i64(v.i64).u64(v.u64).compactSize(v.size)
      .varBytes(v.bytes).toBytes()
    const r = new Reader(bytes)
    assert.deepStrictEqual({
      u8: r.u8(""),
      u16: r.u16(""),
      u32: r.u32(""),
      i32: r.i32(""),
      i64: r.i64(""),
      u64: r.u64(""),
      size: r.compactSize(""),
      bytes: r.varBytes("").slice()
    }, v)
    r.end("")
  }))
})
