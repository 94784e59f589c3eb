import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  compressAmount,
  decompressAmount,
  decompressScript,
  scriptBytesAfter,
  writeCompressedCoin,
  writeVarInt
} from "../../../src/chain/snapshot/compressedCoin.ts"
import { MAX_MONEY } from "../../../src/protocol/amount.ts"
import { toHex } from "../../../src/protocol/bytes.ts"
import { Writer } from "../../../src/protocol/Writer.ts"
import { bytesOf, hex } from "../../support/bytes.ts"

const coin = (script: string) => ({ value: 0, height: 0, coinbase: false, script: hex(script) })

const compressed = (script: string): string => toHex(writeCompressedCoin(new Writer(), coin(script)).toBytes()).slice(4)

/** The generator of the curve, as a key of 65 bytes. */
const KEY = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
  "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"

describe("numbers", () => {
  // Upstream `test/serialize_tests.cpp`, `varints_bitpatterns`.
  it.each([
    [0, "00"],
    [0x7f, "7f"],
    [0x80, "8000"],
    [0x1234, "a334"],
    [0xffff, "82fe7f"],
    [0x123456, "c7e756"],
    [0x80123456, "86ffc7e756"],
    [0xffffffff, "8efefefe7f"],
    [0xffffffffffffffffn, "80fefefefefefefefe7f"]
  ])("%s is written as %s", (value, expected) => {
    assert.strictEqual(toHex(writeVarInt(new Writer(), value).toBytes()), expected)
    assert.strictEqual(toHex(writeVarInt(new Writer(), BigInt(value)).toBytes()), expected)
  })
})

describe("amounts", () => {
  // Upstream `test/compress_tests.cpp`.
  it.each([
    [0, 0],
    [1, 1],
    [1_000_000, 7],
    [100_000_000, 9],
    [50 * 100_000_000, 50],
    [MAX_MONEY, 21_000_000]
  ])("%s is compressed to %s", (amount, expected) => {
    assert.strictEqual(Number(compressAmount(amount)), expected)
  })

  it("every amount returns from its compressed form", () => {
    const amounts = FastCheck.tuple(FastCheck.integer({ min: 0, max: MAX_MONEY }), FastCheck.nat(10))
    FastCheck.assert(FastCheck.property(amounts, ([amount, zeros]) => {
      const rounded = amount - amount % 10 ** zeros
      assert.strictEqual(decompressAmount(compressAmount(rounded)), rounded)
    }))
  })

  it("more than all money is not an amount", () => {
    assert.isUndefined(decompressAmount(compressAmount(MAX_MONEY + 1)))
    assert.isUndefined(decompressAmount(0xffffffffffffffffn))
  })
})

describe("scripts", () => {
  it.each([
    ["pay to public key hash", `76a914${"ab".repeat(20)}88ac`, `00${"ab".repeat(20)}`],
    ["pay to script hash", `a914${"ab".repeat(20)}87`, `01${"ab".repeat(20)}`],
    ["a short key", `2102${"ab".repeat(32)}ac`, `02${"ab".repeat(32)}`],
    ["a long key on the curve", `41${KEY}ac`, `04${KEY.slice(2, 66)}`],
    ["a long key off the curve", `41${KEY.slice(0, -2)}b9ac`, `4941${KEY.slice(0, -2)}b9ac`],
    ["another script", "51", "0751"],
    ["the empty script", "", "06"]
  ])("%s", (_, script, expected) => {
    assert.strictEqual(compressed(script), expected)
    const form = hex(expected)[0] ?? 0
    const size = scriptBytesAfter(form)
    assert.strictEqual(size, expected.length / 2 - 1)
    assert.strictEqual(toHex(decompressScript(form, hex(expected).subarray(1)) ?? assert.fail()), script)
  })

  it("a key that is not on the curve has no script", () => {
    assert.isUndefined(decompressScript(4, hex("00".repeat(31) + "05")))
  })

  it("a script longer than any coin's has no size", () => {
    FastCheck.assert(FastCheck.property(bytesOf(0, 20), (bytes) => {
      assert.strictEqual(scriptBytesAfter(bytes.length + 6), bytes.length)
    }))
    assert.strictEqual(scriptBytesAfter(10_006), 10_000)
    assert.isUndefined(scriptBytesAfter(10_007))
  })
})
