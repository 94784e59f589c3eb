import { sipHashHalves, type SipKey, sipKey } from "../../base/siphash.ts"
import type { Coin } from "../../consensus/view.ts"
import type { Block } from "../../protocol/block.ts"
import { binaryString, type Bytes, concat } from "../../protocol/bytes.ts"
import { hash256 } from "../../protocol/hash.ts"
import { Reader } from "../../protocol/Reader.ts"
import { Op } from "../../protocol/script.ts"
import { Writer } from "../../protocol/Writer.ts"

// Basic block filters (BIP 158): Golomb-coded sets of the scripts that a block spends or pays to. Scripts are hashed
// with the block's hash to numbers, which are sorted; each difference is stored with P bits, the rest in unary. A
// search finds every script of the block, and others once in M.

/** Bits of a difference that are not unary, and the inverse rate of false matches (BIP 158). */
const P = 19
const M = 784_931

const LOW = 2 ** P

const WORD = 2 ** 32

/** The lower part of a factor, whose product with 32 bits stays below 2^53. */
const PART = 2 ** 20

/** A product of 32 bits and a number below 2^53, as the low 32 bits and the rest. */
const product = ({ by, word }: { readonly word: number; readonly by: number }) => {
  const upper = word * Math.floor(by / PART)
  const low = upper % (WORD / PART) * PART + word * (by % PART)
  return { low: low % WORD, high: Math.floor(upper / (WORD / PART)) + Math.floor(low / WORD) }
}

/**
 * `hash * range / 2^64` for a hash in halves and a range below 2^41: a number below the range. With `bigint`, it would
 * take as long as the hash.
 */
export const intoRange = ([low, high]: readonly [number, number], range: number): number => {
  const carried = product({ word: low, by: range }).high
  const upper = product({ word: high, by: range })
  return upper.high + Math.floor((upper.low + carried) / WORD)
}

const keyOf = (blockHash: Bytes): SipKey => sipKey(blockHash)

/** The numbers of scripts, in order. */
const numbersOf = (scripts: ReadonlyArray<Bytes>, blockHash: Bytes, count: number): Float64Array => {
  const key = keyOf(blockHash)
  const range = count * M
  const numbers = new Float64Array(scripts.length)
  for (const [i, script] of scripts.entries()) numbers[i] = intoRange(sipHashHalves(key, script), range)
  return numbers.sort()
}

class BitWriter {
  private readonly bytes: Array<number> = []
  private waiting = 0
  private used = 0

  /** Adds up to 24 bits, the highest first. */
  bits({ count, value }: { readonly value: number; readonly count: number }): void {
    this.waiting = (this.waiting << count) | value
    this.used += count
    while (this.used >= 8) this.bytes.push((this.waiting >>> (this.used -= 8)) & 0xff)
    this.waiting &= (1 << this.used) - 1
  }

  /** The bits, padded with zeros to a byte. */
  finish(): Uint8Array {
    if (this.used > 0) this.bits({ value: 0, count: 8 - this.used })
    return Uint8Array.from(this.bytes)
  }
}

class BitReader {
  private readonly bytes: Bytes
  private at = 0

  constructor(bytes: Bytes) {
    this.bytes = bytes
  }

  /** The next bit; 0 behind the end. */
  bit(): number {
    const byte = this.bytes[this.at >> 3] ?? 0
    return (byte >> (7 - (this.at++ & 7))) & 1
  }

  get isOver(): boolean {
    return this.at > 8 * this.bytes.length
  }
}

/** A filter: the number of its scripts and the coded set. `scripts` must not repeat. */
export const encodeFilter = (scripts: ReadonlyArray<Bytes>, blockHash: Bytes): Uint8Array => {
  const count = scripts.length
  const head = new Writer(9).compactSize(count).toBytes()
  if (count === 0) return head
  const writer = new BitWriter()
  let before = 0
  for (const number of numbersOf(scripts, blockHash, count)) {
    const difference = number - before
    before = number
    for (let i = Math.floor(difference / LOW); i > 0; i--) writer.bits({ value: 1, count: 1 })
    // A zero ends the unary part; P bits follow.
    writer.bits({ value: difference % LOW, count: P + 1 })
  }
  return concat(head, writer.finish())
}

/** Whether a filter has one of the scripts, or matches by chance. Throws `DecodeError` for a malformed filter. */
export const matchesFilter = (filter: Bytes, blockHash: Bytes, scripts: Iterable<Bytes>): boolean => {
  const reader = new Reader(filter)
  const count = reader.compactSize("filter")
  if (count === 0) return false
  const wanted = numbersOf([...scripts], blockHash, count)
  const bits = new BitReader(reader.bytes(reader.remaining, "filter"))
  let number = 0
  let at = 0
  for (let i = 0; i < count && !bits.isOver; i++) {
    let difference = 0
    while (bits.bit() === 1) difference += LOW
    let low = 0
    for (let bit = 0; bit < P; bit++) low = (low << 1) | bits.bit()
    number += difference + low
    while (at < wanted.length && (wanted[at] ?? 0) < number) at++
    if (at === wanted.length) return false
    if (wanted[at] === number) return true
  }
  return false
}

/** The scripts of a basic filter without repetition. Source: upstream `blockfilter.cpp`, `BasicFilterElements`. */
export const filterScripts = (
  { transactions }: Pick<Block, "transactions">,
  spent: ReadonlyArray<ReadonlyArray<Coin>>
): ReadonlyArray<Bytes> => {
  const scripts = new Map<string, Bytes>()
  for (const { outputs } of transactions) {
    for (const { script } of outputs) {
      if (script.length > 0 && script[0] !== Op.OP_RETURN) scripts.set(binaryString(script), script)
    }
  }
  for (const coins of spent) {
    for (const { script } of coins) if (script.length > 0) scripts.set(binaryString(script), script)
  }
  return [...scripts.values()]
}

export const blockFilter = (block: Block, spent: ReadonlyArray<ReadonlyArray<Coin>>): Uint8Array =>
  encodeFilter(filterScripts(block, spent), block.hash)

export const filterHash = (filter: Bytes): Uint8Array => Uint8Array.from(hash256(filter))

/** The filter header, which commits to the filter and all before it (BIP 157). */
export const filterHeader = ({ hash, previous }: { readonly hash: Bytes; readonly previous: Bytes }): Uint8Array =>
  Uint8Array.from(hash256(concat(hash, previous)))
