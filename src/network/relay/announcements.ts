import { exponential, type Random } from "../../base/random.ts"
import type { RollingFilter } from "../../base/RollingFilter.ts"
import type { MempoolChunk } from "../../mempool/Mempool.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import type { TxidKey } from "../../protocol/keys.ts"
import { type InventoryItem, ItemType } from "../wire/messages/inv.ts"
import type { BloomFilter } from "./BloomFilter.ts"

/** Selects transactions for announcement, their time and their order (reference/protocol.md 6.9). */

/** Mean milliseconds. */
const INBOUND_INTERVAL = 5_000

/** Mean milliseconds. */
const OUTBOUND_INTERVAL = 2_000

/** 14 transactions per second at the inbound interval. */
export const ROUND_TARGET = 70

export const ROUND_LIMIT = 1_000

export const roundSize = (waiting: number): number =>
  Math.min(ROUND_LIMIT, ROUND_TARGET + 5 * Math.floor(waiting / 1000))

export interface PoolOrder {
  readonly get: (txid: TxidKey) => PoolEntry | undefined
  readonly cluster: (txid: TxidKey) => ReadonlyArray<MempoolChunk>
}

interface Rank {
  readonly rate: number
  /** Sequence of the cluster's first entry, which identifies the cluster. */
  readonly cluster: number
  /** Position in the cluster: parents before children, fee rates never rise. */
  readonly place: number
}

/** The current mining order. Valid within one turn of the event loop. */
export class MiningOrder {
  private readonly pool: PoolOrder
  private readonly ranks = new Map<TxidKey, Rank>()

  constructor(pool: PoolOrder) {
    this.pool = pool
  }

  /** Negative if `a` goes before `b`. */
  compare(a: PoolEntry, b: PoolEntry): number {
    const [first, second] = [this.rank(a), this.rank(b)]
    return second.rate - first.rate || first.cluster - second.cluster || first.place - second.place
  }

  private rank(entry: PoolEntry): Rank {
    const { txidKey } = entry.transaction
    const known = this.ranks.get(txidKey)
    if (known !== undefined) return known
    let place = 0
    for (const { entries, fee, weight } of this.pool.cluster(txidKey)) {
      for (const { transaction } of entries) {
        this.ranks.set(transaction.txidKey, { rate: fee / weight, cluster: entry.sequence, place: place++ })
      }
    }
    return this.ranks.get(txidKey) ?? { rate: entry.modifiedFee / entry.weight, cluster: entry.sequence, place: 0 }
  }
}

export interface TransactionListener {
  readonly wtxidRelay: boolean
  /** In smallest units per kvB. */
  readonly feeFilter: number
  readonly known: RollingFilter
  readonly bloom?: Pick<BloomFilter, "matches"> | undefined
}

export const itemOf = ({ transaction }: PoolEntry, wtxidRelay: boolean): InventoryItem =>
  wtxidRelay ? { type: ItemType.wtx, hash: transaction.wtxid } : { type: ItemType.tx, hash: transaction.txid }

export const pays = ({ fee, vsize }: PoolEntry, feeFilter: number): boolean => fee * 1000 >= feeFilter * vsize

/** The best go first, to hide our order of arrival. Source: upstream `net_processing.cpp`, `SendMessages`. */
export const takeRound = (
  waiting: Set<TxidKey>,
  { listener, order, pool }: {
    readonly pool: PoolOrder
    readonly order: MiningOrder
    readonly listener: TransactionListener
  }
): ReadonlyArray<PoolEntry> => {
  const limit = roundSize(waiting.size)
  const entries: Array<PoolEntry> = []
  for (const txid of waiting) {
    const entry = pool.get(txid)
    if (entry === undefined) waiting.delete(txid)
    else entries.push(entry)
  }
  entries.sort((a, b) => order.compare(a, b))
  const round: Array<PoolEntry> = []
  for (const entry of entries) {
    if (round.length >= limit) break
    waiting.delete(entry.transaction.txidKey)
    const { hash } = itemOf(entry, listener.wtxidRelay)
    if (listener.known.has(hash) || !pays(entry, listener.feeFilter)) continue
    if (listener.bloom?.matches(entry.transaction) === false) continue
    listener.known.add(hash)
    round.push(entry)
  }
  return round
}

/**
 * Milliseconds. Random, against tracing; all inbound peers share one time, so that many connections reveal no more.
 * Source: upstream `net_processing.cpp`, `NextInvToInbounds`.
 */
export class RoundTimes {
  private readonly random: Random
  private inbound = -Infinity

  constructor(random: Random) {
    this.random = random
  }

  next(inbound: boolean, now: number): number {
    if (!inbound) return now + exponential(this.random, OUTBOUND_INTERVAL)
    if (this.inbound <= now) this.inbound = now + exponential(this.random, INBOUND_INTERVAL)
    return this.inbound
  }
}
