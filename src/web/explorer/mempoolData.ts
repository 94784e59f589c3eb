import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { Mempool, type MempoolInfo } from "../../mempool/Mempool.ts"
import { rateOf } from "../../mempool/policy/feeRate.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { NameOperation } from "../../protocol/nameOperation.ts"
import { partsOf, type PoolPart } from "../activity/activityData.ts"
import type { PoolList } from "../routes.ts"

/** The data of the list of waiting transactions. The mempool is in memory, and no file is read. */

/** Waiting transactions by the name operation that they have. */
export type WaitingOperations = Readonly<Record<NameOperation["op"], number>>

export interface PoolListed {
  readonly list: PoolList
  /** Seconds since 1970. */
  readonly now: number
  readonly info: MempoolInfo
  readonly parts: ReadonlyArray<PoolPart>
  readonly operations: WaitingOperations
  readonly entries: ReadonlyArray<PoolEntry>
  readonly pages: number
  /** Why transactions are missing; `undefined` if the node takes all. */
  readonly lacks: PoolLack | undefined
}

/** `light`: the node has only the last blocks. `blocks only`: it takes none from peers. `sync`: blocks are missing. */
export type PoolLack = "light" | "loading" | "blocks only" | "sync"

export const LISTED_TRANSACTIONS = 40

/** Transactions that are ordered by their fee rate; the newest of a larger mempool are left out. */
const MOST_ORDERED = 2 ** 20

/** Fee rates from here on count as equal, smallest units a kvB: 85 NMC. A number holds such a rate and a place exactly. */
const HIGHEST_RATE = 2 ** 33 - 1

interface Slice {
  readonly from: number
  readonly to: number
}

/**
 * A slice of transactions, the best fee rate first and the oldest first among equal ones. A rate and a place are one
 * number: numbers are sorted several times faster than objects with a comparison.
 */
export const byFeeRate = (entries: ReadonlyArray<PoolEntry>, { from, to }: Slice): ReadonlyArray<PoolEntry> => {
  const keys = new Float64Array(Math.min(entries.length, MOST_ORDERED))
  for (const [at, entry] of entries.entries()) {
    if (at === MOST_ORDERED) break
    keys[at] = at + (HIGHEST_RATE - Math.min(rateOf(entry), HIGHEST_RATE)) * MOST_ORDERED
  }
  keys.sort()
  return Array.from(keys.subarray(from, to)).flatMap((key) => entries[key % MOST_ORDERED] ?? [])
}

const sliced = (entries: ReadonlyArray<PoolEntry>, { order, page }: PoolList): ReadonlyArray<PoolEntry> => {
  const from = (page - 1) * LISTED_TRANSACTIONS
  const to = from + LISTED_TRANSACTIONS
  if (order === "rate") return byFeeRate(entries, { from, to })
  return entries.slice(Math.max(0, entries.length - to), Math.max(0, entries.length - from)).toReversed()
}

const operationsIn = (entries: ReadonlyArray<PoolEntry>): WaitingOperations => {
  const found = { name_new: 0, name_firstupdate: 0, name_update: 0 }
  for (const { name } of entries) if (name !== undefined) found[name.script.operation.op]++
  return found
}

/** `undefined` for a page behind the last. */
export type PoolLister = (list: PoolList) => Effect.Effect<PoolListed | undefined>

export interface PoolListerOptions {
  /** Whether the node takes no transactions from peers. */
  readonly blocksOnly: boolean
}

export const makePoolLister = (
  { blocksOnly }: PoolListerOptions
): Effect.Effect<PoolLister, never, Mempool | NameAnswers | SyncStatus> =>
  Effect.gen(function*() {
    const pool = yield* Mempool
    const answers = yield* NameAnswers
    const status = yield* SyncStatus

    /** What depends on all transactions, while these are the same. */
    let known: { readonly changes: number } & Pick<PoolListed, "operations" | "parts"> | undefined

    const summaryOf = (entries: ReadonlyArray<PoolEntry>, { changes }: MempoolInfo) => {
      if (known?.changes !== changes) known = { changes, operations: operationsIn(entries), parts: partsOf(pool) }
      return known
    }

    const lackOf = (info: MempoolInfo): Effect.Effect<PoolLack | undefined> => {
      if (answers.fromWindow()) return Effect.succeed("light")
      if (!info.loaded) return Effect.succeed("loading")
      if (blocksOnly) return Effect.succeed("blocks only")
      return Effect.map(status.initialDownload, (missing) => missing ? "sync" : undefined)
    }

    return (list) =>
      Effect.gen(function*() {
        const info = pool.info()
        const all = [...pool.entries()]
        const listed = list.names ? all.filter(({ name }) => name !== undefined) : all
        const pages = Math.max(1, Math.ceil(listed.length / LISTED_TRANSACTIONS))
        if (list.page > pages) return undefined
        const { operations, parts } = summaryOf(all, info)
        const now = yield* unixTime
        const lacks = yield* lackOf(info)
        return { list, now, info, parts, operations, entries: sliced(listed, list), pages, lacks }
      })
  })
