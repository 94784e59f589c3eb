import type { Coin, NameClaim } from "../../consensus/view.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import { Reader } from "../../protocol/Reader.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"
import { Writer } from "../../protocol/Writer.ts"

/**
 * The formats of coins and undo data on disk. A coin is CompactSize(2·height + coinbase), CompactSize(value) and the
 * script to the end. Undo data are two lists: the removed coins, and the touched names, each with a flag and, for a
 * known name, its previous claim.
 */

/** Values reach 2^51, above the limit for lengths. */
const MAX_VALUE = Number.MAX_SAFE_INTEGER

const writeCoin = (writer: Writer, coin: Coin): Writer =>
  writer.compactSize(2 * coin.height + (coin.coinbase ? 1 : 0)).compactSize(coin.value)

const readCoinHead = (reader: Reader): Omit<Coin, "script"> => {
  const code = reader.compactSize("coin height", MAX_VALUE)
  const value = reader.compactSize("coin value", MAX_VALUE)
  return { height: code >>> 1, coinbase: (code & 1) === 1, value }
}

const scratch = new Writer()

export const encodeCoin = (coin: Coin): Uint8Array => writeCoin(scratch.clear(), coin).bytes(coin.script).toBytes()

/** Throws `DecodeError` for invalid bytes. */
export const decodeCoin = (bytes: Bytes): Coin => {
  const reader = new Reader(bytes)
  const head = readCoinHead(reader)
  return { ...head, script: reader.bytes(reader.remaining, "coin script") }
}

/** An encoded coin as a string of one character a byte: one flat object in memory, where a coin with its script is three. */
export const packCoin = (coin: Coin): string => binaryString(encodeCoin(coin))

/** The bytes of an encoded coin, to be stored. */
export const packedBytes = (packed: string): Uint8Array => Buffer.from(packed, "latin1")

/** The number of a CompactSize in a packed coin. */
const numberAt = (packed: string, at: number): number => {
  const first = packed.charCodeAt(at)
  if (first < 0xfd) return first
  let value = 0
  for (let i = at + sizeOf(first) - 1; i > at; i--) value = value * 256 + packed.charCodeAt(i)
  return value
}

export const unpackCoin = (packed: string): Coin => {
  const code = numberAt(packed, 0)
  const head = sizeOf(packed.charCodeAt(0))
  const value = numberAt(packed, head)
  const start = head + sizeOf(packed.charCodeAt(head))
  const script = new Uint8Array(packed.length - start)
  for (let i = 0; i < script.length; i++) script[i] = packed.charCodeAt(start + i)
  return { height: code >>> 1, coinbase: (code & 1) === 1, value, script }
}

/** The bytes of a CompactSize with this first byte. */
const sizeOf = (first = 0): number => first < 0xfd ? 1 : first === 0xfd ? 3 : first === 0xfe ? 5 : 9

/** The offset of the script in an encoded coin. */
export const scriptStart = (coin: Bytes): number => {
  const head = sizeOf(coin[0])
  return head + sizeOf(coin[head])
}

/** The key of a coin in the database: the outpoint with its index big endian, so that the order is (txid, index). */
export const coinKey = (outpoint: string): Buffer => {
  const key = Buffer.from(outpoint, "latin1")
  key.subarray(32).reverse()
  return key
}

export const outpointOfKey = (key: Bytes): string => {
  const outpoint = Buffer.from(key)
  outpoint.subarray(32).reverse()
  return binaryString(outpoint)
}

export interface Undo {
  /** Coins from before the block that it removed, by outpoint key. */
  readonly removed: ReadonlyMap<string, Coin>
  /** Claims from before the block, by name key; `undefined` if the name was new. */
  readonly claimsBefore: ReadonlyMap<NameKey, NameClaim | undefined>
}

export const encodeUndo = ({ claimsBefore, removed }: Undo): Uint8Array => {
  const writer = scratch.clear().compactSize(removed.size)
  for (const [outpoint, coin] of removed) writeCoin(writer.binary(outpoint), coin).varBytes(coin.script)
  writer.compactSize(claimsBefore.size)
  for (const [name, claim] of claimsBefore) {
    writer.compactSize(name.length).binary(name).u8(claim === undefined ? 0 : 1)
    if (claim !== undefined) writer.u32(claim.height).binary(claim.outpoint)
  }
  return writer.toBytes()
}

/** Throws `DecodeError` for invalid bytes. */
export const decodeUndo = (bytes: Bytes): Undo => {
  const reader = new Reader(bytes)
  const removed = new Map<string, Coin>()
  for (let left = reader.count("removed coins", OUTPOINT_SIZE + 3); left > 0; left--) {
    const outpoint = binaryString(reader.bytes(OUTPOINT_SIZE, "outpoint"))
    const head = readCoinHead(reader)
    removed.set(outpoint, { ...head, script: reader.varBytes("coin script").slice() })
  }
  const claimsBefore = new Map<NameKey, NameClaim | undefined>()
  for (let left = reader.count("claims", 2); left > 0; left--) {
    const name = nameKey(reader.varBytes("name"))
    if (reader.u8("had a claim") === 0) claimsBefore.set(name, undefined)
    else {
      const height = reader.u32("claim height")
      claimsBefore.set(name, { height, outpoint: binaryString(reader.bytes(OUTPOINT_SIZE, "outpoint")) })
    }
  }
  reader.end("undo data")
  return { removed, claimsBefore }
}
