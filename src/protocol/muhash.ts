import type { Bytes } from "./bytes.ts"
import { chacha20Stream } from "./chacha20.ts"
import { sha256 } from "./hash.ts"

// MuHash3072, the hash of a set whatever the order of additions and removals. Each member maps to a number below a
// prime; adding a member multiplies, removing it divides. Upstream `crypto/muhash.cpp`.

const BITS = 3072
const NUMBER_BYTES = BITS / 8

/** The modulus is 2^3072 minus this number. */
const PRIME_DISTANCE = 1_103_717n

const MODULUS = (1n << BigInt(BITS)) - PRIME_DISTANCE

const SHIFT = BigInt(BITS)

/** An equal number modulo the prime, reduced to at most 21 bits above 3072. */
const fold = (number: bigint): bigint => BigInt.asUintN(BITS, number) + (number >> SHIFT) * PRIME_DISTANCE

/** Reduces a product to below 2^3072. Results from the modulus on stay. */
const reduce = (product: bigint): bigint => {
  let number = product
  while (number >> SHIFT !== 0n) number = fold(number)
  return number
}

/** Products between two full reductions. One fold costs half as much, but lets the number grow. */
const FOLDED = 8

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

type ToBytes = (number: bigint) => Uint8Array

const digitsToBytes: ToBytes = (number) => {
  const bytes = new Uint8Array(NUMBER_BYTES)
  const digits = number.toString(16).padStart(2 * NUMBER_BYTES, "0")
  for (let i = 0; i < NUMBER_BYTES; i++) {
    bytes[NUMBER_BYTES - 1 - i] = 16 * digitAt(digits, 2 * i) + digitAt(digits, 2 * i + 1)
  }
  return bytes
}

/** The key streams of at most `CHUNK` keys, as numbers. */
type ToNumbers = (keys: ReadonlyArray<Bytes>) => ReadonlyArray<bigint>

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
  readonly serialize: (value: bigint | ReadonlyArray<bigint>) => Uint8Array
  readonly deserialize: (bytes: Uint8Array) => unknown
}

/** Node's v8 module without an import, as this file also loads in a browser. */
const nativeSerializer = (): NativeSerializer | undefined => {
  const host: { readonly process?: { readonly getBuiltinModule?: (id: string) => NativeSerializer | undefined } } =
    globalThis
  return host.process?.getBuiltinModule?.("node:v8")
}

const isNumbers = (value: unknown): value is ReadonlyArray<bigint> =>
  Array.isArray(value) && value.every((each) => typeof each === "bigint")

/** The layout of numbers in a serialized array: where the first begins, and their distance. */
interface Template {
  readonly bytes: Uint8Array
  readonly first: number
  readonly distance: number
}

const ONES = (1n << SHIFT) - 1n

/** Rewrites a serialized array in a fifth of the time of hex digits, if the engine's layout is as expected. */
const byMemory = (native: NativeSerializer): ToNumbers => {
  const lengthOf = (count: number): number => native.serialize(new Array(count).fill(ONES)).length
  const distance = lengthOf(2) - lengthOf(1)
  const templates = new Map<number, Template>()
  const templateOf = (count: number): Template => {
    const known = templates.get(count)
    if (known !== undefined) return known
    const bytes = Uint8Array.from(native.serialize(new Array(count).fill(ONES)))
    const template = { bytes, first: bytes.indexOf(0xff, 1), distance }
    templates.set(count, template)
    return template
  }
  const stream = new Uint8Array(words.buffer)
  return (keys) => {
    const { bytes, first } = templateOf(keys.length)
    for (const [i, key] of keys.entries()) {
      chacha20Stream(key, words)
      bytes.set(stream, first + i * distance)
    }
    const numbers = native.deserialize(bytes)
    return isNumbers(numbers) ? numbers : []
  }
}

/** The end of a serialized number. With one bit above 3072, all have the same length. */
const bytesByMemory = (native: NativeSerializer): ToBytes => {
  const above = 1n << SHIFT
  const { length } = native.serialize(above)
  const begin = length - NUMBER_BYTES - 8
  return (number) => Uint8Array.from(native.serialize(number + above).subarray(begin, begin + NUMBER_BYTES))
}

/** The fast way if it agrees with the slow one on samples. */
const fastest = <A, B>(
  { samples, slow }: { readonly slow: (input: A) => B; readonly samples: ReadonlyArray<A> },
  make: (native: NativeSerializer) => (input: A) => B
): (input: A) => B => {
  const native = nativeSerializer()
  if (native === undefined) return slow
  const shown = (result: B): string => String(result)
  try {
    const fast = make(native)
    return samples.every((sample) => shown(fast(sample)) === shown(slow(sample))) ? fast : slow
  } catch {
    return slow
  }
}

const SAMPLE_KEYS = [0, 1, 2].map((byte) => new Uint8Array(32).fill(byte))

const toNumbers: ToNumbers = fastest<ReadonlyArray<Bytes>, ReadonlyArray<bigint>>(
  { slow: byDigits, samples: [[], SAMPLE_KEYS.slice(1), SAMPLE_KEYS] },
  byMemory
)

const toBytes: ToBytes = fastest<bigint, Uint8Array>(
  { slow: digitsToBytes, samples: [0n, 1n, ONES, ONES / 3n] },
  bytesByMemory
)

export interface SettledSet {
  /** As 384 bytes: see `decodeSetNumber`. */
  readonly number: Uint8Array
  /** 32 bytes in wire order. */
  readonly digest: Uint8Array
}

/** The hashes of many sets with one inversion (P. Montgomery, "Speeding the Pollard and elliptic curve methods"). */
export const settledSets = (sets: ReadonlyArray<MuHash>): ReadonlyArray<SettledSet> => {
  const products = [1n]
  for (const { denominator } of sets) products.push(reduce((products.at(-1) ?? 1n) * denominator))
  let inverted = inverse(products.at(-1) ?? 1n)
  const settled = new Array<SettledSet>(sets.length)
  for (let i = sets.length - 1; i >= 0; i--) {
    const { denominator, numerator } = sets[i] ?? new MuHash()
    const own = reduce(inverted * (products[i] ?? 1n))
    inverted = reduce(inverted * denominator)
    const reduced = reduce(numerator * own)
    const number = toBytes(reduced < MODULUS ? reduced : reduced - MODULUS)
    settled[i] = { number, digest: sha256(number) }
  }
  return settled
}

/** 384 bytes. */
export const encodeSetNumber = (number: bigint): Uint8Array => toBytes(number)

export const decodeSetNumber = (bytes: Bytes): bigint => fromBytes(bytes)

/** A product of members, multiplied many at a time. */
class Product {
  #number: bigint
  #waiting: Array<Bytes> = []

  constructor(number: bigint) {
    this.#number = number
  }

  /** Multiplies by the number of a member: the key stream under the member's SHA-256. */
  multiply(data: Bytes): void {
    this.#waiting.push(sha256(data))
    if (this.#waiting.length === CHUNK) this.#settle()
  }

  #settle(): void {
    let number = this.#number
    for (const [i, each] of toNumbers(this.#waiting).entries()) {
      const product = number * each
      number = (i + 1) % FOLDED === 0 ? reduce(product) : fold(product)
    }
    this.#number = reduce(number)
    this.#waiting = []
  }

  get number(): bigint {
    if (this.#waiting.length > 0) this.#settle()
    return this.#number
  }
}

/** A member added twice must be removed twice. */
export class MuHash {
  readonly #numerator: Product
  readonly #denominator: Product

  /** The empty set, or one with these numbers, both below 2^3072. */
  constructor(
    { denominator = 1n, numerator = 1n }: { readonly numerator?: bigint; readonly denominator?: bigint } = {}
  ) {
    this.#numerator = new Product(numerator)
    this.#denominator = new Product(denominator)
  }

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

  /** The hash, 32 bytes in wire order. The set does not change. */
  digest(): Uint8Array {
    return sha256(toBytes((this.numerator * inverse(this.denominator)) % MODULUS))
  }
}
