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
  | { readonly type: "pending" }
  /** Not in the mempool. The wallet rebroadcasts its own from time to time. */
  | { readonly type: "inactive"; readonly abandoned: boolean }
  /** A transaction confirmed at this height spends one of its inputs. */
  | { readonly type: "conflicted"; readonly height: number }

export interface LedgerTip {
  readonly height: number
  readonly hash: Bytes
}

export interface WalletTx {
  readonly transaction: Transaction
  readonly state: WalletTxState
  /** When the wallet first saw it, seconds since 1970. */
  readonly time: number
  readonly order: number
  readonly comment: string | undefined
  readonly commentTo: string | undefined
  /** Display order. */
  readonly replaces: string | undefined
  readonly replacedBy: string | undefined
  /** By input: the wallet's own output that it spends; `undefined` for others. */
  readonly spent: ReadonlyArray<TransactionOutput | undefined>
}

export interface WalletCoin {
  readonly outpoint: OutpointKey
  readonly txid: Bytes
  readonly vout: number
  readonly output: TransactionOutput
  readonly own: OwnScript
  readonly name: NameScript | undefined
  /** `undefined` while unconfirmed. */
  readonly height: number | undefined
  readonly coinbase: boolean
  /** Confirmed, or unconfirmed change of the wallet itself. */
  readonly trusted: boolean
  /** Default for payments: trusted, and not from an unconfirmed replacement or its victim, which a reorg can undo. */
  readonly safe: boolean
  /** Set by `lockunspent`: coin selection skips it. */
  readonly locked: boolean
  /** Gone, because its name expires with the next block. */
  readonly expired: boolean
  /** At the tip: one block later than the coin is gone. */
  readonly nameExpired: boolean
}

/** In smallest units, without coins that hold names. */
export interface Balances {
  readonly trusted: number
  readonly untrustedPending: number
  readonly immature: number
}

export type CoinLock = "unlock" | "lock" | "lock-persistently"

/** As of the last block that the wallet has processed. */
export interface WalletLedger {
  readonly balances: Effect.Effect<Balances>
  /** Without coins of scripts that the wallet has spent from. */
  readonly cleanBalances: Effect.Effect<Balances>
  /** Whether the wallet has spent from the coin's script. */
  readonly isReused: (coin: WalletCoin) => boolean
  /** Including names and immature coins. */
  readonly coins: () => ReadonlyArray<WalletCoin>
  /** In arrival order. */
  readonly transactions: () => ReadonlyArray<WalletTx>
  readonly transaction: (txid: TxidKey) => WalletTx | undefined
  /** Txids, in display order, of wallet transactions that spend the same coins. */
  readonly conflictsOf: (txid: TxidKey) => ReadonlyArray<string>
  /** For coin selection; persistent locks survive a restart. */
  readonly lockCoins: (outpoints: ReadonlyArray<OutpointKey>, change: CoinLock) => Effect.Effect<void, StorageFailure>
  readonly lastBlock: () => LedgerTip
  /** Seconds, and progress from 0 to 1; `undefined` if no rescan runs. */
  readonly scanning: () => { readonly duration: number; readonly progress: number } | undefined
  /** Returns whether a rescan was running that no earlier call had stopped. */
  readonly abortRescan: () => boolean
  /**
   * Adds a proven transaction without a rescan (`importprunedfunds`). The caller checks that it concerns the wallet.
   */
  readonly insert: (
    transaction: Transaction,
    block: { readonly height: number; readonly hash: Bytes; readonly time: number; readonly position: number }
  ) => Effect.Effect<void, StorageFailure>
  readonly concerns: (transaction: Transaction) => boolean
  /** Must be a wallet transaction. A rescan finds a confirmed one again. */
  readonly remove: (txid: TxidKey) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Both heights included. Returns the last one. */
  readonly rescan: (
    from: number,
    to: number | undefined
  ) => Effect.Effect<number, InvalidWalletRequest | StorageFailure>
}
