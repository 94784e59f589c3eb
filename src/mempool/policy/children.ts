import type { Pool } from "../Pool.ts"
import type { PoolEntry } from "../PoolEntry.ts"
import { dustOutputs } from "./dust.ts"
import type { Policy } from "./Policy.ts"
import { trucTakesChild } from "./truc.ts"

/**
 * Whether the pool would take a new transaction of a version that spends outputs of a pool transaction, as far as that
 * one decides. Wallets ask it for each unconfirmed coin, to choose none that makes a payment invalid.
 */
export const takesChild = (
  pool: Pool,
  parent: PoolEntry,
  { policy, version }: { readonly version: number; readonly policy: Policy }
): boolean =>
  // Dust in the pool has its spender, and every child has to spend it (`checkDustSpent`).
  (!policy.requireStandard || dustOutputs(parent.transaction, policy.dustFeeRate).length === 0) &&
  trucTakesChild(pool, parent, version)
