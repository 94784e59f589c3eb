import type { BudgetKind, MemoryAccount, MemoryBudget } from "../base/MemoryBudget.ts"

/** The part of the budget that one caller may hold: two large callers do not shut out a third. */
const SHARE = 0.5

/** Bytes up to which a call is not counted. Nearly all calls stay below. */
const LIGHT = 16_384

const nothing = (): void => {}

export const callerLimit = (budget: MemoryBudget, kind: BudgetKind): number => Math.floor(budget.limit(kind) * SHARE)

/** The memory that one caller's answers may take until the caller has read them. */
export interface AnswerMemory {
  readonly limit: number
  readonly take: (bytes: number) => boolean
  readonly give: (bytes: number) => void
  /** Whether the node closed the connection to free its memory: answers for it are then useless. */
  readonly isLost: () => boolean
}

/**
 * The part of the node's memory budget that one connection holds. The account opens with the first counted bytes: most
 * connections never hold any. When other connections need memory and this one holds the most, the node closes it.
 */
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

  /** Counts bytes. Returns false, and counts nothing, if the budget has no room for them. */
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

  /**
   * Counts the bytes that a call holds while it runs. Returns the function that releases them; `undefined` without
   * room.
   */
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

  /** Whether the budget runs short and this caller holds more than others: the server then reads from it slowly. */
  isTight(kind: BudgetKind): boolean {
    return this.#account !== undefined && this.#budget.isTight(kind, this.#account)
  }

  /** Closes the account of a closed connection. A call that still runs stays counted until it ends. */
  close(): void {
    this.#closed = true
    if (this.#calls === 0) this.#account?.close()
  }
}

/** Counts nothing: for callers within the process. */
export const UNCOUNTED: AnswerMemory = {
  limit: Number.MAX_SAFE_INTEGER,
  take: () => true,
  give: () => {},
  isLost: () => false
}
