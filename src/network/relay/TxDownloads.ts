import { type Random, randomBytes } from "../../base/random.ts"
import { RollingFilter } from "../../base/RollingFilter.ts"
import { sipKey } from "../../base/siphash.ts"
import type { TransactionRejected } from "../../mempool/errors.ts"
import { binaryString, type Bytes, equal, fromBinaryString } from "../../protocol/bytes.ts"
import { prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { Orphanage } from "./Orphanage.ts"
import { type HashKind, MAX_ANNOUNCEMENTS, MAX_IN_FLIGHT, type TxRequest, TxRequests } from "./TxRequests.ts"

/**
 * Decides which transactions are asked for, which of those that come are judged, and what a verdict means for the rest
 * (upstream `node/txdownloadman_impl.cpp`). Times are milliseconds of a clock that does not go back.
 *
 * ```
 *  inv ──► announced ──► TxRequests ──► requests ──► getdata ──► tx ──► isNews ──► mempool
 *                             ▲                                                    │     │
 *                             │ parents                  Orphanage ◄── missing ── refused  accepted
 *                             └──────────────────────────── │ ▲                    │     │
 *                                          tried again ◄────┘ └────────────────────┼─────┘
 *                                                                refused filter ◄──┘
 * ```
 */

/** Refused transactions that are remembered until the next block. */
const REFUSED_CAPACITY = 120_000

/** Confirmed transactions that are remembered. */
const CONFIRMED_CAPACITY = 48_000

const FALSE_POSITIVES = 1e-6

/**
 * Parents of an orphan that nothing is known of: with more it is not kept. As many as a peer is asked for at once; no
 * transaction with as many unconfirmed parents is accepted.
 */
export const MAX_PARENTS = MAX_IN_FLIGHT

/** What of the mempool is asked here: by `txidKey`, and by `binaryString` of the wtxid. */
export interface PoolContents {
  readonly has: (txid: string) => boolean
  readonly hasWtxid: (wtxid: string) => boolean
}

/** The reason for refusal that does not depend on the witness, though it comes where there is one. */
const NONSTANDARD_INPUTS = "bad-txns-nonstandard-inputs"

export class TxDownloads {
  private readonly pool: PoolContents
  private readonly asks: TxRequests
  private readonly orphans: Orphanage
  private readonly refused: RollingFilter
  private readonly confirmed: RollingFilter
  private retried: number | undefined

  constructor(pool: PoolContents, random: Random) {
    const filter = (capacity: number): RollingFilter =>
      new RollingFilter({ capacity, falsePositives: FALSE_POSITIVES, key: sipKey(randomBytes(random, 16)) })
    this.pool = pool
    this.asks = new TxRequests(random)
    this.orphans = new Orphanage(random)
    this.refused = filter(REFUSED_CAPACITY)
    this.confirmed = filter(CONFIRMED_CAPACITY)
  }

  /** Transactions that wait for their parents. */
  get orphanCount(): number {
    return this.orphans.size
  }

  connected(peer: number, options: { readonly preferred: boolean; readonly wtxidRelay: boolean }): void {
    this.asks.connected(peer, options)
  }

  gone(peer: number): void {
    this.asks.gone(peer)
    this.orphans.gone(peer)
  }

  /** Whether a peer may announce more: it did not announce too much that is not dealt with. */
  hears(peer: number): boolean {
    return this.asks.countOf(peer) < MAX_ANNOUNCEMENTS
  }

  /** A peer announces a transaction. */
  announced(peer: number, hash: Bytes, kind: HashKind, now: number): void {
    const key = binaryString(hash)
    if (kind === "wtxid" && this.orphans.has(key)) {
      // The orphan is stored: the announcing peer may have its parents. They are looked for once for each peer.
      if (this.orphans.hasFrom(key, peer) || this.asks.countOf(peer) > MAX_ANNOUNCEMENTS - MAX_PARENTS) return
      const orphan = this.orphans.get(key)
      if (orphan === undefined) return
      const { missing: parents } = this.parentsOf(orphan)
      if (parents.length > 0 && this.askForParents(peer, orphan, parents, now)) this.orphans.announced(key, peer)
    } else if (!this.has(hash, kind)) this.asks.announce(peer, key, kind, now)
  }

  /** What to ask a peer for now; counts as asked. */
  requests(peer: number, now: number): ReadonlyArray<TxRequest> {
    return this.asks.due(peer, now).filter((request) => {
      const { hash, kind } = request
      if (this.has(fromBinaryString(hash), kind)) {
        this.asks.forget(hash)
        return false
      }
      this.asks.requested(peer, hash, now)
      return true
    })
  }

  /** Peers who are to be asked for something now. */
  peersDue(now: number): ReadonlyArray<number> {
    return this.asks.peersDue(now)
  }

  /** A peer does not have what it was asked for. */
  notFound(peer: number, hash: Bytes): void {
    this.asks.answered(peer, binaryString(hash))
  }

  /** A peer sent a transaction. */
  received(peer: number, { hasWitness, txid, wtxid }: Transaction): void {
    this.asks.answered(peer, binaryString(txid))
    if (hasWitness) this.asks.answered(peer, binaryString(wtxid))
  }

  /** Whether a transaction is to be judged, and was not before. */
  isNews({ wtxid }: Transaction): boolean {
    return !this.has(wtxid, "wtxid")
  }

  /** A transaction is in the mempool now, from wherever it came. */
  accepted(transaction: Transaction): void {
    this.forget(transaction)
    this.orphans.remove(binaryString(transaction.wtxid))
    this.orphans.parentCame(transaction)
  }

  /**
   * The mempool refused a transaction. `retry`: it was an orphan. Returns the txids of parents that the peer has to have,
   * as it has the child.
   */
  rejected(
    peer: number,
    transaction: Transaction,
    { kind, reason }: Pick<TransactionRejected, "kind" | "reason">,
    retry: boolean,
    now: number
  ): ReadonlyArray<Bytes> {
    const { hasWitness, txid, wtxid } = transaction
    if (kind === "missing-inputs") return retry ? [] : this.missing(peer, transaction, now)
    this.orphans.remove(binaryString(wtxid))
    // Somebody else's offer of the same was faster.
    if (this.pool.hasWtxid(binaryString(wtxid))) {
      this.forget(transaction)
      return []
    }
    // Without a witness the wtxid is the txid, and that may be fine: somebody took the witness off.
    if (kind === "witness" && !hasWitness) return []
    this.refused.add(wtxid)
    this.asks.forget(binaryString(wtxid))
    if (hasWitness && reason === NONSTANDARD_INPUTS) {
      this.refused.add(txid)
      this.asks.forget(binaryString(txid))
    }
    return []
  }

  /** The next orphan to be judged again, and in whose turn. */
  nextRetry(): { readonly transaction: Transaction; readonly peer: number } | undefined {
    const next = this.orphans.nextRetry(this.retried)
    this.retried = next?.peer
    return next
  }

  /** The tip moved: what was refused may be valid now. */
  tipChanged(): void {
    this.refused.clear()
  }

  /** A block with these transactions became part of the best chain. */
  blockConnected(transactions: ReadonlyArray<Transaction>): void {
    this.orphans.confirmed(transactions)
    for (const transaction of transactions) {
      this.confirmed.add(transaction.txid)
      if (transaction.hasWitness) this.confirmed.add(transaction.wtxid)
      this.forget(transaction)
    }
  }

  /** A block was taken back: what was confirmed may have to come again. */
  blockDisconnected(): void {
    this.confirmed.clear()
  }

  /**
   * Whether a transaction is here or not wanted. By txid an orphan does not count: it may have a witness that somebody
   * made up, and then the true one has to come.
   */
  private has(hash: Bytes, kind: HashKind): boolean {
    const key = binaryString(hash)
    return this.orphans.has(key) || this.confirmed.has(hash) || this.refused.has(hash) ||
      (kind === "wtxid" ? this.pool.hasWtxid(key) : this.pool.has(key))
  }

  private forget({ hasWitness, txid, wtxid }: Transaction): void {
    this.asks.forget(binaryString(txid))
    if (hasWitness) this.asks.forget(binaryString(wtxid))
  }

  /**
   * What is to be known of the parents of a transaction that is not here: whether one was refused, and those that are not
   * here either, up to one more than are asked for.
   */
  private parentsOf({ inputs }: Transaction): { readonly refused: boolean; readonly missing: ReadonlyArray<Bytes> } {
    const seen = new Set<string>()
    const missing: Array<Bytes> = []
    for (const { prevout } of inputs) {
      const txid = prevoutTxid(prevout)
      const key = binaryString(txid)
      if (seen.has(key)) continue
      seen.add(key)
      if (this.refused.has(txid)) return { refused: true, missing: [] }
      if (this.has(txid, "txid")) continue
      missing.push(txid)
      if (missing.length > MAX_PARENTS) break
    }
    return { refused: false, missing }
  }

  /** Notes that a peer who has an orphan has its parents as well; false where it is gone, or announced too much already. */
  private askForParents(peer: number, orphan: Transaction, parents: ReadonlyArray<Bytes>, now: number): boolean {
    if (!this.asks.knows(peer) || this.orphans.hasFrom(binaryString(orphan.wtxid), peer)) return false
    if (this.asks.countOf(peer) + parents.length > MAX_ANNOUNCEMENTS) return false
    for (const txid of parents) this.asks.announce(peer, binaryString(txid), "txid", now)
    return true
  }

  /** Keeps a transaction whose inputs nobody knows, unless a parent was refused. */
  private missing(peer: number, transaction: Transaction, now: number): ReadonlyArray<Bytes> {
    const { txid, wtxid } = transaction
    const parents = this.parentsOf(transaction)
    if (parents.refused) {
      // With whatever witness: it is refused as long as its parent is.
      this.refused.add(txid)
      if (!equal(txid, wtxid)) this.refused.add(wtxid)
      this.forget(transaction)
      return []
    }
    const { missing } = parents
    if (missing.length > MAX_PARENTS) {
      this.forget(transaction)
      return []
    }
    const announcers = new Set([
      peer,
      ...this.asks.candidates(binaryString(txid)),
      ...this.asks.candidates(binaryString(wtxid))
    ])
    for (const announcer of announcers) {
      if (this.askForParents(announcer, transaction, missing, now)) this.orphans.add(transaction, announcer)
    }
    this.forget(transaction)
    return missing
  }
}
