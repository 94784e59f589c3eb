import * as Effect from "effect/Effect"
import { existsSync, readFileSync, renameSync } from "node:fs"
import { replaceFileNow } from "../base/atomicFile.ts"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import { attempt } from "../chain/attempt.ts"
import { type Bytes, displayHash, equal, fromBinaryString } from "../protocol/bytes.ts"
import { hash256 } from "../protocol/hash.ts"
import { type TxidKey, txidKey } from "../protocol/keys.ts"
import { DecodeError, Reader } from "../protocol/Reader.ts"
import { decodeTransaction, type Transaction } from "../protocol/transaction.ts"
import { Writer } from "../protocol/Writer.ts"
import { guarded } from "../storage/Database.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { TransactionRejected } from "./errors.ts"
import type { Pool } from "./Pool.ts"
import type { PoolEntry } from "./PoolEntry.ts"

/**
 * The file that keeps the pool while the node is down. The format is our own, since the reference node's has no
 * checksum.
 *
 *     magic      8 bytes  "svcdpool"
 *     version    LE32
 *     count      LE32, then for each transaction: time (LE64, seconds since 1970), its length, its bytes
 *     count      LE32, then for each fee delta: txid (32 bytes), delta (LE64, smallest units)
 *     count      LE32, then for each transaction of our own that no peer has requested: txid
 *     checksum   hash256 of all before it
 */

const MAGIC: Bytes = new TextEncoder().encode("svcdpool")

const VERSION = 1

const HASH_SIZE = 32

const REMEDY = "Delete the file: it only holds transactions that wait for a block, and peers send them again"

/** A transaction from the file. */
interface KeptTransaction {
  readonly transaction: Transaction
  /** Time of its arrival: seconds since 1970. */
  readonly time: number
}

/** The content of the file. Transactions are identified by their `txidKey`. */
interface PoolContent {
  /** Parents before children. */
  readonly transactions: ReadonlyArray<KeptTransaction>
  /** Smallest units. */
  readonly deltas: ReadonlyMap<TxidKey, number>
  readonly unbroadcast: ReadonlyArray<TxidKey>
}

/** Encodes the file. */
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

const count = (reader: Reader, what: string, smallest: number): number => {
  const entries = reader.u32(what)
  if (entries * smallest > reader.remaining) reader.fail({ field: what, reason: `${entries} entries do not fit` })
  return entries
}

const many = <A>(length: number, read: () => A): Array<A> => Array.from({ length }, read)

/** Decodes the file. Throws `DecodeError` for bytes that `encodePool` does not make. */
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
  const transactions = many(count(reader, "transactions", 8 + 10), (): KeptTransaction => {
    const time = reader.i64("time")
    return { time, transaction: decodeTransaction(reader.varBytes("transaction")) }
  })
  const deltas = new Map(many(count(reader, "deltas", HASH_SIZE + 8), () => [txid(), reader.i64("delta")] as const))
  const unbroadcast = many(count(reader, "unbroadcast", HASH_SIZE), txid)
  reader.end("pool")
  return { transactions, deltas, unbroadcast }
}

/** Replaces the file atomically. Throws `StorageFailure`. */
const writePool = (file: string, content: PoolContent): void =>
  guarded({ file, doing: "writing", remedy: REMEDY }, () => replaceFileNow(file, encodePool(content)))

/** The result of reading the file. */
type FoundPool =
  | { readonly type: "none" }
  | { readonly type: "kept"; readonly content: PoolContent }
  /** The file is renamed, and the operator can inspect it. */
  | { readonly type: "damaged"; readonly found: string; readonly aside: string }

/** Reads the file. Throws `StorageFailure` for an error of the file system. */
const readPool = (file: string): FoundPool =>
  guarded({ file, doing: "reading", remedy: REMEDY }, () => {
    if (!existsSync(file)) return { type: "none" }
    try {
      return { type: "kept", content: decodePool(readFileSync(file)) }
    } catch (cause) {
      if (!(cause instanceof DecodeError)) throw cause
      const aside = `${file}.damaged`
      renameSync(file, aside)
      return { type: "damaged", found: cause.message, aside }
    }
  })

export interface LoadParts {
  readonly filename: string
  readonly pool: Pool
  /** Checks a transaction that arrived at `time`, seconds since 1970, and adds it. */
  readonly admit: (
    transaction: Transaction,
    time: number
  ) => Effect.Effect<PoolEntry, TransactionRejected | StorageFailure>
  readonly changing: <A>(change: () => A) => Effect.Effect<A>
  /** Transactions that arrived before this time are expired: seconds since 1970. */
  readonly notBefore: number
}

const takeIn = (
  { deltas, transactions, unbroadcast }: PoolContent,
  { admit, changing, notBefore, pool }: LoadParts
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    // Before the transactions: some are accepted only with their delta.
    const beyond = yield* changing(() => [...deltas].filter(([txid, delta]) => !pool.prioritise(txid, delta)))
    for (const [txid, delta] of beyond) {
      yield* Effect.logWarning("a fee delta of the file is out of range", {
        txid: displayHash(fromBinaryString(txid)),
        delta
      })
    }
    let accepted = 0
    let expired = 0
    for (const { time, transaction } of transactions) {
      if (time < notBefore) {
        expired++
        continue
      }
      const taken = Effect.as(admit(transaction, time), true)
      if (yield* Effect.catchTag(taken, "TransactionRejected", () => Effect.succeed(false))) accepted++
      yield* turnOfEventLoop
    }
    yield* changing(() => {
      for (const txid of unbroadcast) if (pool.has(txid)) pool.unbroadcast.add(txid)
    })
    const refused = transactions.length - accepted - expired
    yield* Effect.logInfo("mempool loaded", { accepted, refused, expired })
  })

/** Offers the transactions of the file to the pool. A damaged file is renamed and logged. */
export const loadPool = (parts: LoadParts): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { filename } = parts
    const found = yield* attempt(() => readPool(filename))
    if (found.type === "none") return
    if (found.type === "kept") return yield* takeIn(found.content, parts)
    yield* Effect.logWarning("mempool file damaged: the mempool starts empty", {
      file: filename,
      found: found.found,
      aside: found.aside
    })
  }).pipe(Effect.annotateLogs("subsystem", "mempool"))

/** Writes the pool to its file and returns the path. */
export const savePool = (filename: string, pool: Pool): Effect.Effect<string, StorageFailure> =>
  attempt(() => {
    const all = [...pool.entries()].map(({ transaction }) => transaction.txidKey)
    const transactions = pool.inOrder(all).map(({ time, transaction }) => ({ time, transaction }))
    writePool(filename, { transactions, deltas: pool.deltas, unbroadcast: [...pool.unbroadcast] })
    return filename
  })
