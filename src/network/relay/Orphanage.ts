import { below, type Random } from "../../base/random.ts"
import { type OutpointKey, type PeerId, type WtxidKey, wtxidKey } from "../../protocol/keys.ts"
import { decodeTransaction, outpoint, outpointKey, type Transaction } from "../../protocol/transaction.ts"

// Transactions that spend unknown outputs, stored until their parents arrive (reference/protocol.md 6.9; upstream
// `node/txorphanage.h`). They look like forged ones, so each announcing peer is charged for them. Beyond the limits,
// the peer furthest above its share loses its oldest one, so no peer can evict orphans that another holds within its
// share. The key is the wtxid, as no rule shows which witness is valid without the parents.

export const ORPHANS_RESERVED_WEIGHT = 404_000

/** A scan of all orphans costs one per announcement, and one per ten inputs. */
export const MAX_SCORE = 3_000

/** Maximum weight of a relayed transaction (policy). */
const MAX_WEIGHT = 400_000

export interface OrphanageLimits {
  readonly reservedWeight: number
  readonly maxScore: number
}

/** Larger orphans are stored serialized, in bytes. As objects, 9-byte outputs would take many times their weight. */
const LARGE = 4_096

const kept = (transaction: Transaction): () => Transaction => {
  if (transaction.size < LARGE) return () => transaction
  const bytes = transaction.bytes.slice()
  return () => decodeTransaction(bytes)
}

interface Orphan {
  readonly transaction: () => Transaction
  readonly weight: number
  readonly prevouts: ReadonlyArray<OutpointKey>
  readonly wtxid: WtxidKey
  /** One point per announcement is charged to the peer. The rest, for the inputs, counts once in total. */
  readonly score: number
  readonly announcers: Set<PeerId>
  retry: PeerId | undefined
}

export interface StoredOrphan {
  readonly transaction: Transaction
  readonly from: ReadonlyArray<PeerId>
}

interface Share {
  /** In the order of the peer's announcements. */
  readonly orphans: Set<Orphan>
  weight: number
  score: number
}

export class Orphanage {
  private readonly random: Random
  private readonly limits: OrphanageLimits
  private readonly orphans = new Map<WtxidKey, Orphan>()
  private readonly shares = new Map<PeerId, Share>()
  private readonly spenders = new Map<OutpointKey, Set<Orphan>>()
  private readonly retries = new Set<Orphan>()
  private weight = 0
  private inputScore = 0
  private announcements = 0

  constructor(
    random: Random,
    limits: OrphanageLimits = { reservedWeight: ORPHANS_RESERVED_WEIGHT, maxScore: MAX_SCORE }
  ) {
    this.random = random
    this.limits = limits
  }

  get size(): number {
    return this.orphans.size
  }

  get usage(): { readonly weight: number; readonly score: number } {
    return { weight: this.weight, score: this.announcements + this.inputScore }
  }

  usageOf(peer: PeerId): { readonly count: number; readonly weight: number; readonly score: number } {
    const share = this.shares.get(peer)
    return { count: share?.orphans.size ?? 0, weight: share?.weight ?? 0, score: share?.score ?? 0 }
  }

  has(wtxid: WtxidKey): boolean {
    return this.orphans.has(wtxid)
  }

  get(wtxid: WtxidKey): Transaction | undefined {
    return this.orphans.get(wtxid)?.transaction()
  }

  list(): ReadonlyArray<StoredOrphan> {
    return [...this.orphans.values()]
      .sort((a, b) => a.wtxid < b.wtxid ? -1 : 1)
      .map(({ announcers, transaction }) => ({
        transaction: transaction(),
        from: [...announcers].sort((a, b) => a - b)
      }))
  }

  hasFrom(wtxid: WtxidKey, peer: PeerId): boolean {
    return this.orphans.get(wtxid)?.announcers.has(peer) ?? false
  }

  add(transaction: Transaction, peer: PeerId): void {
    if (transaction.weight > MAX_WEIGHT) return
    const wtxid = wtxidKey(transaction.wtxid)
    const known = this.orphans.get(wtxid)
    this.charge(known ?? this.insert(transaction, wtxid), peer)
  }

  announced(wtxid: WtxidKey, peer: PeerId): void {
    const orphan = this.orphans.get(wtxid)
    if (orphan !== undefined) this.charge(orphan, peer)
  }

  remove(wtxid: WtxidKey): void {
    const orphan = this.orphans.get(wtxid)
    if (orphan === undefined) return
    this.erase(orphan)
    this.trim()
  }

  gone(peer: PeerId): void {
    for (const orphan of [...this.shares.get(peer)?.orphans ?? []]) this.release(orphan, peer)
    this.trim()
  }

  confirmed(transactions: ReadonlyArray<Transaction>): void {
    if (this.orphans.size === 0) return
    for (const { inputs } of transactions) {
      for (const { prevout } of inputs) {
        for (const orphan of [...this.spenders.get(outpointKey(prevout)) ?? []]) this.erase(orphan)
      }
    }
    this.trim()
  }

  /** Each retry is charged to one of the announcers. */
  parentCame({ outputs, txid }: Transaction): void {
    if (this.orphans.size === 0) return
    for (let index = 0; index < outputs.length; index++) {
      for (const orphan of this.spenders.get(outpointKey(outpoint(txid, index))) ?? []) {
        if (orphan.retry !== undefined) continue
        // Selected at random, so that a peer cannot delay the retry by disconnecting.
        orphan.retry = [...orphan.announcers][below(this.random, orphan.announcers.size)]
        this.retries.add(orphan)
      }
    }
  }

  /** Last announced first. */
  *childrenFrom(peer: PeerId, { outputs, txid }: Transaction): Iterable<Transaction> {
    const share = this.shares.get(peer)
    if (share === undefined) return
    const children = new Set<Orphan>()
    for (let index = 0; index < outputs.length; index++) {
      for (const orphan of this.spenders.get(outpointKey(outpoint(txid, index))) ?? []) children.add(orphan)
    }
    if (children.size === 0) return
    for (const orphan of [...share.orphans].reverse()) if (children.has(orphan)) yield orphan.transaction()
  }

  /** The next orphan to retry and its charged announcer, preferably not `last`. It stays stored. */
  nextRetry(last: PeerId | undefined): { readonly transaction: Transaction; readonly peer: PeerId } | undefined {
    let chosen: Orphan | undefined
    for (const orphan of this.retries) {
      chosen ??= orphan
      if (orphan.retry === last) continue
      chosen = orphan
      break
    }
    if (chosen === undefined || chosen.retry === undefined) return undefined
    const peer = chosen.retry
    this.settle(chosen)
    return { transaction: chosen.transaction(), peer }
  }

  nextRetryOf(peer: PeerId): Transaction | undefined {
    for (const orphan of this.retries) {
      if (orphan.retry !== peer) continue
      this.settle(orphan)
      return orphan.transaction()
    }
    return undefined
  }

  private insert(transaction: Transaction, wtxid: WtxidKey): Orphan {
    const score = 1 + Math.floor(transaction.inputs.length / 10)
    const orphan: Orphan = {
      transaction: kept(transaction),
      weight: transaction.weight,
      prevouts: transaction.inputs.map(({ prevout }) => outpointKey(prevout)),
      wtxid,
      score,
      announcers: new Set(),
      retry: undefined
    }
    this.orphans.set(wtxid, orphan)
    this.weight += transaction.weight
    this.inputScore += score - 1
    for (const key of orphan.prevouts) {
      const spenders = this.spenders.get(key)
      if (spenders === undefined) this.spenders.set(key, new Set([orphan]))
      else spenders.add(orphan)
    }
    return orphan
  }

  private charge(orphan: Orphan, peer: PeerId): void {
    if (orphan.announcers.has(peer)) return
    orphan.announcers.add(peer)
    const share = this.shares.get(peer) ?? { orphans: new Set(), weight: 0, score: 0 }
    this.shares.set(peer, share)
    share.orphans.add(orphan)
    share.weight += orphan.weight
    share.score += orphan.score
    this.announcements++
    this.trim()
  }

  private release(orphan: Orphan, peer: PeerId): void {
    const share = this.shares.get(peer)
    if (share === undefined || !orphan.announcers.delete(peer)) return
    share.orphans.delete(orphan)
    share.weight -= orphan.weight
    share.score -= orphan.score
    if (share.orphans.size === 0) this.shares.delete(peer)
    this.announcements--
    if (orphan.retry === peer) this.settle(orphan)
    if (orphan.announcers.size > 0) return
    this.orphans.delete(orphan.wtxid)
    this.weight -= orphan.weight
    this.inputScore -= orphan.score - 1
    for (const key of orphan.prevouts) {
      const spenders = this.spenders.get(key)
      spenders?.delete(orphan)
      if (spenders?.size === 0) this.spenders.delete(key)
    }
  }

  private erase(orphan: Orphan): void {
    for (const peer of [...orphan.announcers]) this.release(orphan, peer)
  }

  private settle(orphan: Orphan): void {
    orphan.retry = undefined
    this.retries.delete(orphan)
  }

  private get isOverLimit(): boolean {
    const { score, weight } = this.usage
    return score > this.limits.maxScore || weight > this.limits.reservedWeight * Math.max(1, this.shares.size)
  }

  /** The peer furthest above its share loses its oldest announcement without a pending retry, otherwise the oldest. */
  private trim(): void {
    if (!this.isOverLimit) return
    const scoreShare = Math.max(1, Math.floor(this.limits.maxScore / Math.max(1, this.shares.size)))
    const excess = ({ score, weight }: Share): number =>
      Math.max(score / scoreShare, weight / this.limits.reservedWeight)
    while (this.isOverLimit) {
      let worst: PeerId | undefined
      let most = -1
      for (const [peer, share] of this.shares) {
        const its = excess(share)
        if (its > most || (its === most && peer > (worst ?? -1))) [worst, most] = [peer, its]
      }
      const share = worst === undefined ? undefined : this.shares.get(worst)
      if (worst === undefined || share === undefined) return
      let oldest: Orphan | undefined
      for (const orphan of share.orphans) {
        oldest ??= orphan
        if (orphan.retry === worst) continue
        oldest = orphan
        break
      }
      if (oldest === undefined) return
      this.release(oldest, worst)
    }
  }
}
