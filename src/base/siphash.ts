import type { Bytes } from "../protocol/bytes.ts"

/**
 * SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF"), in 32-bit halves. `bigint` is a hundred times
 * slower, and each compact block hashes the whole mempool.
 */

/** 128 bits as four numbers: the low and high halves of k0, then of k1. */
export type SipKey = readonly [number, number, number, number]

const word = (bytes: Bytes, at: number): number =>
  (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)

export const sipKey = (bytes: Bytes): SipKey => [word(bytes, 0), word(bytes, 4), word(bytes, 8), word(bytes, 12)]

export const sipHashHalves = (key: SipKey, data: Bytes): readonly [number, number] => {
  const [k0l, k0h, k1l, k1h] = key
  let v0l = k0l ^ 0x70736575
  let v0h = k0h ^ 0x736f6d65
  let v1l = k1l ^ 0x6e646f6d
  let v1h = k1h ^ 0x646f7261
  let v2l = k0l ^ 0x6e657261
  let v2h = k0h ^ 0x6c796765
  let v3l = k1l ^ 0x79746573
  let v3h = k1h ^ 0x74656462
  const { length } = data
  // All whole words, then the last word with the length in its top byte, then the finalization.
  const last = length >>> 3
  for (let i = 0; i <= last + 1; i++) {
    const final = i > last
    const low = final ? 0 : word(data, 8 * i)
    const high = final ? 0 : i < last ? word(data, 8 * i + 4) : (word(data, 8 * i + 4) & 0xffffff) | (length << 24)
    if (final) v2l ^= 0xff
    v3l ^= low
    v3h ^= high
    for (let round = final ? 4 : 2; round > 0; round--) {
      // v0 += v1; v1 = rotl(v1, 13) ^ v0; v0 = rotl(v0, 32)
      let sum = (v0l >>> 0) + (v1l >>> 0)
      v0h = (v0h + v1h + (sum > 0xffffffff ? 1 : 0)) | 0
      v0l = sum | 0
      let turned = (v1l << 13) | (v1h >>> 19)
      v1h = ((v1h << 13) | (v1l >>> 19)) ^ v0h
      v1l = turned ^ v0l
      turned = v0l
      v0l = v0h
      v0h = turned
      // v2 += v3; v3 = rotl(v3, 16) ^ v2
      sum = (v2l >>> 0) + (v3l >>> 0)
      v2h = (v2h + v3h + (sum > 0xffffffff ? 1 : 0)) | 0
      v2l = sum | 0
      turned = (v3l << 16) | (v3h >>> 16)
      v3h = ((v3h << 16) | (v3l >>> 16)) ^ v2h
      v3l = turned ^ v2l
      // v0 += v3; v3 = rotl(v3, 21) ^ v0
      sum = (v0l >>> 0) + (v3l >>> 0)
      v0h = (v0h + v3h + (sum > 0xffffffff ? 1 : 0)) | 0
      v0l = sum | 0
      turned = (v3l << 21) | (v3h >>> 11)
      v3h = ((v3h << 21) | (v3l >>> 11)) ^ v0h
      v3l = turned ^ v0l
      // v2 += v1; v1 = rotl(v1, 17) ^ v2; v2 = rotl(v2, 32)
      sum = (v2l >>> 0) + (v1l >>> 0)
      v2h = (v2h + v1h + (sum > 0xffffffff ? 1 : 0)) | 0
      v2l = sum | 0
      turned = (v1l << 17) | (v1h >>> 15)
      v1h = ((v1h << 17) | (v1l >>> 15)) ^ v2h
      v1l = turned ^ v2l
      turned = v2l
      v2l = v2h
      v2h = turned
    }
    v0l ^= low
    v0h ^= high
  }
  return [(v0l ^ v1l ^ v2l ^ v3l) >>> 0, (v0h ^ v1h ^ v2h ^ v3h) >>> 0]
}
