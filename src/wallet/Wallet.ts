import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Follower } from "../chain/write/Follower.ts"
import type { Bytes } from "../protocol/bytes.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { WalletRecovery } from "./keys/recovery.ts"
import type { WalletVault } from "./keys/Vault.ts"
import type { WalletKeys } from "./keys/WalletKeys.ts"
import type { WalletLedger } from "./ledger/WalletLedger.ts"
import type { Registration, WalletNames } from "./names/WalletNames.ts"
import type { WalletPayments } from "./payments/WalletPayments.ts"
import type { WalletRules } from "./WalletRules.ts"

/** Every change is on disk before it is returned or sent. */
export interface Wallet {
  /** `""` for the default wallet. */
  readonly name: string
  readonly path: string
  readonly rules: WalletRules
  readonly keys: WalletKeys
  readonly ledger: WalletLedger
  readonly payments: WalletPayments
  readonly names: WalletNames
  readonly vault: WalletVault
  readonly recovery: WalletRecovery
  /** Whether payments avoid coins of addresses that were spent from, by default. */
  readonly avoidsReuse: () => boolean
  readonly setAvoidReuse: (on: boolean) => Effect.Effect<void, StorageFailure>
  /** The caller registers it with the chain. */
  readonly follower: Follower
  /** Waits until the wallet has rebroadcast and done what the blocks so far call for. */
  readonly settled: Effect.Effect<void>
  /** From now on. A slow subscriber misses the oldest. */
  readonly changes: Stream.Stream<WalletEvent>
}

/** A new transaction or state change (`-walletnotify`). */
export interface TransactionChange {
  /** `""` for the default wallet. */
  readonly wallet: string
  /** Wire order. */
  readonly txid: Bytes
  /** `undefined` while unconfirmed. */
  readonly block: { readonly height: number; readonly hash: Bytes } | undefined
}

export type WalletEvent =
  | { readonly _tag: "TransactionAdded"; readonly txid: Bytes }
  /** Confirmed, rescanned, disconnected by a reorg, or made impossible by a block. */
  | { readonly _tag: "TransactionMoved"; readonly txid: Bytes }
  | { readonly _tag: "RegistrationMoved"; readonly registration: Registration }
