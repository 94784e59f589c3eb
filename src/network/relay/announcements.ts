import { exponential, type Random } from "../../base/random.ts"
import type { RollingFilter } from "../../base/RollingFilter.ts"
import type { Chunk } from "../../mempool/Mempool.ts"
import type { PoolEntry } from "../../mempool/PoolEntry.ts"
import { type InventoryItem, ItemType } from "../wire/messages/inv.ts"

/**
 * Which of the transactions that wait for it are announced to a peer, when, and in which order
 * (reference/protocol.md 6.9).
 */

/** Mean milliseconds between the rounds to peers that called us. */
const INBOUND_INTERVAL = 5_000

/** Mean milliseconds between the rounds to a peer that we called. */
const OUTBOUND_INTERVAL = 2_000

/** Transactions in an ordinary round: 14 a second, as often as inbound peers have their turn. */
export const ROUND_TARGET = 70

/** Most transactions in a round. */
export const ROUND_LIMIT = 1_000

/** Transactions that a round may have where so many wait. */
export const roundSize = (waiting: number): number =>
  Math.min(ROUND_LIMIT, ROUND_TARGET + 5 * Math.floor(waiting / 1000))

/** What of the mempool is asked here. */
export interface PoolOrder {
  readonly get: (txid: string) => PoolEntry | undefined
  readonly cluster: (txid: string) => ReadonlyArray<Chunk>
}

/** Where a transaction stands among all, as miners take them. */
interface Rank {
  /** Fee rate of the chunk. */
  readonly rate: number
  /** The sequence of the cluster's first entry: tells clusters apart. */
  readonly cluster: number
  /** The place in the cluster; parents stand before children, and rates never rise. */
  readonly place: number
}

/** The order of the mempool as it is: for use within one turn of the event loop. */
export class MiningOrder {
  private readonly pool: PoolOrder
  private readonly ranks = new Map<string, Rank>()

  constructor(pool: PoolOrder) {
    this.pool = pool
  }

  /** Below zero where `a` goes before `b`. */
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

/** How a peer is told of transactions. */
export interface Listener {
  readonly wtxidRelay: boolean
  /** Least fee rate that it wants to hear of, smallest units a kvB. */
  readonly feeFilter: number
  /** Hashes that it knows, as it is told of them. */
  readonly known: RollingFilter
}

/** The item that announces a transaction. */
export const itemOf = ({ transaction }: PoolEntry, wtxidRelay: boolean): InventoryItem =>
  wtxidRelay ? { type: ItemType.wtx, hash: transaction.wtxid } : { type: ItemType.tx, hash: transaction.txid }

/** Whether a fee reaches the rate that a peer wants. */
const pays = ({ fee, vsize }: PoolEntry, feeFilter: number): boolean => fee * 1000 >= feeFilter * vsize

/**
 * Takes a round out of what waits (by txid), with what is not to be announced at all. The best go first: so what a peer
 * can tell of when we heard of each is little.
 * Source: upstream `net_processing.cpp`, `SendMessages`.
 */
export const takeRound = (
  waiting: Set<string>,
  pool: PoolOrder,
  order: MiningOrder,
  listener: Listener
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
    listener.known.add(hash)
    round.push(entry)
  }
  return round
}

/**
 * When peers are told of transactions: at random times, so that nobody can tell where a transaction came from. Those that
 * called us have one time for all, so that a hundred connections tell no more than one.
 * Source: upstream `net_processing.cpp`, `NextInvToInbounds`. Times are milliseconds.
 */
export class RoundTimes {
  private readonly random: Random
  private inbound = -Infinity

  constructor(random: Random) {
    this.random = random
  }

  /** The time of a peer's next round. */
  next(inbound: boolean, now: number): number {
    if (!inbound) return now + exponential(this.random, OUTBOUND_INTERVAL)
    if (this.inbound <= now) this.inbound = now + exponential(this.random, INBOUND_INTERVAL)
    return this.inbound
  }
}
