import type * as Effect from "effect/Effect"
import type { Bytes } from "../../protocol/bytes.ts"
import type { OutpointKey, TxidKey } from "../../protocol/keys.ts"
import type { NameScript } from "../../protocol/nameOperation.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { InvalidWalletRequest } from "../errors.ts"
import type { OwnScript } from "../keys/WalletKeys.ts"

export type WalletTxState =
  | {
    readonly type: "confirmed"
    readonly height: number
    readonly hash: Bytes
    readonly index: number
    readonly blockTime: number
  }
  /** In the mempool. */
  | { readonly type: "pending" }
  /** Not in the mempool. The wallet offers its own again from time to time. */
  | { readonly type: "inactive"; readonly abandoned: boolean }
  /** A transaction confirmed at this height spends one of its coins. */
  | { readonly type: "conflicted"; readonly height: number }

/** The last block that a ledger includes. */
export interface LedgerTip {
  readonly height: number
  readonly hash: Bytes
}

/** A transaction that pays to the wallet or from it. */
export interface WalletTx {
  readonly transaction: Transaction
  readonly state: WalletTxState
  /** The time when the wallet first saw it, seconds since 1970. */
  readonly time: number
  /** Its number in the order in which the wallet's transactions arrived. */
  readonly order: number
  readonly comment: string | undefined
  readonly commentTo: string | undefined
  /** Txids in display byte order. */
  readonly replaces: string | undefined
  readonly replacedBy: string | undefined
  /** By input: the wallet's own coin that it spends; `undefined` for inputs of others. */
  readonly spent: ReadonlyArray<TransactionOutput | undefined>
}

export interface WalletCoin {
  /** As `outpointKey`. */
  readonly outpoint: OutpointKey
  readonly txid: Bytes
  readonly vout: number
  readonly output: TransactionOutput
  readonly own: OwnScript
  readonly name: NameScript | undefined
  /** Height of the block that created it; `undefined` while it is unconfirmed. */
  readonly height: number | undefined
  readonly coinbase: boolean
  /** Whether it is confirmed, or unconfirmed change of the wallet itself, so that the wallet can rely on it. */
  readonly trusted: boolean
  /**
   * Whether payments may use it unasked: it is trusted, and no unconfirmed transaction made it that replaces another or
   * was replaced. Of those, a reorg can bring back the other one.
   */
  readonly safe: boolean
  /** Set by `lockunspent`: coin selection skips it. */
  readonly locked: boolean
  /** Whether the coin is gone because its name expires with the next block. */
  readonly expired: boolean
  /** Whether its name counts as expired at the tip: one block later than the coin is gone. */
  readonly nameExpired: boolean
}

/** Sums in smallest units, without the coins that hold names. */
export interface Balances {
  readonly trusted: number
  readonly untrustedPending: number
  readonly immature: number
}

export type CoinLock = "unlock" | "lock" | "lock-persistently"

/** What a wallet has: its coins and transactions, as of the last block that it has processed. */
export interface WalletLedger {
  /** The sums of the coins. */
  readonly balances: Effect.Effect<Balances>
  /** The sums without the coins of scripts that the wallet has spent from. */
  readonly cleanBalances: Effect.Effect<Balances>
  /** Whether the wallet has spent from the script of a coin before. */
  readonly isReused: (coin: WalletCoin) => boolean
  /** All unspent coins, including names and immature coins. */
  readonly coins: () => ReadonlyArray<WalletCoin>
  /** All transactions, in the order in which they arrived. */
  readonly transactions: () => ReadonlyArray<WalletTx>
  readonly transaction: (txid: TxidKey) => WalletTx | undefined
  /** The txids, in display byte order, of wallet transactions that spend the same coins. */
  readonly conflictsOf: (txid: TxidKey) => ReadonlyArray<string>
  /** Locks coins against coin selection, or unlocks them; persistent locks survive a restart. */
  readonly lockCoins: (outpoints: ReadonlyArray<OutpointKey>, change: CoinLock) => Effect.Effect<void, StorageFailure>
  /** The last block that the wallet has processed. */
  readonly lastBlock: () => LedgerTip
  /** The running rescan: its duration in seconds and its progress from 0 to 1. `undefined` if none is running. */
  readonly scanning: () => { readonly duration: number; readonly progress: number } | undefined
  /** Stops the running rescan. Returns whether one runs that no earlier call has stopped. */
  readonly abortRescan: () => boolean
  /**
   * Adds a transaction of a block of the best chain, without a rescan. The caller has proof of it, and looks whether it
   * concerns the wallet (`importprunedfunds`).
   */
  readonly insert: (
    transaction: Transaction,
    block: { readonly height: number; readonly hash: Bytes; readonly time: number; readonly position: number }
  ) => Effect.Effect<void, StorageFailure>
  /** Whether a transaction pays to the wallet or from it. */
  readonly concerns: (transaction: Transaction) => boolean
  /** Removes a transaction from the wallet; it must be one of the wallet. A rescan finds a confirmed one again. */
  readonly remove: (txid: TxidKey) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Rescans blocks between two heights, both included. Returns the height of the last one. */
  readonly rescan: (
    from: number,
    to: number | undefined
  ) => Effect.Effect<number, InvalidWalletRequest | StorageFailure>
}
