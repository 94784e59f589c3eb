import { type Bytes, equal, fromBinaryString } from "../protocol/bytes.ts"
import { hash256 } from "../protocol/hash.ts"
import { type TxidKey, txidKey } from "../protocol/keys.ts"
import { Reader } from "../protocol/Reader.ts"
import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"
import { Writer } from "../protocol/Writer.ts"

// The file that keeps the pool while the node is down. The format is our own, since the reference node's has no
// checksum.
//
//     magic      8 bytes  "svcdpool"
//     version    LE32
//     count      LE32, then for each transaction: time (LE64, seconds since 1970), its length, its bytes
//     count      LE32, then for each fee delta: txid (32 bytes), delta (LE64, smallest units)
//     count      LE32, then for each transaction of our own that no peer has requested: txid
//     checksum   hash256 of all before it

export const MAGIC: Bytes = new TextEncoder().encode("svcdpool")

const VERSION = 1

export const HASH_SIZE = 32

export interface KeptTransaction {
  readonly transaction: Transaction
  /** Time of its arrival: seconds since 1970. */
  readonly time: number
}

/** The content of a file of the pool. Transactions are identified by `txidKey`. */
export interface PoolContent {
  /** Parents before children. */
  readonly transactions: ReadonlyArray<KeptTransaction>
  /** Smallest units. */
  readonly deltas: ReadonlyMap<TxidKey, number>
  readonly unbroadcast: ReadonlyArray<TxidKey>
}

export const encodePool = ({ deltas, transactions, unbroadcast }: PoolContent): Bytes => {
  const writer = new Writer(4096).bytes(MAGIC).u32(VERSION)
  writer.u32(transactions.length)
  for (const { time, transaction } of transactions) writer.i64(time).varBytes(transaction.bytes)
  writer.u32(deltas.size)
  for (const [txid, delta] of deltas) writer.bytes(fromBinaryString(txid)).i64(delta)
  writer.u32(unbroadcast.length)
  for (const txid of unbroadcast) writer.bytes(fromBinaryString(txid))
  return writer.bytes(hash256(writer.written())).toBytes()
}

/** Reads a number of entries. Refused at once if entries of `smallest` bytes do not fit the rest. */
export const readCount = (reader: Reader, what: string, smallest: number): number => {
  const entries = reader.u32(what)
  if (entries * smallest > reader.remaining) reader.fail({ field: what, reason: `${entries} entries do not fit` })
  return entries
}

const many = <A>(length: number, read: () => A): Array<A> => Array.from({ length }, read)

/** Throws `DecodeError` for bytes that `encodePool` does not make. */
export const decodePool = (bytes: Bytes): PoolContent => {
  const content = bytes.subarray(0, Math.max(0, bytes.length - HASH_SIZE))
  const reader = new Reader(content)
  if (!equal(reader.bytes(MAGIC.length, "magic"), MAGIC)) {
    reader.fail({ field: "magic", reason: "the file is something else" })
  }
  const version = reader.u32("version")
  if (version !== VERSION) reader.fail({ field: "version", reason: `${version} is unknown here` })
  if (!equal(hash256(content), bytes.subarray(content.length))) {
    reader.fail({ field: "checksum", reason: "it does not match the content" })
  }
  const txid = (): TxidKey => txidKey(reader.bytes(HASH_SIZE, "txid"))
  const transactions = many(readCount(reader, "transactions", 8 + 10), (): KeptTransaction => {
    const time = reader.i64("time")
    return { time, transaction: decodeTransaction(reader.varBytes("transaction")) }
  })
  const deltas = new Map(many(readCount(reader, "deltas", HASH_SIZE + 8), () => [txid(), reader.i64("delta")] as const))
  const unbroadcast = many(readCount(reader, "unbroadcast", HASH_SIZE), txid)
  reader.end("pool")
  return { transactions, deltas, unbroadcast }
}
