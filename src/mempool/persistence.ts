import * as Effect from "effect/Effect"
import { turnOfEventLoop } from "../base/turnOfEventLoop.ts"
import { attempt } from "../chain/attempt.ts"
import { displayHash, fromBinaryString } from "../protocol/bytes.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { TransactionRejected } from "./errors.ts"
import type { Pool } from "./Pool.ts"
import type { PoolEntry } from "./PoolEntry.ts"
import { type PoolContent, readPool, writePool } from "./poolFile.ts"

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
