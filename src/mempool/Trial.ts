import type { WtxidKey } from "../protocol/keys.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { TransactionRejected } from "./errors.ts"
import type { PoolEntry } from "./PoolEntry.ts"

/** The result of a test of a transaction (`testmempoolaccept`). */
export type Trial =
  | {
    readonly type: "accepted"
    readonly entry: PoolEntry
    /** Fee rate of the package that it was checked with, smallest units per kvB. */
    readonly effectiveFeeRate: number
    readonly replaced: ReadonlyArray<PoolEntry>
  }
  | { readonly type: "rejected"; readonly rejected: TransactionRejected }
  /** Another transaction of its package was refused first, or the whole package for this reason. */
  | { readonly type: "unjudged"; readonly packageError: string | undefined }

/** The outcome for a transaction of an offered package (`submitpackage`). */
export type PackageOutcome =
  | {
    readonly type: "accepted"
    readonly entry: PoolEntry
    /** Fee rate at which it was accepted, smallest units per kvB. */
    readonly effectiveFeeRate: number
    /** The transactions whose fees and sizes count in that rate. */
    readonly includes: ReadonlyArray<Transaction>
    readonly replaced: ReadonlyArray<PoolEntry>
  }
  /** It was in the mempool before. */
  | { readonly type: "present"; readonly entry: PoolEntry }
  /** The mempool has it with another witness. This one was ignored. */
  | { readonly type: "other-witness"; readonly entry: PoolEntry }
  | { readonly type: "rejected"; readonly rejected: TransactionRejected }

export interface PackageResult {
  /** The reference node's text; `undefined` if the mempool now has all its transactions. */
  readonly refused: string | undefined
  /** For each transaction; empty if the package was refused as such. */
  readonly outcomes: ReadonlyMap<WtxidKey, PackageOutcome>
}
