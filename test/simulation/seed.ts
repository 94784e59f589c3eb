import type { Random } from "../../src/base/random.ts"

/** One number decides a run. Each concern draws from a stream of its own, so that a change in one does not shift the others. */

/** The streams of a run; actors and steps have further ones, by name. */
export type StreamName =
  | "cost"
  | "disk"
  | "entropy"
  | "math"
  | "order"
  | "plan"
  | `act:${string}`
  | `network:${string}`
  | `node:${string}`

const GOLDEN = 0x9e3779b97f4a7c15n

/** splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
const splitmix64 = (seed: bigint): () => bigint => {
  let state = BigInt.asUintN(64, seed)
  return () => {
    state = BigInt.asUintN(64, state + GOLDEN)
    let mixed = state
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n)
    mixed = BigInt.asUintN(64, (mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn)
    return mixed ^ (mixed >> 31n)
  }
}

/** FNV-1a over the name, in 64 bits. */
const hashOf = (name: string): bigint => {
  let hash = 0xcbf29ce484222325n
  for (const letter of name) hash = BigInt.asUintN(64, (hash ^ BigInt(letter.codePointAt(0) ?? 0)) * 0x100000001b3n)
  return hash
}

/** sfc32 (PractRand): 128 bits of state in 32-bit steps, because most numbers are drawn once a task. */
const sfc32 = (words: readonly [number, number, number, number]): Random => {
  let [a, b, c, counter] = words
  return () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum | 0
    return (sum >>> 0) / 0x100000000
  }
}

/** The stream of a seed and a name. The same pair always gives the same numbers. */
export const streamOf = (seed: number, name: StreamName): Random => {
  const next = splitmix64(BigInt(seed) ^ hashOf(name))
  const [first, second] = [next(), next()]
  const word = (value: bigint, shift: bigint): number => Number(BigInt.asIntN(32, value >> shift))
  return sfc32([word(first, 0n), word(first, 32n), word(second, 0n), word(second, 32n)])
}
