import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import {
  binaryString,
  compare,
  concat,
  concatAll,
  displayHash,
  EMPTY,
  equal,
  fromBinaryString,
  fromHex,
  isHex,
  parseDisplayHash,
  reversed,
  toHex
} from "../../src/protocol/bytes.ts"
import { bytesOf, hex } from "../support/bytes.ts"

const any = bytesOf(0, 80)

describe("hexadecimal", () => {
  it("hexadecimal is encoded and decoded as in Node.js", () => {
    FastCheck.assert(FastCheck.property(any, (bytes) => {
      const text = toHex(bytes)
      assert.strictEqual(text, Buffer.from(bytes).toString("hex"))
      assert.deepStrictEqual(fromHex(text), bytes)
      assert.deepStrictEqual(fromHex(text.toUpperCase()), bytes)
    }))
  })

  it.each(["0", "0g", "0x00", " 00", "00 ", "00\n", "0 0", "é0", "+1", "1e1"])(
    "%j is not hexadecimal",
    (text) => {
      assert.isUndefined(fromHex(text))
      assert.isFalse(isHex(text))
    }
  )

  it("empty bytes are an empty text", () => {
    assert.deepStrictEqual(fromHex(""), new Uint8Array(0))
    assert.isTrue(isHex(""))
    assert.strictEqual(toHex(EMPTY), "")
  })
})

describe("order", () => {
  it("the order is that of Buffer.compare", () => {
    const near = FastCheck.uint8Array({ maxLength: 4, max: 2 })
    FastCheck.assert(FastCheck.property(near, near, (a, b) => {
      assert.strictEqual(Math.sign(compare(a, b)), Buffer.compare(a, b))
      assert.strictEqual(equal(a, b), Buffer.compare(a, b) === 0)
    }))
  })

  it("bytes are unsigned, and a prefix is first", () => {
    assert.isAbove(compare(hex("80"), hex("7f")), 0)
    assert.isBelow(compare(hex("80"), hex("8000")), 0)
    assert.isFalse(equal(hex("80"), hex("8000")))
    assert.strictEqual(compare(EMPTY, EMPTY), 0)
  })
})

describe("hashes in display order", () => {
  it("hashes are reversed in both directions", () => {
    FastCheck.assert(FastCheck.property(bytesOf(32), (hash) => {
      assert.strictEqual(displayHash(hash), toHex(reversed(hash)))
      assert.deepStrictEqual(parseDisplayHash(displayHash(hash)), hash)
    }))
  })

  it.each(["", "00".repeat(31), "00".repeat(33), `${"00".repeat(31)}0g`])("%j is not a hash", (text) => {
    assert.isUndefined(parseDisplayHash(text))
  })

  it("reversed returns a copy", () => {
    const bytes = hex("0102")
    assert.strictEqual(toHex(reversed(bytes)), "0201")
    assert.strictEqual(toHex(bytes), "0102")
  })
})

describe("binary strings", () => {
  it("binary strings are converted in both directions, even from views and with large bytes", () => {
    FastCheck.assert(FastCheck.property(any, any, (before, bytes) => {
      const view = concat(before, bytes).subarray(before.length)
      const text = binaryString(view)
      assert.strictEqual(text, Buffer.from(bytes).toString("latin1"))
      assert.deepStrictEqual(fromBinaryString(text), bytes)
    }))
    const large = new Uint8Array(300_000).fill(0xe9)
    assert.strictEqual(binaryString(large).length, large.length)
  })
})

it("concat copies its parts", () => {
  const part = hex("01")
  const whole = concat(part, EMPTY, hex("0203"))
  part[0] = 9
  assert.strictEqual(toHex(whole), "010203")
  assert.strictEqual(concat().length, 0)
  assert.strictEqual(concatAll(Array.from({ length: 300_000 }, () => part)).length, 300_000 * part.length)
})
