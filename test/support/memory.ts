import { type MemoryAccount, MemoryBudget } from "../../src/base/MemoryBudget.ts"

/** A budget larger than any test needs. */
export const ampleBudget = (): MemoryBudget => new MemoryBudget(1_000_000_000)

/** The account of a peer in such a budget. */
export const ampleAccount = (): MemoryAccount =>
  ampleBudget().open({ owner: "fake", share: 1, evictable: true, evict: () => {} })
