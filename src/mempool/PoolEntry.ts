import type { NameScript } from "../protocol/nameOperation.ts"
import type { Transaction } from "../protocol/transaction.ts"

export interface PoolEntry {
  readonly transaction: Transaction
  /** Smallest units. */
  readonly fee: number
  /** `fee` with the delta of `prioritisetransaction`, which decides on mining and eviction. */
  readonly modifiedFee: number
  /** Weight units: the transaction's own weight, or that of its signature operations if higher. */
  readonly weight: number
  /** `weight` in virtual bytes, rounded up. */
  readonly vsize: number
  /** Signature operations as a block counts them. */
  readonly sigopCost: number
  /** Time of arrival: seconds since 1970. */
  readonly time: number
  /** Height of the tip at its arrival. */
  readonly height: number
  /** Number of its acceptance, which orders entries by arrival. */
  readonly sequence: number
  /** Whether it arrived in a package, so that its fee alone does not show what it takes to be mined. */
  readonly inPackage?: boolean
  /** Its only name operation, if any, with the output's index. */
  readonly name: { readonly vout: number; readonly script: NameScript } | undefined
}

/** Why a transaction left the mempool. */
export type RemovalReason = "block" | "conflict" | "replaced" | "expiry" | "size-limit" | "reorg" | "name-conflict"

/** A change of the mempool. `sequence` counts changes from 1, including those without an event. */
export type MempoolEvent =
  | { readonly _tag: "Added"; readonly entry: PoolEntry; readonly sequence: number }
  | {
    readonly _tag: "Removed"
    readonly entry: PoolEntry
    readonly reason: RemovalReason
    readonly sequence: number
  }
