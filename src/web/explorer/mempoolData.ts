import * as Effect from "effect/Effect"
import { unixTime } from "../../base/clock.ts"
import { SyncStatus } from "../../chain/SyncStatus.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { Mempool, type MempoolInfo } from "../../mempool/Mempool.ts"
import { rateOf } from "../../mempool/policy/feeRate.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { NameOperation } from "../../protocol/nameOperation.ts"
import { partsOf, type PoolPart } from "../activity/activityData.ts"
import type { Deeds, WordedOperation } from "../deeds.ts"
import type { PoolList } from "../routes.ts"

/** The data of the list of waiting transactions. The mempool is in memory, and no file is read. */

/** Waiting transactions by the name operation that they have. */
export type WaitingOperations = Readonly<Record<NameOperation["op"], number>>

/** A transaction of the list; `operation` is `undefined` for a payment. */
export interface PoolRow {
  readonly entry: PoolEntry
  readonly operation: WordedOperation | undefined
}

export interface PoolListed {
  readonly list: PoolList
  /** Seconds since 1970. */
  readonly now: number
  readonly info: MempoolInfo
  readonly parts: ReadonlyArray<PoolPart>
  readonly operations: WaitingOperations
  readonly entries: ReadonlyArray<PoolRow>
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

/** Places of transactions in the order of their arrival. A list that is kept has these and holds no transaction. */
type Places = Uint32Array

/** The places of the transactions that a list has, the oldest first. */
export const placesOf = (entries: Iterable<PoolEntry>, { names }: Pick<PoolList, "names">): Places => {
  const places: Array<number> = []
  let at = 0
  for (const { name } of entries) {
    if (!names || name !== undefined) places.push(at)
    at++
  }
  return Uint32Array.from(places)
}

/**
 * The places of transactions, the best fee rate first and the oldest first among equal ones. A rate and a place are one
 * number: numbers are sorted several times faster than objects with a comparison.
 */
export const byFeeRate = (entries: Iterable<PoolEntry>, places: Places): Places => {
  const keys = new Float64Array(Math.min(places.length, MOST_ORDERED))
  let at = 0
  let found = 0
  for (const entry of entries) {
    if (found === keys.length) break
    if (at++ !== places[found]) continue
    keys[found] = found + (HIGHEST_RATE - Math.min(rateOf(entry), HIGHEST_RATE)) * MOST_ORDERED
    found++
  }
  keys.sort()
  return Uint32Array.from(keys, (key) => places[key % MOST_ORDERED] ?? 0)
}

/** The transactions at some places. */
const entriesAt = (entries: Iterable<PoolEntry>, places: Places): ReadonlyArray<PoolEntry> => {
  const found = new Map<number, PoolEntry>()
  const wanted = new Set(places)
  let at = 0
  for (const entry of entries) {
    if (found.size === wanted.size) break
    if (wanted.has(at)) found.set(at, entry)
    at++
  }
  return Array.from(places).flatMap((place) => found.get(place) ?? [])
}

const operationsIn = (entries: Iterable<PoolEntry>): WaitingOperations => {
  const found = { name_new: 0, name_firstupdate: 0, name_update: 0 }
  for (const { name } of entries) if (name !== undefined) found[name.script.operation.op]++
  return found
}

/** What depends on all transactions, while these are the same. */
interface KnownPool extends Pick<PoolListed, "operations" | "parts"> {
  readonly changes: number
  readonly lists: Map<string, Places>
  /** Pages of this second. */
  readonly pages: Map<string, PoolListed>
}

const KEPT_PAGES = 16

/** `undefined` for a page behind the last. While nothing changes within a second, a page is the same object. */
export type PoolLister = (list: PoolList) => Effect.Effect<PoolListed | undefined>

export interface PoolListerOptions {
  /** Whether the node takes no transactions from peers. */
  readonly blocksOnly: boolean
}

export const makePoolLister = (
  deeds: Pick<Deeds, "waiting">,
  { blocksOnly }: PoolListerOptions
): Effect.Effect<PoolLister, never, Mempool | NameAnswers | SyncStatus> =>
  Effect.gen(function*() {
    const pool = yield* Mempool
    const answers = yield* NameAnswers
    const status = yield* SyncStatus

    let known: KnownPool | undefined

    const knownOf = ({ changes }: MempoolInfo): KnownPool => {
      if (known?.changes !== changes) {
        known = {
          changes,
          lists: new Map(),
          pages: new Map(),
          operations: operationsIn(pool.entries()),
          parts: partsOf(pool)
        }
      }
      return known
    }

    const orderedBy = (lists: Map<string, Places>, { names, order }: Pick<PoolList, "names" | "order">): Places => {
      const key = `${order} ${names}`
      const ordered = lists.get(key)
      if (ordered !== undefined) return ordered
      const places = placesOf(pool.entries(), { names })
      const made = order === "rate" ? byFeeRate(pool.entries(), places) : places.reverse()
      lists.set(key, made)
      return made
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
        const { lists, operations, pages: made, parts } = knownOf(info)
        const now = yield* unixTime
        const lacks = yield* lackOf(info)
        const key = `${list.order} ${list.names} ${list.page}`
        const before = made.get(key)
        if (before?.now === now && before.lacks === lacks) return before
        const places = orderedBy(lists, list)
        const pages = Math.max(1, Math.ceil(places.length / LISTED_TRANSACTIONS))
        if (list.page > pages) return undefined
        const from = (list.page - 1) * LISTED_TRANSACTIONS
        const entries = yield* Effect.forEach(
          entriesAt(pool.entries(), places.subarray(from, from + LISTED_TRANSACTIONS)),
          (entry) => Effect.map(deeds.waiting(entry), (operation): PoolRow => ({ entry, operation }))
        )
        const listed: PoolListed = { list, now, info, parts, operations, entries, pages, lacks }
        if (made.size >= KEPT_PAGES) made.clear()
        made.set(key, listed)
        return listed
      })
  })
