import type { WtxidKey } from "../protocol/keys.ts"
import type { Transaction } from "../protocol/transaction.ts"
import type { TransactionRejected } from "./errors.ts"
import type { PoolEntry } from "./PoolEntry.ts"

/** The result of a test of a transaction (`testmempoolaccept`). */
export type Trial =
  | {
    readonly type: "accepted"
    readonly entry: PoolEntry
    /** Fee rate of the package that it was checked with, smallest units a kvB. */
    readonly effectiveFeeRate: number
    readonly replaced: ReadonlyArray<PoolEntry>
  }
  | { readonly type: "rejected"; readonly rejected: TransactionRejected }
  /** Another transaction of its package was refused first, or the package as a whole, for this reason. */
  | { readonly type: "unjudged"; readonly packageError: string | undefined }

/** What became of a transaction of an offered package (`submitpackage`). */
export type PackageOutcome =
  | {
    readonly type: "accepted"
    readonly entry: PoolEntry
    /** Fee rate at which it was accepted, smallest units a kvB. */
    readonly effectiveFeeRate: number
    /** The transactions whose fees and sizes are in that rate. */
    readonly includes: ReadonlyArray<Transaction>
    readonly replaced: ReadonlyArray<PoolEntry>
  }
  /** It was in the mempool before. */
  | { readonly type: "present"; readonly entry: PoolEntry }
  /** The mempool has it with another witness, and this one was ignored. */
  | { readonly type: "other-witness"; readonly entry: PoolEntry }
  | { readonly type: "rejected"; readonly rejected: TransactionRejected }

/** The result of an offered package. */
export interface PackageResult {
  /** The reference node's text; `undefined` if the mempool has all its transactions now. */
  readonly refused: string | undefined
  /** For each transaction, or for none if the package was refused before any was looked at. */
  readonly outcomes: ReadonlyMap<WtxidKey, PackageOutcome>
}
