import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { getHeapStatistics } from "node:v8"

/**
 * Limits the memory that peers and RPC callers can make this node hold. Their data (an unfinished frame, a waiting
 * message, a request body, an unread answer) is counted in an account before it is kept, until it is dropped.
 *
 *   take ──within the limits──▶ granted
 *     ├─ the account is above its own limit ─────────────────────────▶ refused
 *     └─ the kind is full ── the largest holder is another account ──▶ that one is evicted, then granted
 *                         └─ this account is the largest holder ─────▶ refused
 *
 * An account that cannot be evicted (a peer that this node or its operator chose) never counts as the largest holder:
 * evictable accounts make room for it, as long as there are any.
 *
 * Invariants: the sum of all accounts of a kind is at most the limit of the kind; the limits of all kinds together are
 * the total. A closed account holds nothing.
 */

/** The purpose of the bytes, a label of `svcd_memory_budget_bytes`. */
export const BUDGET_KINDS = [
  "frames",
  "messages",
  "compact_blocks",
  "outbox",
  "rpc_bodies",
  "rpc_answers",
  "electrum"
] as const

export type BudgetKind = (typeof BUDGET_KINDS)[number]

/** Parts of the total; their sum is 1. */
const SHARES: Readonly<Record<BudgetKind, number>> = {
  // Payloads whose last byte has not arrived.
  frames: 0.2,
  // Decoded messages of peers, inventories included, before they are handled.
  messages: 0.2,
  compact_blocks: 0.05,
  // Data to send to peers.
  outbox: 0.1,
  // As bytes and as values.
  rpc_bodies: 0.2,
  // Batches included, until the caller has read them.
  rpc_answers: 0.2,
  // Sessions and subscriptions of Electrum clients.
  electrum: 0.05
}

const HEAP_SHARE = 0.4

/** Milliseconds that an account waits for room. Then `take` decides. */
const LONGEST_WAIT = 5_000

/** Waiting accounts checked per return of bytes. A small limit spreads their wake-up. */
const MOST_LOOKED_AT = 8

/** For a heap of this many bytes (`v8.getHeapStatistics().heap_size_limit`). */
export const budgetOfHeap = (heapLimit: number): number => Math.floor(heapLimit * HEAP_SHARE)

export type BudgetAction = "refused" | "evicted"

export type BudgetListener = (event: {
  readonly kind: BudgetKind
  readonly action: BudgetAction
  readonly owner: string
  readonly held: number
}) => void

export interface MemoryAccount {
  /** May evict another account. Returns false at a limit: the owner then drops its data. */
  readonly take: (kind: BudgetKind, bytes: number) => boolean
  readonly give: (kind: BudgetKind, bytes: number) => void
  readonly held: (kind: BudgetKind) => number
  /** Gives everything back, once. A closed account takes nothing more. */
  readonly close: () => void
}

export interface AccountOptions {
  /** For the log: `peer 5`, `caller 127.0.0.1`. */
  readonly owner: string
  /** The part of a kind's limit, 0 to 1, that this account may take alone. */
  readonly share: number
  /** False for a peer or caller that the operator chose. */
  readonly evictable: boolean
  /** Ends the owner, which closes the account. Called during the `take` of another account. */
  readonly evict: (kind: BudgetKind) => void
}

interface Waiter {
  readonly isTight: () => boolean
  readonly go: () => void
}

interface Holder extends AccountOptions {
  readonly bytes: Map<BudgetKind, number>
  open: boolean
}

export class MemoryBudget {
  readonly total: number
  private readonly holders = new Set<Holder>()
  private readonly used = new Map<BudgetKind, number>()
  private readonly listeners = new Set<BudgetListener>()
  /** The longest wait first. */
  private readonly waiters = new Set<Waiter>()

  constructor(total: number) {
    this.total = total
  }

  limit(kind: BudgetKind): number {
    return Math.floor(this.total * SHARES[kind])
  }

  held(kind: BudgetKind): number {
    return this.used.get(kind) ?? 0
  }

  isTight(kind: BudgetKind, account: MemoryAccount): boolean {
    const used = this.held(kind)
    return used > this.limit(kind) / 2 && account.held(kind) > used / Math.max(1, this.holders.size)
  }

  /** Waits while the account is tight in one of the kinds, for at most five seconds. */
  room(account: MemoryAccount, kinds: ReadonlyArray<BudgetKind>): Effect.Effect<void> {
    const isTight = (): boolean => kinds.some((kind) => this.isTight(kind, account))
    const room = Effect.async<void>((resume) => {
      const waiter: Waiter = { isTight, go: () => resume(Effect.void) }
      this.waiters.add(waiter)
      return Effect.sync(() => void this.waiters.delete(waiter))
    })
    return Effect.suspend(() => isTight() ? Effect.raceFirst(room, Effect.sleep(LONGEST_WAIT)) : Effect.void)
  }

  /** Wakes one account that is no longer tight. Its next `take` or `give` wakes the next one. */
  private callNext(): void {
    let looked = 0
    for (const waiter of this.waiters) {
      this.waiters.delete(waiter)
      if (!waiter.isTight()) return waiter.go()
      this.waiters.add(waiter)
      if (++looked === MOST_LOOKED_AT) return
    }
  }

  listen(listener: BudgetListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  open(options: AccountOptions): MemoryAccount {
    const holder: Holder = { ...options, bytes: new Map(), open: true }
    this.holders.add(holder)
    return {
      take: (kind, bytes) => this.take(holder, kind, bytes),
      give: (kind, bytes) => this.add(holder, kind, -bytes),
      held: (kind) => holder.bytes.get(kind) ?? 0,
      close: () => this.close(holder)
    }
  }

  private take(holder: Holder, kind: BudgetKind, bytes: number): boolean {
    if (!holder.open) return false
    const limit = this.limit(kind)
    const wanted = (holder.bytes.get(kind) ?? 0) + bytes
    if (wanted > limit * holder.share) return this.refuse(holder, kind)
    while (this.held(kind) + bytes > limit) {
      const largest = this.largest(kind, holder)
      if (largest === undefined) return this.refuse(holder, kind)
      if (holder.evictable && (largest.bytes.get(kind) ?? 0) < wanted) return this.refuse(holder, kind)
      this.tell(largest, kind, "evicted")
      // Closed first, to make room at once, even if the owner takes a while to end.
      this.close(largest)
      largest.evict(kind)
    }
    this.add(holder, kind, bytes)
    return true
  }

  private refuse(holder: Holder, kind: BudgetKind): false {
    this.tell(holder, kind, "refused")
    return false
  }

  private largest(kind: BudgetKind, asker: Holder): Holder | undefined {
    let largest: Holder | undefined
    for (const holder of this.holders) {
      if (holder === asker || !holder.evictable || (holder.bytes.get(kind) ?? 0) === 0) continue
      if (largest === undefined || (holder.bytes.get(kind) ?? 0) > (largest.bytes.get(kind) ?? 0)) largest = holder
    }
    return largest
  }

  private add(holder: Holder, kind: BudgetKind, bytes: number): void {
    if (!holder.open) return
    // Never below zero: bytes given back twice must not create room.
    const change = Math.max(bytes, -(holder.bytes.get(kind) ?? 0))
    holder.bytes.set(kind, (holder.bytes.get(kind) ?? 0) + change)
    this.used.set(kind, this.held(kind) + change)
    if (change < 0 && this.waiters.size > 0) this.callNext()
  }

  private close(holder: Holder): void {
    if (!holder.open) return
    for (const [kind, bytes] of holder.bytes) this.add(holder, kind, -bytes)
    holder.open = false
    this.holders.delete(holder)
  }

  private tell(holder: Holder, kind: BudgetKind, action: BudgetAction): void {
    const held = holder.bytes.get(kind) ?? 0
    for (const listener of this.listeners) listener({ kind, action, owner: holder.owner, held })
  }
}

export class Budget extends Context.Tag("svcd/Budget")<Budget, MemoryBudget>() {}

export const layer: Layer.Layer<Budget> = Layer.sync(
  Budget,
  () => new MemoryBudget(budgetOfHeap(getHeapStatistics().heap_size_limit))
)
