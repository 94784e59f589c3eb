import type { Bytes } from "../protocol/bytes.ts"

/** positional: runs for each four bytes of hashed data */
const rotated = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))

const C1 = 0xcc9e2d51
const C2 = 0x1b873593

const mixed = (word: number): number => Math.imul(rotated(Math.imul(word, C1), 15), C2)

/** 32-bit MurmurHash3 (public domain, Austin Appleby), the hash of BIP 37. `seed` is taken modulo 2^32. */
export const murmur3 = (seed: number, data: Bytes): number => {
  const { length } = data
  let hash = seed | 0
  let at = 0
  for (; at + 4 <= length; at += 4) {
    const word = (data[at] ?? 0) | ((data[at + 1] ?? 0) << 8) | ((data[at + 2] ?? 0) << 16) |
      ((data[at + 3] ?? 0) << 24)
    hash = (Math.imul(rotated(hash ^ mixed(word), 13), 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let i = length - 1; i >= at; i--) tail = (tail << 8) | (data[i] ?? 0)
  if (at < length) hash ^= mixed(tail)
  hash ^= length
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
