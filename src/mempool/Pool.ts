import type { Coin } from "../consensus/view.ts"
import { MAX_MONEY } from "../protocol/amount.ts"
import {
  type NameKey,
  type OutpointKey,
  type TxidKey,
  txidKey,
  txidOf,
  type WtxidKey,
  wtxidKey
} from "../protocol/keys.ts"
import { outpoint, outpointKey, prevoutTxid, type Transaction } from "../protocol/transaction.ts"
import type { RollingFee } from "./fees/RollingFee.ts"
import { TxGraph } from "./graph/TxGraph.ts"
import { entryUsage } from "./memoryUsage.ts"
import { NamePool } from "./NamePool.ts"
import { rateOf, virtualSize } from "./policy/feeRate.ts"
import type { MempoolEvent, PoolEntry, RemovalReason } from "./PoolEntry.ts"

const NONE: ReadonlySet<never> = new Set()

/** The output index at the end of an outpoint key. */
const indexOf = (outpoint: OutpointKey): number =>
  (outpoint.charCodeAt(32) | outpoint.charCodeAt(33) << 8 | outpoint.charCodeAt(34) << 16 |
    outpoint.charCodeAt(35) << 24) >>> 0

/** The output of a transaction as a coin at a height, spent or not. */
export const outputCoin = (
  transaction: Transaction | undefined,
  outpoint: OutpointKey,
  height: number
): Coin | undefined => {
  const output = transaction?.outputs[indexOf(outpoint)]
  return output === undefined ? undefined : { value: output.value, script: output.script, height, coinbase: false }
}

/**
 * The transactions of the mempool and their indexes. Adds any transaction, which the caller must have validated
 * (`acceptance.ts`). Transactions are identified by `txidKey`, outpoints by `outpointKey`. Invariants: no two
 * transactions spend one outpoint; a pool transaction spent by another is its parent in the graph; at most one
 * registers a name.
 */
export class Pool {
  readonly names = new NamePool()
  readonly graph = new TxGraph<TxidKey>()
  /** Fee deltas of `prioritise` by txid, even for transactions outside of the pool. */
  readonly deltas = new Map<TxidKey, number>()
  /** Own transactions that no peer has requested yet. */
  readonly unbroadcast = new Set<TxidKey>()
  private readonly byTxid = new Map<TxidKey, PoolEntry>()
  private readonly byWtxid = new Map<WtxidKey, TxidKey>()
  private readonly spenders = new Map<OutpointKey, TxidKey>()
  private news: Array<MempoolEvent> = []
  private moves = 1
  private changeCount = 0
  private memory = 0
  private virtualBytes = 0
  private fees = 0
  /** Lower bound of the arrival times in the pool. */
  private oldest = Infinity
  private readonly hasScripts: boolean

  /** `hasScripts`: the memory of `ScriptPool` counts as well. */
  constructor(hasScripts = false) {
    this.hasScripts = hasScripts
  }

  get size(): number {
    return this.byTxid.size
  }

  /** Bytes that count against the memory limit. */
  get usage(): number {
    return this.memory
  }

  /** Virtual bytes. */
  get bytes(): number {
    return this.virtualBytes
  }

  /** Smallest units, as paid. */
  get totalFee(): number {
    return this.fees
  }

  /** Acceptances and removals so far, plus one. */
  get sequence(): number {
    return this.moves
  }

  /** Counts all changes that affect a block template: transactions and their modified fees. */
  get changes(): number {
    return this.changeCount
  }

  get(txid: TxidKey): PoolEntry | undefined {
    return this.byTxid.get(txid)
  }

  has(txid: TxidKey): boolean {
    return this.byTxid.has(txid)
  }

  getByWtxid(wtxid: WtxidKey): PoolEntry | undefined {
    const txid = this.byWtxid.get(wtxid)
    return txid === undefined ? undefined : this.byTxid.get(txid)
  }

  /** In order of arrival. */
  entries(): IterableIterator<PoolEntry> {
    return this.byTxid.values()
  }

  spender(outpoint: OutpointKey): PoolEntry | undefined {
    const txid = this.spenders.get(outpoint)
    return txid === undefined ? undefined : this.byTxid.get(txid)
  }

  parentsOf({ inputs }: Transaction): ReadonlySet<TxidKey> {
    const parents = new Set<TxidKey>()
    if (this.byTxid.size === 0) return parents
    for (const { prevout } of inputs) {
      const txid = txidKey(prevoutTxid(prevout))
      if (this.byTxid.has(txid)) parents.add(txid)
    }
    return parents
  }

  /** The output of a pool transaction as a coin at a height, spent or not. */
  coin(outpoint: OutpointKey, height: number): Coin | undefined {
    return outputCoin(this.byTxid.get(txidOf(outpoint))?.transaction, outpoint, height)
  }

  /** The entries of some transactions, parents before children, without unknown ones. */
  inOrder(txids: Iterable<TxidKey>): Array<PoolEntry> {
    const ranked: Array<{ readonly entry: PoolEntry; readonly rank: number }> = []
    for (const txid of txids) {
      const entry = this.byTxid.get(txid)
      if (entry !== undefined) ranked.push({ entry, rank: this.graph.ancestors(txid).size })
    }
    return ranked.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry)
  }

  withDescendants(txids: Iterable<TxidKey>): ReadonlySet<TxidKey> {
    const all = new Set<TxidKey>()
    for (const txid of txids) {
      if (all.has(txid) || !this.byTxid.has(txid)) continue
      all.add(txid)
      for (const descendant of this.graph.descendants(txid)) all.add(descendant)
    }
    return all
  }

  /** Pool transactions that spend outputs of a transaction, which may be outside of the pool. */
  childrenOf({ outputs, txid }: Transaction): ReadonlySet<TxidKey> {
    const children = new Set<TxidKey>()
    for (let i = 0; i < outputs.length; i++) {
      const child = this.spenders.get(outpointKey(outpoint(txid, i)))
      if (child !== undefined) children.add(child)
    }
    return children
  }

  /** The operations on a name, or on all names; parents before children. */
  pending(name: NameKey | undefined): ReadonlyArray<PoolEntry> {
    if (name === undefined) {
      const all: Array<TxidKey> = []
      for (const entry of this.byTxid.values()) if (entry.name !== undefined) all.push(entry.transaction.txidKey)
      return this.inOrder(all)
    }
    const registration = this.names.registration(name)
    const updates = this.names.updates(name)
    return this.inOrder(registration === undefined ? updates : [registration, ...updates])
  }

  /** Adds a transaction that no pool transaction spends. */
  add(entry: PoolEntry): void {
    this.insert(entry, NONE)
  }

  /** Adds a transaction of a disconnected block. Pool transactions that spend it become its children. */
  addBack(entry: PoolEntry): void {
    this.insert(entry, this.childrenOf(entry.transaction))
  }

  private insert(entry: PoolEntry, children: ReadonlySet<TxidKey>): void {
    const { modifiedFee, transaction, weight } = entry
    const { txidKey } = transaction
    const parents = this.parentsOf(transaction)
    this.byTxid.set(txidKey, entry)
    this.byWtxid.set(wtxidKey(transaction.wtxid), txidKey)
    for (const { prevout } of transaction.inputs) this.spenders.set(outpointKey(prevout), txidKey)
    this.graph.add(txidKey, { fee: modifiedFee, weight, parents, children })
    this.names.add(entry)
    this.memory += entryUsage(transaction, this.hasScripts)
    this.virtualBytes += entry.vsize
    this.fees += entry.fee
    this.oldest = Math.min(this.oldest, entry.time)
    this.changeCount++
    this.news.push({ _tag: "Added", entry, sequence: this.moves++ })
  }

  /** Removes a transaction and keeps its children. */
  remove(txid: TxidKey, reason: RemovalReason): void {
    const entry = this.byTxid.get(txid)
    if (entry === undefined) return
    const { transaction } = entry
    this.byTxid.delete(txid)
    this.byWtxid.delete(wtxidKey(transaction.wtxid))
    for (const { prevout } of transaction.inputs) this.spenders.delete(outpointKey(prevout))
    this.graph.remove(txid)
    this.names.remove(entry)
    this.unbroadcast.delete(txid)
    this.memory -= entryUsage(transaction, this.hasScripts)
    this.virtualBytes -= entry.vsize
    this.fees -= entry.fee
    this.changeCount++
    this.news.push({ _tag: "Removed", entry, reason, sequence: this.moves++ })
  }

  /** Removes transactions with all their descendants, descendants first. */
  removeAll(txids: Iterable<TxidKey>, reason: RemovalReason): void {
    for (const { transaction } of this.inOrder(this.withDescendants(txids)).reverse()) {
      this.remove(transaction.txidKey, reason)
    }
  }

  /** Removes transactions that arrived before a time (seconds since 1970), with their descendants. */
  expire(before: number): void {
    if (this.oldest >= before) return
    const expired: Array<TxidKey> = []
    this.oldest = Infinity
    for (const { time, transaction } of this.byTxid.values()) {
      if (time < before) expired.push(transaction.txidKey)
      else this.oldest = Math.min(this.oldest, time)
    }
    this.removeAll(expired, "expiry")
  }

  /** Evicts the worst chunks until the rest fits into the memory limit, and raises the rolling minimum fee. */
  trim(maxUsage: number, rolling: RollingFee): void {
    while (this.memory > maxUsage) {
      const worst = this.graph.worst()
      if (worst === undefined) return
      rolling.raise(rateOf({ fee: worst.fee, vsize: virtualSize(worst.weight) }))
      this.removeAll([...worst.keys], "size-limit")
    }
  }

  /**
   * Adds to the modified fee of a transaction. Returns false, without a change, if the sum of its deltas would exceed
   * `MAX_MONEY` either way, so that fees stay whole numbers.
   */
  prioritise(txid: TxidKey, delta: number): boolean {
    const sum = (this.deltas.get(txid) ?? 0) + delta
    if (!(Math.abs(sum) <= MAX_MONEY)) return false
    if (sum === 0) this.deltas.delete(txid)
    else this.deltas.set(txid, sum)
    this.changeCount++
    const entry = this.byTxid.get(txid)
    if (entry === undefined) return true
    const modifiedFee = entry.fee + sum
    this.byTxid.set(txid, { ...entry, modifiedFee })
    this.graph.setFee(txid, modifiedFee)
    return true
  }

  /** Drops the events of an entry added and evicted within one step. */
  forget(entry: PoolEntry): void {
    this.news = this.news.filter((event) => event.entry !== entry)
  }

  takeNews(): ReadonlyArray<MempoolEvent> {
    if (this.news.length === 0) return this.news
    const { news } = this
    this.news = []
    return news
  }
}
