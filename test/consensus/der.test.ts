import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { FastCheck } from "effect"
import { isLowS, isScalar, isStrictDer, normalizeS, parseDerLax } from "../../src/consensus/der.ts"
import { type Bytes, concat, fromHex, toHex } from "../../src/protocol/bytes.ts"
import { derOf, hashes } from "../support/keys.ts"

const ORDER = secp256k1.Point.Fn.ORDER

const bytes = (hex: string): Bytes => fromHex(hex.replaceAll(" ", "")) ?? assert.fail(`no hex: ${hex}`)

const number32 = (value: bigint): string => value.toString(16).padStart(64, "0")

const padded = (hex: string): string => hex.padStart(64, "0")

/** The parsed signature in hexadecimal; `undefined` if it cannot be parsed. */
const readLax = (input: Bytes): string | undefined => {
  // The content of an earlier call must not remain.
  const numbers = new Uint8Array(64).fill(0xee)
  return parseDerLax(input, numbers) ? toHex(numbers) : undefined
}

const numbers = FastCheck.oneof(
  hashes,
  FastCheck.uint8Array({ minLength: 1, maxLength: 31 }).map((short) => {
    const number = new Uint8Array(32)
    number.set(short, 32 - short.length)
    return number
  })
)

const compacts = FastCheck.tuple(numbers, numbers).map(([r, s]) => concat(r, s))

describe("parseDerLax", () => {
  it.each([
    { why: "as DER has it", hex: "30 06 02 01 05 02 01 07", r: "05", s: "07" },
    { why: "a sequence length that is wrong", hex: "30 7f 02 01 05 02 01 07", r: "05", s: "07" },
    { why: "a sequence length in long form", hex: "30 82 0006 02 01 05 02 01 07", r: "05", s: "07" },
    { why: "a sequence length in long form without digits", hex: "30 80 02 01 05 02 01 07", r: "05", s: "07" },
    { why: "integer lengths in long form", hex: "30 08 02 81 01 05 02 82 0001 07", r: "05", s: "07" },
    { why: "a length with more zeros than digits", hex: "30 0c 02 86 000000000001 05 02 01 07", r: "05", s: "07" },
    { why: "a long length without digits: none", hex: "30 05 02 80 02 01 07", r: "", s: "07" },
    { why: "an empty integer", hex: "30 05 02 00 02 01 07", r: "", s: "07" },
    { why: "padding", hex: "30 09 02 04 00000005 02 01 07", r: "05", s: "07" },
    { why: "a negative number, as positive", hex: "30 06 02 01 85 02 01 ff", r: "85", s: "ff" },
    { why: "bytes behind it", hex: "30 06 02 01 05 02 01 07 dead", r: "05", s: "07" },
    {
      why: "33 bytes with a zero before them",
      hex: `30 26 02 21 00${"81".repeat(32)} 02 01 07`,
      r: "81".repeat(32),
      s: "07"
    },
    {
      why: "33 digits: more than any number",
      hex: `30 26 02 21 01${"00".repeat(32)} 02 01 07`,
      r: "ff".repeat(32),
      s: "07"
    },
    { why: "the same of s", hex: `30 26 02 01 05 02 21 01${"00".repeat(32)}`, r: "05", s: "ff".repeat(32) }
  ])("parseDerLax parses $why", ({ hex, r, s }) => {
    assert.strictEqual(readLax(bytes(hex)), padded(r) + padded(s))
  })

  it.each([
    { why: "nothing", hex: "" },
    { why: "another tag", hex: "31 06 02 01 05 02 01 07" },
    { why: "a tag alone", hex: "30" },
    { why: "a long sequence length that is cut off", hex: "30 82 00" },
    { why: "a long sequence length that covers all", hex: "30 86 02 01 05 02 01 07" },
    { why: "no integer for r", hex: "30 06 03 01 05 02 01 07" },
    { why: "no integer for s", hex: "30 06 02 01 05 03 01 07" },
    { why: "an r longer than what is left", hex: "30 06 02 05 05 02 01 07" },
    { why: "an s longer than what is left", hex: "30 06 02 01 05 02 02 07" },
    { why: "a length of four digits", hex: "30 0a 02 84 01000001 05 02 01 07" },
    { why: "a length that is cut off", hex: "30 04 02 01 05 02 82 00" }
  ])("parseDerLax refuses $why", ({ hex }) => assert.isUndefined(readLax(bytes(hex))))

  it.prop("parseDerLax parses strict DER", { compact: compacts }, ({ compact }) => {
    assert.strictEqual(readLax(derOf(compact)), toHex(compact))
  })

  it.prop("parseDerLax refuses a truncated signature", { compact: compacts }, ({ compact }) => {
    const der = derOf(compact)
    for (let size = 0; size < der.length; size++) assert.isUndefined(readLax(der.subarray(0, size)))
  })

  it.prop("parseDerLax parses or refuses any bytes, and never throws", {
    input: FastCheck.uint8Array({ maxLength: 90 })
  }, ({ input }) => {
    readLax(input)
    readLax(concat(Uint8Array.of(0x30), input))
  })
})

describe("isScalar", () => {
  it.each([
    { value: 0n, expected: false },
    { value: 1n, expected: true },
    { value: ORDER - 1n, expected: true },
    { value: ORDER, expected: false },
    { value: ORDER + 1n, expected: false },
    { value: (1n << 256n) - 1n, expected: false }
  ])("isScalar returns $expected for $value", ({ expected, value }) => {
    assert.strictEqual(isScalar(bytes(`ee${number32(value)}ee`), 1), expected)
  })
})

describe("normalizeS", () => {
  const half = ORDER / 2n
  it.each([
    { s: 1n, low: 1n },
    { s: half, low: half },
    { s: half + 1n, low: half },
    { s: ORDER - 1n, low: 1n }
  ])("normalizeS returns $low for $s", ({ low, s }) => {
    const compact = fromHex(number32(5n) + number32(s)) ?? new Uint8Array(0)
    normalizeS(compact)
    assert.strictEqual(toHex(compact), number32(5n) + number32(low))
  })
})

describe("isStrictDer", () => {
  const strict = "30 06 02 01 05 02 01 07 01"

  it.each([
    { why: "the shortest", hex: strict, expected: true },
    { why: "zeros that keep numbers positive", hex: "30 08 02 02 0085 02 02 00ff 01", expected: true },
    { why: "the number zero", hex: "30 06 02 01 00 02 01 00 01", expected: true },
    { why: "the longest", hex: `30 46 02 21 00${"ff".repeat(32)} 02 21 00${"ff".repeat(32)} 01`, expected: true },
    {
      why: "one byte too long",
      hex: `30 47 02 22 00${"ff".repeat(33)} 02 21 00${"ff".repeat(32)} 01`,
      expected: false
    },
    { why: "one byte too short", hex: "30 05 02 00 02 01 07 01", expected: false },
    { why: "another tag", hex: "31 06 02 01 05 02 01 07 01", expected: false },
    { why: "a length too small", hex: "30 05 02 01 05 02 01 07 01", expected: false },
    { why: "a length too large", hex: "30 07 02 01 05 02 01 07 01", expected: false },
    { why: "no integer for r", hex: "30 06 03 01 05 02 01 07 01", expected: false },
    { why: "no integer for s", hex: "30 06 02 01 05 03 01 07 01", expected: false },
    { why: "an r that reaches beyond the end", hex: "30 06 02 04 05 02 01 07 01", expected: false },
    { why: "an s that ends too soon", hex: "30 07 02 01 05 02 01 07 00 01", expected: false },
    { why: "an empty r", hex: "30 06 02 00 02 02 0707 01", expected: false },
    { why: "an empty s", hex: "30 06 02 02 0505 02 00 01", expected: false },
    { why: "a negative r", hex: "30 06 02 01 85 02 01 07 01", expected: false },
    { why: "a negative s", hex: "30 06 02 01 05 02 01 87 01", expected: false },
    { why: "padding before r", hex: "30 07 02 02 0005 02 01 07 01", expected: false },
    { why: "padding before s", hex: "30 07 02 01 05 02 02 0007 01", expected: false },
    { why: "nothing", hex: "", expected: false }
  ])(
    "isStrictDer returns $expected for $why",
    ({ expected, hex }) => assert.strictEqual(isStrictDer(bytes(hex)), expected)
  )

  it.prop("isStrictDer accepts every correctly encoded signature, and none with a byte more or less", {
    compact: compacts,
    hashType: FastCheck.integer({ min: 0, max: 255 })
  }, ({ compact, hashType }) => {
    const der = concat(derOf(compact), Uint8Array.of(hashType))
    assert.isTrue(isStrictDer(der))
    assert.isFalse(isStrictDer(concat(der, Uint8Array.of(0))))
    assert.isFalse(isStrictDer(der.subarray(0, der.length - 1)))
  })
})

describe("isLowS", () => {
  const half = ORDER / 2n
  const withHashType = (r: bigint, s: bigint): Bytes =>
    concat(derOf(bytes(number32(r) + number32(s))), Uint8Array.of(1))

  it.each([
    { why: "half of the order", r: 5n, s: half, expected: true },
    { why: "one more", r: 5n, s: half + 1n, expected: false },
    { why: "the order less one", r: 5n, s: ORDER - 1n, expected: false },
    { why: "the order, which upstream reads as zero", r: 5n, s: ORDER, expected: true },
    { why: "a high s beside an r that is out of range", r: ORDER, s: half + 1n, expected: true }
  ])(
    "isLowS returns $expected for $why",
    ({ expected, r, s }) => assert.strictEqual(isLowS(withHashType(r, s)), expected)
  )
})
