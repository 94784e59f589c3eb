import { type Bytes } from "../protocol/bytes.ts"
import { type TxidKey, txidKey } from "../protocol/keys.ts"
import { Reader } from "../protocol/Reader.ts"
import { readTransaction } from "../protocol/transaction.ts"
import { HASH_SIZE, type KeptTransaction, type PoolContent } from "./poolFile.ts"

// The file in which the reference node keeps its mempool (upstream `node/mempool_persist.cpp`).
//
//     version      LE64   1, or 2 with a key
//     key          8 bytes after their length, in version 2 only; XORed to all that follows, by position in the file
//     count        LE64, then for each transaction: its bytes, time (LE64, seconds since 1970), fee delta (LE64)
//     count        CompactSize, then for each fee delta of another transaction: txid, delta (LE64)
//     count        CompactSize, then for each transaction that no peer has requested: txid

const PLAIN = 1n
const OBFUSCATED = 2n

const KEY_SIZE = 8

/** XORs the bytes from `start` on with a key of eight bytes. */
const revealed = (bytes: Bytes, key: Bytes, start: number): Uint8Array => {
  const plain = Uint8Array.from(bytes)
  for (let at = start; at < plain.length; at++) plain[at] = (plain[at] ?? 0) ^ (key[at % KEY_SIZE] ?? 0)
  return plain
}

/** The rest of the file without its obfuscation. */
const bodyOf = (bytes: Bytes): Reader => {
  const reader = new Reader(bytes)
  const version = reader.u64("version")
  if (version === PLAIN) return reader
  if (version !== OBFUSCATED) reader.fail({ field: "version", reason: `${version} is unknown here` })
  const key = reader.varBytes("key")
  if (key.length !== KEY_SIZE) reader.fail({ field: "key", reason: `it has ${key.length} bytes` })
  return new Reader(revealed(bytes, key, reader.offset), reader.offset)
}

/** Throws `DecodeError`. */
export const decodeReferencePool = (bytes: Bytes): PoolContent => {
  const reader = bodyOf(bytes)
  const txid = (): TxidKey => txidKey(reader.bytes(HASH_SIZE, "txid"))
  const transactions: Array<KeptTransaction> = []
  const deltas = new Map<TxidKey, number>()
  const addDelta = (key: TxidKey, delta: number): void => {
    if (delta !== 0) deltas.set(key, delta)
  }
  // Not allocated beforehand, as the number may be anything.
  for (let left = reader.u64("transactions"); left > 0n; left--) {
    const transaction = readTransaction(reader)
    transactions.push({ transaction, time: reader.i64("time") })
    addDelta(transaction.txidKey, reader.i64("delta"))
  }
  for (let left = reader.count("deltas", HASH_SIZE + 8); left > 0; left--) addDelta(txid(), reader.i64("delta"))
  const unbroadcast = Array.from({ length: reader.count("unbroadcast", HASH_SIZE) }, txid)
  return { transactions, deltas, unbroadcast }
}
