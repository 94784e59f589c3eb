import type { NameScript } from "../protocol/nameOperation.ts"
import type { Transaction } from "../protocol/transaction.ts"

/** A transaction in the mempool. */
export interface PoolEntry {
  readonly transaction: Transaction
  /** Smallest units. */
  readonly fee: number
  /** `fee` with what `prioritisetransaction` added: what counts for mining and eviction. */
  readonly modifiedFee: number
  /** Weight units: the transaction's own, or what its signature operations count for where that is more. */
  readonly weight: number
  /** `weight` in virtual bytes, rounded up. */
  readonly vsize: number
  /** Signature operations as a block counts them. */
  readonly sigopCost: number
  /** When it came: seconds since 1970. */
  readonly time: number
  /** Height of the tip when it came. */
  readonly height: number
  /** Counts acceptances, so that "what came before" can be told. */
  readonly sequence: number
  /** The one name operation among its outputs, if there is one, with its output's index. */
  readonly name: { readonly vout: number; readonly script: NameScript } | undefined
}

/** Why a transaction left the mempool. */
export type RemovalReason = "block" | "conflict" | "replaced" | "expiry" | "size-limit" | "reorg" | "name-conflict"

/** What happened in the mempool. */
export type MempoolEvent =
  | { readonly _tag: "Added"; readonly entry: PoolEntry }
  | { readonly _tag: "Removed"; readonly entry: PoolEntry; readonly reason: RemovalReason }
