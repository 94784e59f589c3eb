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
