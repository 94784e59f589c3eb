import type { BudgetKind, MemoryAccount, MemoryBudget } from "../base/MemoryBudget.ts"

/** One caller's share of the budget: two large callers do not shut out a third. */
const SHARE = 0.5

/** Calls up to this size, nearly all, are not counted. */
const LIGHT = 16_384

const nothing = (): void => {}

export const callerLimit = (budget: MemoryBudget, kind: BudgetKind): number => Math.floor(budget.limit(kind) * SHARE)

/** Memory of one caller's unread answers. */
export interface AnswerMemory {
  readonly limit: number
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  /** Whether the node closed the connection to free memory, so that answers are useless. */
  readonly isLost: () => boolean
}

/** A connection's part of the memory budget. If others need memory, the node closes the largest holder. */
export class CallerMemory {
  readonly answers: AnswerMemory
  readonly #budget: MemoryBudget
  readonly #owner: string
  readonly #end: () => void
  #account: MemoryAccount | undefined
  #closed = false
  #evicted = false
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

  /** Returns false and counts nothing if the budget is used up. */
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

  /** Counts bytes of a running call. Returns their release; `undefined` without room. */
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

  /** The budget runs short and this caller holds more than others. The server then reads from it slowly. */
  isTight(kind: BudgetKind): boolean {
    return this.#account !== undefined && this.#budget.isTight(kind, this.#account)
  }

  /** A running call stays counted until it ends. */
  close(): void {
    this.#closed = true
    if (this.#calls === 0) this.#account?.close()
  }
}

/** For callers within the process. */
export const UNCOUNTED: AnswerMemory = {
  limit: Number.MAX_SAFE_INTEGER,
  take: () => true,
  give: () => {},
  isLost: () => false
}
