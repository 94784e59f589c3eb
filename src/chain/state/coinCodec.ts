import type { BlockUndo } from "../../consensus/connectBlock.ts"
import type { Coin, NameClaim } from "../../consensus/view.ts"
import { binaryString, type Bytes } from "../../protocol/bytes.ts"
import { type NameKey, nameKey } from "../../protocol/keys.ts"
import { Reader } from "../../protocol/Reader.ts"
import { OUTPOINT_SIZE } from "../../protocol/transaction.ts"
import { Writer } from "../../protocol/Writer.ts"

// The formats of coins and undo data on disk. A coin is CompactSize(2·height + coinbase), CompactSize(value) and the
// script to the end. Undo data are two lists: removed coins, and touched names with a flag and, if known, the previous
// claim.

/** Values reach 2^51, above the limit for lengths. */
const MAX_VALUE = Number.MAX_SAFE_INTEGER

const TXID_SIZE = 32

const writeCoin = (writer: Writer, coin: Coin): Writer =>
  writer.compactSize(2 * coin.height + (coin.coinbase ? 1 : 0)).compactSize(coin.value)

const readCoinHead = (reader: Reader): Omit<Coin, "script"> => {
  const code = reader.compactSize("coin height", MAX_VALUE)
  const value = reader.compactSize("coin value", MAX_VALUE)
  return { height: code >>> 1, coinbase: (code & 1) === 1, value }
}

const scratch = new Writer()

/** A writer with the bytes of a coin before its script, until the next encoding. */
export const coinHead = (coin: Coin): Writer => writeCoin(scratch.clear(), coin)

export const encodeCoin = (coin: Coin): Uint8Array => coinHead(coin).bytes(coin.script).toBytes()

/** Throws `DecodeError` for invalid bytes. */
export const decodeCoin = (bytes: Bytes): Coin => {
  const reader = new Reader(bytes)
  const head = readCoinHead(reader)
  return { ...head, script: reader.bytes(reader.remaining, "coin script") }
}

const sizeOf = (first = 0): number => first < 0xfd ? 1 : first === 0xfd ? 3 : first === 0xfe ? 5 : 9

const numberAt = (bytes: Bytes, at: number): number => {
  const first = bytes[at] ?? 0
  if (first < 0xfd) return first
  let value = 0
  for (let i = at + sizeOf(first) - 1; i > at; i--) value = value * 256 + (bytes[i] ?? 0)
  return value
}

/** The coin encoded within other bytes, with a copied script. positional: called for each spent coin */
export const readCoin = (bytes: Bytes, from: number, to: number): Coin => {
  const code = numberAt(bytes, from)
  const head = from + sizeOf(bytes[from])
  // `slice` of a `Buffer` is a view.
  const script = Uint8Array.prototype.slice.call(bytes, head + sizeOf(bytes[head]), to)
  return { height: code >>> 1, coinbase: (code & 1) === 1, value: numberAt(bytes, head), script }
}

export const scriptStart = (coin: Bytes): number => {
  const head = sizeOf(coin[0])
  return head + sizeOf(coin[head])
}

/** Writes the database key of a coin: the outpoint with its index big endian, for (txid, index) order. */
export const keyInto = (outpoint: string, key: Uint8Array): void => {
  for (let i = 0; i < TXID_SIZE; i++) key[i] = outpoint.charCodeAt(i)
  for (let i = TXID_SIZE; i < OUTPOINT_SIZE; i++) key[i] = outpoint.charCodeAt(OUTPOINT_SIZE + TXID_SIZE - 1 - i)
}

export const coinKey = (outpoint: string): Buffer => {
  const key = Buffer.alloc(OUTPOINT_SIZE)
  keyInto(outpoint, key)
  return key
}

export const outpointOfKey = (key: Bytes): string => {
  const outpoint = Buffer.from(key)
  outpoint.subarray(TXID_SIZE).reverse()
  return binaryString(outpoint)
}

/** The bytes of undo data: a view, valid until the next encoding. */
export const encodedUndo = ({ claimsBefore, removed }: BlockUndo): Bytes => {
  const writer = scratch.clear().compactSize(removed.size)
  removed.forEach((coin, outpoint) => writeCoin(writer.binary(outpoint), coin).varBytes(coin.script))
  writer.compactSize(claimsBefore.size)
  for (const [name, claim] of claimsBefore) {
    writer.compactSize(name.length).binary(name).u8(claim === undefined ? 0 : 1)
    if (claim !== undefined) writer.u32(claim.height).binary(claim.outpoint)
  }
  return writer.written()
}

export const encodeUndo = (undo: BlockUndo): Uint8Array => encodedUndo(undo).slice()

/** Throws `DecodeError` for invalid bytes. */
export const decodeUndo = (bytes: Bytes): BlockUndo => {
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
