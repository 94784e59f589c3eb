import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { replaceFileNow } from "../base/atomicFile.ts"
import { renameFile } from "../base/disk.ts"
import { readGiven } from "../base/givenFile.ts"
import { turnOfEventLoop } from "../base/turns.ts"
import { attempt } from "../chain/attempt.ts"
import { type Bytes, displayHash, equal, fromBinaryString } from "../protocol/bytes.ts"
import { decodedOr } from "../protocol/Reader.ts"
import type { Transaction } from "../protocol/transaction.ts"
import { guarded, storageFailure } from "../storage/Database.ts"
import { StorageCorrupted, type StorageFailure } from "../storage/errors.ts"
import type { TransactionRejected } from "./errors.ts"
import type { Pool } from "./Pool.ts"
import type { PoolEntry } from "./PoolEntry.ts"
import { decodePool, encodePool, MAGIC, type PoolContent } from "./poolFile.ts"
import { decodeReferencePool } from "./referencePoolFile.ts"

/** The largest import: several times the largest mempool of the default settings. */
const MOST_IMPORTED = 2 ** 30

const IMPORT_REMEDY = "Give the file of a mempool: savemempool of this node or of Namecoin Core writes one"

const REMEDY = "Delete the file: it only holds transactions that wait for a block, and peers send them again"

/** Replaces the file atomically. Throws `StorageFailure`. */
const writePool = (file: string, content: PoolContent): void =>
  guarded({ file, doing: "writing", remedy: REMEDY }, () => replaceFileNow(file, encodePool(content)))

type FoundPool =
  | { readonly type: "none" }
  | { readonly type: "kept"; readonly content: PoolContent }
  /** The file is renamed for inspection by the operator. */
  | { readonly type: "damaged"; readonly found: string; readonly aside: string }

/** Throws `StorageFailure` for an error of the file system. */
const readPool = (file: string): FoundPool =>
  guarded({ file, doing: "reading", remedy: REMEDY }, () => {
    if (!existsSync(file)) return { type: "none" }
    return decodedOr(() => ({ type: "kept", content: decodePool(readFileSync(file)) }), ({ message }) => {
      const aside = `${file}.damaged`
      renameFile({ from: file, to: aside })
      return { type: "damaged", found: message, aside }
    })
  })

export interface LoadParts {
  readonly filename: string
  readonly pool: Pool
  /** Checks and adds a transaction that arrived at `time`, seconds since 1970. */
  readonly admit: (
    transaction: Transaction,
    time: number
  ) => Effect.Effect<PoolEntry, TransactionRejected | StorageFailure>
  readonly changing: <A>(change: () => A) => Effect.Effect<A>
  /** Transactions that arrived before this time (seconds since 1970) are expired. */
  readonly notBefore: number
  /** Seconds since 1970. */
  readonly now: number
}

export interface ImportOptions {
  readonly useCurrentTime: boolean
  readonly applyDeltas: boolean
  /** Whether its transactions that no peer has requested are announced until one does. */
  readonly applyUnbroadcast: boolean
}

/** Everything, as the file is the node's own. */
const ALL: ImportOptions = { useCurrentTime: false, applyDeltas: true, applyUnbroadcast: true }

const applyDeltas = (
  deltas: PoolContent["deltas"],
  { changing, pool }: Pick<LoadParts, "changing" | "pool">
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const beyond = yield* changing(() => [...deltas].filter(([txid, delta]) => !pool.prioritise(txid, delta)))
    for (const [txid, delta] of beyond) {
      yield* Effect.logWarning("a fee delta of the file is out of range", {
        txid: displayHash(fromBinaryString(txid)),
        delta
      })
    }
  })

const takeIn = (
  { deltas, transactions, unbroadcast }: PoolContent,
  parts: Omit<LoadParts, "filename">,
  options: ImportOptions
): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { admit, changing, now, notBefore, pool } = parts
    // Before the transactions, as some are accepted only with their delta.
    if (options.applyDeltas) yield* applyDeltas(deltas, parts)
    let [accepted, expired, present] = [0, 0, 0]
    for (const { time, transaction } of transactions) {
      const arrived = options.useCurrentTime ? now : time
      if (arrived < notBefore) {
        expired++
        continue
      }
      const taken = Effect.as(admit(transaction, arrived), true)
      if (yield* Effect.catchTag(taken, "TransactionRejected", () => Effect.succeed(false))) accepted++
      else if (pool.has(transaction.txidKey)) present++
      yield* turnOfEventLoop
    }
    if (options.applyUnbroadcast) {
      yield* changing(() => {
        for (const txid of unbroadcast) if (pool.has(txid)) pool.unbroadcast.add(txid)
      })
    }
    const refused = transactions.length - accepted - expired - present
    yield* Effect.logInfo("mempool loaded", { accepted, refused, expired, present })
  })

/** Offers the transactions of the file to the pool. A damaged file is renamed and logged. */
export const loadPool = (parts: LoadParts): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { filename } = parts
    const found = yield* attempt(() => readPool(filename))
    if (found.type === "none") return
    if (found.type === "kept") return yield* takeIn(found.content, parts, ALL)
    yield* Effect.logWarning("mempool file damaged: the mempool starts empty", {
      file: filename,
      found: found.found,
      aside: found.aside
    })
  }).pipe(Effect.annotateLogs("subsystem", "mempool"))

export const savePool = (filename: string, pool: Pool): Effect.Effect<string, StorageFailure> =>
  attempt(() => {
    const all = [...pool.entries()].map(({ transaction }) => transaction.txidKey)
    const transactions = pool.inOrder(all).map(({ time, transaction }) => ({ time, transaction }))
    writePool(filename, { transactions, deltas: pool.deltas, unbroadcast: [...pool.unbroadcast] })
    return filename
  })

/** Decodes a file in this node's or the reference node's format. Throws `DecodeError`. */
const decodeAny = (bytes: Bytes): PoolContent =>
  equal(bytes.subarray(0, MAGIC.length), MAGIC) ? decodePool(bytes) : decodeReferencePool(bytes)

/** Offers the transactions of a file in this node's or the reference node's format to the pool. */
export const importPool = (parts: LoadParts, options: ImportOptions): Effect.Effect<void, StorageFailure> =>
  Effect.gen(function*() {
    const { filename: file } = parts
    const bytes = yield* Effect.tryPromise({
      try: () => readGiven(file, MOST_IMPORTED),
      catch: storageFailure({ file, doing: "reading", remedy: IMPORT_REMEDY })
    })
    const content = yield* attempt(() =>
      decodedOr(() => decodeAny(bytes), ({ message }) => {
        throw new StorageCorrupted({ file, found: message, remedy: IMPORT_REMEDY })
      })
    )
    yield* takeIn(content, parts, options)
  }).pipe(Effect.annotateLogs("subsystem", "mempool"))
