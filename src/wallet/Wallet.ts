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

/** One wallet. Every change is on disk before it is returned or sent. */
export interface Wallet {
  /** `""` for the default wallet. */
  readonly name: string
  /** The path of its file. */
  readonly path: string
  /** The operator's rules for wallets. */
  readonly rules: WalletRules
  /** Keys, scripts, addresses, labels. */
  readonly keys: WalletKeys
  /** Balances, coins, transactions. */
  readonly ledger: WalletLedger
  /** Payments, fee bumps, queued transactions. */
  readonly payments: WalletPayments
  /** Name operations, registrations, renewals. */
  readonly names: WalletNames
  /** The passphrase and the lock. */
  readonly vault: WalletVault
  /** The words, and copies of the file. */
  readonly recovery: WalletRecovery
  /** Whether payments leave out coins of addresses that the wallet has spent from, unless the caller wants them. */
  readonly avoidsReuse: () => boolean
  readonly setAvoidReuse: (on: boolean) => Effect.Effect<void, StorageFailure>
  /** To be registered with the chain. */
  readonly follower: Follower
  /** Waits until the wallet has offered again and continued what the blocks so far call for. */
  readonly settled: Effect.Effect<void>
  /** Its events from now on. A slow subscriber misses the oldest. */
  readonly changes: Stream.Stream<WalletEvent>
}

/** A transaction of a wallet that is new or has another state (`-walletnotify`). */
export interface TransactionChange {
  /** `""` for the default wallet. */
  readonly wallet: string
  /** Wire order. */
  readonly txid: Bytes
  /** Its block; `undefined` while it has none. */
  readonly block: { readonly height: number; readonly hash: Bytes } | undefined
}

export type WalletEvent =
  | { readonly _tag: "TransactionAdded"; readonly txid: Bytes }
  /** A block confirmed it, or a rescan saw it again; a reorg disconnected it; or a block made it impossible. */
  | { readonly _tag: "TransactionMoved"; readonly txid: Bytes }
  | { readonly _tag: "RegistrationMoved"; readonly registration: Registration }
