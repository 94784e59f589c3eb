import type { Bytes } from "./bytes.ts"
import { sha256 } from "./hash.ts"

/**
 * MuHash3072, the hash of a set: equal sets have equal hashes, in whatever order members were added and removed. Each
 * member maps to a number below a prime. Adding a member multiplies, removing it divides. Upstream `crypto/muhash.cpp`.
 */

const BITS = 3072
const NUMBER_BYTES = BITS / 8

/** The modulus is 2^3072 minus this number. */
const PRIME_DISTANCE = 1_103_717n

const MODULUS = (1n << BigInt(BITS)) - PRIME_DISTANCE

/** Reduces a product of two numbers below 2^3072 to a number below 2^3072. Results from the modulus to 2^3072 stay. */
const reduce = (product: bigint): bigint => {
  let number = product
  while (number >> BigInt(BITS) !== 0n) {
    number = BigInt.asUintN(BITS, number) + (number >> BigInt(BITS)) * PRIME_DISTANCE
  }
  return number
}

/** The modular inverse, by Euclid's algorithm. */
const inverse = (number: bigint): bigint => {
  let [a, b] = [MODULUS, number % MODULUS]
  let [x, y] = [0n, 1n]
  while (b > 1n) {
    const quotient = a / b
    ;[a, b] = [b, a - quotient * b]
    ;[x, y] = [y, x - quotient * y]
  }
  return y < 0n ? y + MODULUS : y
}

const WORDS_PER_BLOCK = 16

/** "expand 32-byte k" (RFC 8439, 2.3). */
const CONSTANTS = Uint32Array.of(0x61707865, 0x3320646e, 0x79622d32, 0x6b206574)

// positional: runs per word of each hash
const rotate = (word: number, by: number): number => (word << by) | (word >>> (32 - by))

// positional: runs 80 times per hash
const quarterRound = (state: Uint32Array, a: number, b: number, c: number, d: number): void => {
  let [wa, wb, wc, wd] = [state[a] ?? 0, state[b] ?? 0, state[c] ?? 0, state[d] ?? 0]
  wa = (wa + wb) | 0
  wd = rotate(wd ^ wa, 16)
  wc = (wc + wd) | 0
  wb = rotate(wb ^ wc, 12)
  wa = (wa + wb) | 0
  wd = rotate(wd ^ wa, 8)
  wc = (wc + wd) | 0
  wb = rotate(wb ^ wc, 7)
  state[a] = wa
  state[b] = wb
  state[c] = wc
  state[d] = wd
}

/**
 * Fills `output` with the ChaCha20 key stream of a 32-byte key, as little-endian words. The nonce and the first block
 * number are zero (RFC 8439, 2.3). `output` is a whole number of blocks.
 */
export const chacha20Stream = (key: Bytes, output: Uint32Array): void => {
  const input = new Uint32Array(WORDS_PER_BLOCK)
  input.set(CONSTANTS)
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength)
  for (let i = 0; i < 8; i++) input[4 + i] = view.getUint32(4 * i, true)
  const state = new Uint32Array(WORDS_PER_BLOCK)
  for (let block = 0; block * WORDS_PER_BLOCK < output.length; block++) {
    input[12] = block
    state.set(input)
    for (let round = 0; round < 20; round += 2) {
      for (let i = 0; i < 4; i++) quarterRound(state, i, 4 + i, 8 + i, 12 + i)
      for (let i = 0; i < 4; i++) quarterRound(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    }
    for (let i = 0; i < WORDS_PER_BLOCK; i++) {
      output[block * WORDS_PER_BLOCK + i] = (state[i] ?? 0) + (input[i] ?? 0)
    }
  }
}

const HEX_CODES = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0))
const ascii = new TextDecoder("latin1")

/** Returns the number of little-endian words. Conversion through hex digits is the fastest. */
const fromWords = (words: Uint32Array): bigint => {
  const digits = new Uint8Array(2 + 8 * words.length)
  digits.set([0x30, 0x78])
  let at = 2
  for (let i = words.length - 1; i >= 0; i--) {
    const word = words[i] ?? 0
    for (let shift = 28; shift >= 0; shift -= 4) digits[at++] = HEX_CODES[(word >>> shift) & 15] ?? 0
  }
  return BigInt(ascii.decode(digits))
}

const toBytes = (number: bigint): Uint8Array => {
  const bytes = new Uint8Array(NUMBER_BYTES)
  const digits = number.toString(16).padStart(2 * NUMBER_BYTES, "0")
  for (let i = 0; i < NUMBER_BYTES; i++) {
    bytes[NUMBER_BYTES - 1 - i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16)
  }
  return bytes
}

/** The number of a member: the key stream whose key is the member's SHA-256. */
const memberNumber = (data: Bytes): bigint => {
  const words = new Uint32Array(NUMBER_BYTES / 4)
  chacha20Stream(sha256(data), words)
  return fromWords(words)
}

/** A set as one number, and its hash. */
export interface SettledSet {
  readonly number: bigint
  /** 32 bytes in wire order. */
  readonly digest: Uint8Array
}

/** The hashes of many sets, with one inversion for all (P. Montgomery, "Speeding the Pollard and elliptic curve methods"). */
export const settledSets = (sets: ReadonlyArray<MuHash>): ReadonlyArray<SettledSet> => {
  const products = [1n]
  for (const { denominator } of sets) products.push(reduce((products.at(-1) ?? 1n) * denominator))
  let inverted = inverse(products.at(-1) ?? 1n)
  const settled = new Array<SettledSet>(sets.length)
  for (let i = sets.length - 1; i >= 0; i--) {
    const { denominator, numerator } = sets[i] ?? new MuHash()
    const own = reduce(inverted * (products[i] ?? 1n))
    inverted = reduce(inverted * denominator)
    const number = reduce(numerator * own) % MODULUS
    settled[i] = { number, digest: sha256(toBytes(number)) }
  }
  return settled
}

/** The number of a set as 384 bytes, and back. */
export const encodeSetNumber = (number: bigint): Uint8Array => toBytes(number)

export const decodeSetNumber = (bytes: Bytes): bigint => {
  let digits = "0x"
  for (let i = bytes.length - 1; i >= 0; i--) digits += (bytes[i] ?? 0).toString(16).padStart(2, "0")
  return BigInt(digits)
}

/** The hash of a set that changes. A member that was added twice has to be removed twice. */
export class MuHash {
  #numerator: bigint
  #denominator: bigint

  /** The empty set, or the set of another instance's numbers, both below 2^3072. */
  constructor(
    { denominator = 1n, numerator = 1n }: { readonly numerator?: bigint; readonly denominator?: bigint } = {}
  ) {
    this.#numerator = numerator
    this.#denominator = denominator
  }

  /** The product of the added members. Together with `denominator`, the whole state of the set. */
  get numerator(): bigint {
    return this.#numerator
  }

  get denominator(): bigint {
    return this.#denominator
  }

  add(data: Bytes): void {
    this.#numerator = reduce(this.#numerator * memberNumber(data))
  }

  /** May come before `add` of the same member. */
  remove(data: Bytes): void {
    this.#denominator = reduce(this.#denominator * memberNumber(data))
  }

  /** Returns the hash, 32 bytes in wire order. The set does not change. */
  digest(): Uint8Array {
    return sha256(toBytes((this.#numerator * inverse(this.#denominator)) % MODULUS))
  }
}
