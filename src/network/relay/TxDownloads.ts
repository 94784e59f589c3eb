import { bytesFrom, type Random } from "../../base/random.ts"
import { RollingFilter } from "../../base/RollingFilter.ts"
import { sipKey } from "../../base/siphash.ts"
import type { TransactionRejected } from "../../mempool/errors.ts"
import { type Bytes, concat, equal, fromBinaryString } from "../../protocol/bytes.ts"
import { sha256 } from "../../protocol/hash.ts"
import { type Millis, type PeerId, type TxidKey, txidKey, type WtxidKey, wtxidKey } from "../../protocol/keys.ts"
import { prevoutTxid, type Transaction } from "../../protocol/transaction.ts"
import { Orphanage, type StoredOrphan } from "./Orphanage.ts"
import { type AskedPeer, type HashKind, MAX_IN_FLIGHT, type TxRequest, TxRequests } from "./TxRequests.ts"

// Decides which announced transactions are requested and validated, and how a result affects the others (upstream
// `node/txdownloadman_impl.cpp`). Times are milliseconds of a monotonic clock.
//
// ```
//  inv ──► announced ──► TxRequests ──► requests ──► getdata ──► tx ──► isNews ──► mempool
//                             ▲                                                    │     │
//                             │ parents                  Orphanage ◄── missing ── refused  accepted
//                             └──────────────────────────── │ ▲                  │ │     │
//                                                 retried ◄─┘ └──────────────────┼─┼─────┘
//                                                                refused filter ◄┘ │
//                       child of the same peer ──► package ──► mempool  ◄──── underpaid filter
// ```

const REFUSED_CAPACITY = 120_000

const CONFIRMED_CAPACITY = 48_000

const FALSE_POSITIVES = 1e-6

/** Unknown parents of a stored orphan, at most those in flight. */
export const MAX_PARENTS = MAX_IN_FLIGHT

export interface PoolContents {
  readonly has: (txid: TxidKey) => boolean
  readonly hasWtxid: (wtxid: WtxidKey) => boolean
}

/** The only refusal of a transaction with witness that does not depend on the witness. */
const NONSTANDARD_INPUTS = "bad-txns-nonstandard-inputs"

export interface Consequences {
  /** Txids, which the peer must have because it has the child. */
  readonly parents: ReadonlyArray<Bytes>
  /** An orphan that may pay for the transaction, which was refused only for its fee. */
  readonly child: Transaction | undefined
}

const NOTHING: Consequences = { parents: [], child: undefined }

const packageHash = (parent: Transaction, child: Transaction): Bytes => sha256(concat(parent.wtxid, child.wtxid))

export interface Rejected {
  readonly refusal: Pick<TransactionRejected, "kind" | "reason">
  /** Judged before, as an orphan or alone and now in a package. */
  readonly retry: boolean
  readonly now: Millis
}

interface MissingParents {
  readonly parents: ReadonlyArray<Bytes>
  readonly now: Millis
}

export class TxDownloads {
  private readonly pool: PoolContents
  private readonly asks: TxRequests
  private readonly orphans: Orphanage
  private readonly refused: RollingFilter
  /** Refused only for their fee, and packages of them with a child, by `packageHash`. */
  private readonly underpaid: RollingFilter
  private readonly confirmed: RollingFilter
  private retried: PeerId | undefined

  constructor(pool: PoolContents, random: Random) {
    const filter = (capacity: number): RollingFilter =>
      new RollingFilter({ capacity, falsePositives: FALSE_POSITIVES, key: sipKey(bytesFrom(random, 16)) })
    this.pool = pool
    this.asks = new TxRequests(random)
    this.orphans = new Orphanage(random)
    this.refused = filter(REFUSED_CAPACITY)
    this.underpaid = filter(REFUSED_CAPACITY)
    this.confirmed = filter(CONFIRMED_CAPACITY)
  }

  get orphanCount(): number {
    return this.orphans.size
  }

  orphanList(): ReadonlyArray<StoredOrphan> {
    return this.orphans.list()
  }

  connected(peer: PeerId, options: AskedPeer): void {
    this.asks.connected(peer, options)
  }

  gone(peer: PeerId): void {
    this.asks.gone(peer)
    this.orphans.gone(peer)
  }

  /** Whether a peer may announce more, counting the `looked` items of a message. */
  hears(peer: PeerId, looked: number): boolean {
    return Math.max(looked, this.asks.countOf(peer)) < this.asks.limitOf(peer)
  }

  announced(
    peer: PeerId,
    { hash, kind, now }: { readonly hash: Bytes; readonly kind: HashKind; readonly now: Millis }
  ): void {
    const wtxid = kind === "wtxid" ? wtxidKey(hash) : undefined
    if (wtxid !== undefined && this.orphans.has(wtxid)) {
      // The orphan is stored, and the announcing peer may have its parents, which are requested once per peer.
      if (this.orphans.hasFrom(wtxid, peer) || this.asks.countOf(peer) > this.asks.limitOf(peer) - MAX_PARENTS) return
      const orphan = this.orphans.get(wtxid)
      if (orphan === undefined) return
      const { missing: parents } = this.parentsOf(orphan)
      if (parents.length > 0 && this.askForParents(peer, orphan, { parents, now })) this.orphans.announced(wtxid, peer)
    } else if (!this.has(hash, kind) && !this.underpaid.has(hash)) {
      this.asks.announce(peer, { hash: wtxid ?? txidKey(hash), kind, now })
    }
  }

  requests(peer: PeerId, now: number): ReadonlyArray<TxRequest> {
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

  peersDue(now: number): ReadonlyArray<PeerId> {
    return this.asks.peersDue(now)
  }

  notFound(peer: PeerId, hash: Bytes, kind: HashKind): void {
    this.asks.answered(peer, kind === "wtxid" ? wtxidKey(hash) : txidKey(hash))
  }

  received(peer: PeerId, { hasWitness, txidKey, wtxid }: Transaction): void {
    this.asks.answered(peer, txidKey)
    if (hasWitness) this.asks.answered(peer, wtxidKey(wtxid))
  }

  isNews({ wtxid }: Transaction): boolean {
    return !this.has(wtxid, "wtxid") && !this.underpaid.has(wtxid)
  }

  /**
   * Others' orphans do not count, so they cannot hide the paying child. Newest first, as it may replace older ones.
   * Source: upstream `TxDownloadManagerImpl::Find1P1CPackage`.
   */
  childFor(peer: PeerId, parent: Transaction): Transaction | undefined {
    if (!this.underpaid.has(parent.wtxid) || this.has(parent.wtxid, "wtxid")) return undefined
    for (const child of this.orphans.childrenFrom(peer, parent)) {
      if (!this.underpaid.has(packageHash(parent, child)) && !this.refused.has(child.txid)) return child
    }
    return undefined
  }

  packageRejected(parent: Transaction, child: Transaction): void {
    this.underpaid.add(packageHash(parent, child))
  }

  accepted(transaction: Transaction): void {
    this.forget(transaction)
    this.orphans.remove(wtxidKey(transaction.wtxid))
    this.orphans.parentCame(transaction)
  }

  rejected(
    peer: PeerId,
    transaction: Transaction,
    { now, refusal: { kind, reason }, retry }: Rejected
  ): Consequences {
    const { hasWitness, txid, wtxid } = transaction
    if (kind === "missing-inputs") {
      return retry ? NOTHING : { parents: this.missing(peer, transaction, now), child: undefined }
    }
    this.orphans.remove(wtxidKey(wtxid))
    // A copy from another source was accepted first.
    if (this.pool.hasWtxid(wtxidKey(wtxid))) {
      this.forget(transaction)
      return NOTHING
    }
    // Without a witness the wtxid is the txid, which may be valid, as a relaying node may have stripped the witness.
    if (kind === "witness" && !hasWitness) return NOTHING
    const filter = kind === "underpaid" ? this.underpaid : this.refused
    filter.add(wtxid)
    this.asks.forget(wtxidKey(wtxid))
    if (hasWitness && reason === NONSTANDARD_INPUTS) {
      this.refused.add(txid)
      this.asks.forget(txidKey(txid))
    }
    return kind === "underpaid" && !retry ? { parents: [], child: this.childFor(peer, transaction) } : NOTHING
  }

  nextRetry(): { readonly transaction: Transaction; readonly peer: PeerId } | undefined {
    const next = this.orphans.nextRetry(this.retried)
    this.retried = next?.peer
    return next
  }

  nextRetryOf(peer: PeerId): Transaction | undefined {
    return this.orphans.nextRetryOf(peer)
  }

  /** Refused transactions may be valid after a change of the tip. */
  tipChanged(): void {
    this.refused.clear()
    this.underpaid.clear()
  }

  blockConnected(transactions: ReadonlyArray<Transaction>): void {
    this.orphans.confirmed(transactions)
    for (const transaction of transactions) {
      this.confirmed.add(transaction.txid)
      if (transaction.hasWitness) this.confirmed.add(transaction.wtxid)
      this.forget(transaction)
    }
  }

  blockDisconnected(): void {
    this.confirmed.clear()
  }

  /** Whether a transaction is stored or unwanted. An orphan does not count by txid, as its witness may be forged. */
  private has(hash: Bytes, kind: HashKind): boolean {
    // The wtxid of a transaction without witness is its txid.
    return this.orphans.has(wtxidKey(hash)) || this.confirmed.has(hash) || this.refused.has(hash) ||
      (kind === "wtxid" ? this.pool.hasWtxid(wtxidKey(hash)) : this.pool.has(txidKey(hash)))
  }

  private forget({ hasWitness, txidKey, wtxid }: Transaction): void {
    this.asks.forget(txidKey)
    if (hasWitness) this.asks.forget(wtxidKey(wtxid))
  }

  /** Whether a parent was refused, or two for their fees. Stops one parent beyond the limit. */
  private parentsOf({ inputs }: Transaction): { readonly refused: boolean; readonly missing: ReadonlyArray<Bytes> } {
    const seen = new Set<TxidKey>()
    const missing: Array<Bytes> = []
    let underpaid = 0
    for (const { prevout } of inputs) {
      const txid = prevoutTxid(prevout)
      const key = txidKey(txid)
      if (seen.has(key)) continue
      seen.add(key)
      if (this.underpaid.has(txid) && !this.pool.has(key)) underpaid++
      if (this.refused.has(txid) || underpaid > 1) return { refused: true, missing: [] }
      if (this.has(txid, "txid")) continue
      missing.push(txid)
      if (missing.length > MAX_PARENTS) break
    }
    return { refused: false, missing }
  }

  private askForParents(peer: PeerId, orphan: Transaction, { now, parents }: MissingParents): boolean {
    if (!this.asks.knows(peer) || this.orphans.hasFrom(wtxidKey(orphan.wtxid), peer)) return false
    if (this.asks.countOf(peer) + parents.length > this.asks.limitOf(peer)) return false
    for (const txid of parents) this.asks.announce(peer, { hash: txidKey(txid), kind: "txid", now })
    return true
  }

  private missing(peer: PeerId, transaction: Transaction, now: number): ReadonlyArray<Bytes> {
    const { txid, wtxid } = transaction
    const parents = this.parentsOf(transaction)
    if (parents.refused) {
      // With any witness: it is refused as long as its parent is.
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
      ...this.asks.candidates(transaction.txidKey),
      ...this.asks.candidates(wtxidKey(wtxid))
    ])
    for (const announcer of announcers) {
      if (this.askForParents(announcer, transaction, { parents: missing, now })) {
        this.orphans.add(transaction, announcer)
      }
    }
    this.forget(transaction)
    return missing
  }
}
