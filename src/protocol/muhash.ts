import type { Bytes } from "./bytes.ts"
import { chacha20Stream } from "./chacha20.ts"
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

const SHIFT = BigInt(BITS)

/** Reduces a product of two numbers below 2^3072 to a number below 2^3072. Results from the modulus to 2^3072 stay. */
const reduce = (product: bigint): bigint => {
  let number = product
  for (let high = number >> SHIFT; high !== 0n; high = number >> SHIFT) {
    number = BigInt.asUintN(BITS, number) + high * PRIME_DISTANCE
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

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** A number of little-endian bytes, through hex digits. */
const fromBytes = (bytes: Bytes): bigint => {
  let digits = "0x"
  for (let i = bytes.length - 1; i >= 0; i--) digits += HEX[bytes[i] ?? 0]
  return BigInt(digits)
}

// positional: runs for each digit
const digitAt = (digits: string, at: number): number => {
  const code = digits.charCodeAt(at)
  return code < 0x3a ? code - 0x30 : code - 0x57
}

/** A number below 2^3072 as little-endian bytes. */
const toBytes = (number: bigint): Uint8Array => {
  const bytes = new Uint8Array(NUMBER_BYTES)
  const digits = number.toString(16).padStart(2 * NUMBER_BYTES, "0")
  for (let i = 0; i < NUMBER_BYTES; i++) {
    bytes[NUMBER_BYTES - 1 - i] = 16 * digitAt(digits, 2 * i) + digitAt(digits, 2 * i + 1)
  }
  return bytes
}

/** The key streams of at most `CHUNK` keys, as numbers. */
type ToNumbers = (keys: ReadonlyArray<Bytes>) => ReadonlyArray<bigint>

/** Numbers that are made at once. */
const CHUNK = 64

const words = new Uint32Array(NUMBER_BYTES / 4)

const byDigits: ToNumbers = (keys) =>
  keys.map((key) => {
    chacha20Stream(key, words)
    const bytes = new Uint8Array(NUMBER_BYTES)
    const view = new DataView(bytes.buffer)
    for (let i = 0; i < words.length; i++) view.setUint32(4 * i, words[i] ?? 0, true)
    return fromBytes(bytes)
  })

interface NativeSerializer {
  readonly serialize: (value: ReadonlyArray<bigint>) => Uint8Array
  readonly deserialize: (bytes: Uint8Array) => unknown
}

/** Node's v8 module, without an import: this file also loads in a browser. */
const nativeSerializer = (): NativeSerializer | undefined => {
  const host: { readonly process?: { readonly getBuiltinModule?: (id: string) => NativeSerializer | undefined } } =
    globalThis
  return host.process?.getBuiltinModule?.("node:v8")
}

const isNumbers = (value: unknown): value is ReadonlyArray<bigint> =>
  Array.isArray(value) && value.every((each) => typeof each === "bigint")

/**
 * Writes the key streams over the numbers of a serialized array and reads the array back: a fifth of the time of hex digits.
 * An engine that serializes in another way, as a sample shows, uses digits.
 */
const byMemory = (native: NativeSerializer): ToNumbers => {
  const ones = (1n << BigInt(BITS)) - 1n
  const array = Uint8Array.from(native.serialize(Array.from({ length: CHUNK }, () => ones)))
  const first = array.indexOf(0xff, 1)
  const distance = native.serialize([ones, ones]).length - native.serialize([ones]).length
  const bytes = new Uint8Array(words.buffer)
  return (keys) => {
    for (const [i, key] of keys.entries()) {
      chacha20Stream(key, words)
      array.set(bytes, first + i * distance)
    }
    const numbers = native.deserialize(array)
    return isNumbers(numbers) ? numbers.slice(0, keys.length) : []
  }
}

const fastest = (): ToNumbers => {
  const native = nativeSerializer()
  if (native === undefined) return byDigits
  const sample = [0, 1, 2].map((byte) => new Uint8Array(32).fill(byte))
  try {
    const fast = byMemory(native)
    const [a, b] = [fast(sample), byDigits(sample)]
    return a.length === b.length && a.every((number, i) => number === b[i]) ? fast : byDigits
  } catch {
    return byDigits
  }
}

const toNumbers = fastest()

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

export const decodeSetNumber = (bytes: Bytes): bigint => fromBytes(bytes)

/** A product of members that are multiplied many at a time. */
class Product {
  #number: bigint
  #waiting: Array<Bytes> = []

  constructor(number: bigint) {
    this.#number = number
  }

  /** Multiplies by the number of a member: the key stream whose key is the member's SHA-256. */
  multiply(data: Bytes): void {
    this.#waiting.push(sha256(data))
    if (this.#waiting.length === CHUNK) this.#settle()
  }

  #settle(): void {
    let number = this.#number
    for (const each of toNumbers(this.#waiting)) number = reduce(number * each)
    this.#number = number
    this.#waiting = []
  }

  get number(): bigint {
    if (this.#waiting.length > 0) this.#settle()
    return this.#number
  }
}

/** The hash of a set that changes. A member that was added twice has to be removed twice. */
export class MuHash {
  readonly #numerator: Product
  readonly #denominator: Product

  /** The empty set, or the set of another instance's numbers, both below 2^3072. */
  constructor(
    { denominator = 1n, numerator = 1n }: { readonly numerator?: bigint; readonly denominator?: bigint } = {}
  ) {
    this.#numerator = new Product(numerator)
    this.#denominator = new Product(denominator)
  }

  /** The product of the added members. Together with `denominator`, the whole state of the set. */
  get numerator(): bigint {
    return this.#numerator.number
  }

  get denominator(): bigint {
    return this.#denominator.number
  }

  add(data: Bytes): void {
    this.#numerator.multiply(data)
  }

  /** May come before `add` of the same member. */
  remove(data: Bytes): void {
    this.#denominator.multiply(data)
  }

  /** Returns the hash, 32 bytes in wire order. The set does not change. */
  digest(): Uint8Array {
    return sha256(toBytes((this.numerator * inverse(this.denominator)) % MODULUS))
  }
}
