import type * as Effect from "effect/Effect"
import type { Chain } from "../chain/Chain.ts"
import type { SyncStatus } from "../chain/SyncStatus.ts"
import type { FeeEstimator } from "../mempool/fees/FeeEstimator.ts"
import type { Mempool } from "../mempool/Mempool.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { KeysLocked } from "./errors.ts"
import type { WalletDocument } from "./keys/WalletDocument.ts"
import type { Wallet } from "./Wallet.ts"

/**
 * The functions that the parts of a wallet share. The part that registers names pays and gets addresses through the
 * same functions as every other caller.
 */
export interface WalletCore extends
  Pick<
    Wallet,
    | "name"
    | "own"
    | "newAddress"
    | "coins"
    | "transactions"
    | "transaction"
    | "pay"
    | "commit"
    | "lastBlock"
    | "encryption"
  >
{
  readonly chain: typeof Chain.Service
  readonly mempool: typeof Mempool.Service
  readonly fees: typeof FeeEstimator.Service
  readonly status: typeof SyncStatus.Service
  readonly document: () => WalletDocument
  /** Changes wallet.json; ends when the change is on disk. */
  readonly update: (change: (document: WalletDocument) => WalletDocument) => Effect.Effect<void, StorageFailure>
  /** The private key of a script with one key, for salts; `undefined` if the wallet has none. */
  readonly privateKey: (script: Bytes) => Effect.Effect<Bytes | undefined, KeysLocked>
}
