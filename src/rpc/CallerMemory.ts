import type { Account, BudgetKind, MemoryBudget } from "../base/MemoryBudget.ts"

/** What one caller may hold, as a part of what there is for all: two that ask for much do not shut out a third. */
const SHARE = 0.5

/** Calls whose text and what is made of it take no more are not counted: nearly all. */
const LIGHT = 16_384

const nothing = (): void => {}

/** Bytes of a kind that one caller may hold. */
export const callerLimit = (budget: MemoryBudget, kind: BudgetKind): number => Math.floor(budget.limit(kind) * SHARE)

/** Room for what is kept for a caller: the bytes of an answer until he has read them. */
export interface AnswerMemory {
  /** Bytes that he may hold at most. */
  readonly limit: number
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  /** Whether his connection was ended for the room that it held: what is made for him is in vain. */
  readonly isLost: () => boolean
}

/**
 * The part of the node's memory budget that one connection holds. Its account is opened with the first bytes that count:
 * most connections never hold any. When others need the room and this one holds the most, its connection is ended.
 */
export class CallerMemory {
  readonly answers: AnswerMemory
  readonly #budget: MemoryBudget
  readonly #owner: string
  readonly #end: () => void
  #account: Account | undefined
  #closed = false
  #evicted = false
  /** Calls that are being carried out and counted. */
  #calls = 0

  constructor(budget: MemoryBudget, owner: string, end: () => void) {
    this.#budget = budget
    this.#owner = owner
    this.#end = end
    this.answers = {
      limit: callerLimit(budget, "rpc_answers"),
      take: (bytes) => this.take("rpc_answers", bytes),
      give: (bytes) => this.give("rpc_answers", bytes),
      isLost: () => this.#evicted
    }
  }

  /** Counts bytes; false where there is no room for them, and nothing is counted. */
  take(kind: BudgetKind, bytes: number): boolean {
    if (this.#closed) return false
    this.#account ??= this.#budget.open({
      owner: this.#owner,
      share: SHARE,
      evictable: true,
      evict: () => {
        this.#evicted = true
        this.#end()
      }
    })
    return this.#account.take(kind, bytes)
  }

  give(kind: BudgetKind, bytes: number): void {
    this.#account?.give(kind, bytes)
  }

  /** Counts what a call holds while it is carried out; returns what gives it back, `undefined` where there is no room. */
  hold(weight: number): (() => void) | undefined {
    if (weight <= LIGHT) return nothing
    if (!this.take("rpc_bodies", weight)) return undefined
    this.#calls += 1
    return () => {
      this.give("rpc_bodies", weight)
      this.#calls -= 1
      if (this.#closed) this.close()
    }
  }

  /** Whether he holds more than others while the room runs short, and is to be read from slowly. */
  isTight(kind: BudgetKind): boolean {
    return this.#account !== undefined && this.#budget.isTight(kind, this.#account)
  }

  /** The connection is gone, and what was kept for it; but a call that goes on is counted until it ends. */
  close(): void {
    this.#closed = true
    if (this.#calls === 0) this.#account?.close()
  }
}

/** Where nothing is counted: for callers within the process. */
export const UNCOUNTED: AnswerMemory = {
  limit: Number.MAX_SAFE_INTEGER,
  take: () => true,
  give: () => {},
  isLost: () => false
}
