import { toHex } from "../protocol/bytes.ts"
import type { Random } from "./random.ts"

/** Where chance comes from: fills the bytes at random. Only `useVirtual` replaces it. */
export type Entropy = (bytes: Uint8Array<ArrayBuffer>) => void

let fill: Entropy = (bytes) => void crypto.getRandomValues(bytes)

export const replaceEntropy = (other: Entropy): Entropy => {
  const replaced = fill
  fill = other
  return replaced
}

/** Random bytes of the system for keys, salts, nonces and ids: at most 65,536. */
export const randomBytes = (count: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(count)
  fill(bytes)
  return bytes
}

/** The same in twice as many hexadecimal digits. */
export const randomHex = (count: number): string => toHex(randomBytes(count))

/** Whole numbers from 0 up to 2^32 - 1. */
export const randomWords = (count: number): Uint32Array => new Uint32Array(randomBytes(4 * count).buffer)

/** Words drawn from the system at once: single calls would be ten times slower. */
const POOL_WORDS = 512

/** Unpredictable for peers, which influence the content of the address book. */
export const secureRandom = (): Random => {
  const pool = new Uint32Array(POOL_WORDS)
  const bytes = new Uint8Array(pool.buffer)
  let at = POOL_WORDS
  return () => {
    if (at >= POOL_WORDS) {
      fill(bytes)
      at = 0
    }
    const high = (pool[at++] ?? 0) >>> 5
    const low = (pool[at++] ?? 0) >>> 6
    return (high * 0x4000000 + low) / 0x20000000000000
  }
}
