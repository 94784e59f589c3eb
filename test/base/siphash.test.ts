import { assert, describe, it } from "@effect/vitest"
import { sipHashHalves, type SipKey, sipKey } from "../../src/base/siphash.ts"
import { bytesOf } from "../support/bytes.ts"

/** 0, 1, 2 … */
const counting = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i)

/**
 * Outputs for the key 00 01 … 0f and the inputs empty, 00, 00 01, … of the authors' reference implementation; that of
 * 15 bytes is the example in appendix A of the paper.
 */
const VECTORS: ReadonlyArray<readonly [number, bigint]> = [
  [0, 0x726fdb47dd0e0e31n],
  [1, 0x74f839c593dc67fdn],
  [2, 0x0d6c8009d9a94f5an],
  [3, 0x85676696d7fb7e2dn],
  [4, 0xcf2794e0277187b7n],
  [5, 0x18765564cd99a68dn],
  [6, 0xcbc9466e58fee3cen],
  [7, 0xab0200f58b01d137n],
  [8, 0x93f5f5799a932462n],
  [9, 0x9e0082df0ba9e4b0n],
  [14, 0xf723ca908e7af2een],
  [15, 0xa129ca6149be45e5n],
  [16, 0x3f2acc7f57c29bdbn],
  [31, 0x32d892fad841c342n],
  [32, 0x7127512f72f27ccen],
  [63, 0x958a324ceb064572n]
]

const MASK = (1n << 64n) - 1n

/** A reference implementation with big integers, as in the paper. */
const byThePaper = (key: Uint8Array, data: Uint8Array): bigint => {
  const word = (bytes: Uint8Array): bigint => bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n)
  const turn = (x: bigint, bits: bigint): bigint => ((x << bits) | (x >> (64n - bits))) & MASK
  const [k0, k1] = [word(key.subarray(0, 8)), word(key.subarray(8))]
  let [v0, v1] = [k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn]
  let [v2, v3] = [k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n]
  const round = (): void => {
    v0 = (v0 + v1) & MASK
    v2 = (v2 + v3) & MASK
    v1 = turn(v1, 13n) ^ v0
    v3 = turn(v3, 16n) ^ v2
    v0 = turn(v0, 32n)
    v2 = (v2 + v1) & MASK
    v0 = (v0 + v3) & MASK
    v1 = turn(v1, 17n) ^ v2
    v3 = turn(v3, 21n) ^ v0
    v2 = turn(v2, 32n)
  }
  const padded = new Uint8Array(8 * (Math.floor(data.length / 8) + 1))
  padded.set(data)
  padded[padded.length - 1] = data.length & 0xff
  for (let at = 0; at < padded.length; at += 8) {
    const m = word(padded.subarray(at, at + 8))
    v3 ^= m
    round()
    round()
    v0 ^= m
  }
  v2 ^= 0xffn
  for (let i = 0; i < 4; i++) round()
  return v0 ^ v1 ^ v2 ^ v3
}

const sipHash = (key: SipKey, data: Uint8Array): bigint => {
  const [low, high] = sipHashHalves(key, data)
  return (BigInt(high) << 32n) | BigInt(low)
}

describe("SipHash-2-4", () => {
  it.each(VECTORS)("SipHash of %d bytes matches the authors' output", (length, expected) => {
    assert.strictEqual(sipHash(sipKey(counting(16)), counting(length)), expected)
    assert.strictEqual(byThePaper(counting(16), counting(length)), expected)
  })

  it.prop(
    "SipHash matches the arithmetic of the paper",
    { key: bytesOf(16), data: bytesOf(0, 300) },
    ({ data, key }) => {
      const expected = byThePaper(key, data)
      assert.strictEqual(sipHash(sipKey(key), data), expected)
      const [low, high] = sipHashHalves(sipKey(key), data)
      assert.strictEqual(BigInt(high) * 0x100000000n + BigInt(low), expected)
    },
    { fastCheck: { numRuns: 300 } }
  )

  it.prop("SipHash reads a view at its offset", { data: bytesOf(40) }, ({ data }) => {
    const key = sipKey(counting(16))
    assert.strictEqual(sipHash(key, data.subarray(5, 37)), sipHash(key, data.slice(5, 37)))
  })
})
