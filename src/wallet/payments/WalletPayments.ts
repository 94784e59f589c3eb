import type * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import type { TransactionRejected } from "../../mempool/errors.ts"
import type { Bytes } from "../../protocol/bytes.ts"
import type { OutpointKey, TxidKey } from "../../protocol/keys.ts"
import type { Transaction, TransactionOutput } from "../../protocol/transaction.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { FundsMissing, InvalidWalletRequest, KeysLocked, WalletWatchOnly } from "../errors.ts"
import type { AddressType } from "../keys/WalletKeys.ts"
import type { WalletCoin } from "../ledger/WalletLedger.ts"
import type { SigningProvider } from "../signing/SigningProvider.ts"

export interface FeeChoice {
  /** Smallest units per kvB; estimated if omitted. */
  readonly feeRate?: number
  /** Whether `feeRate` may be below the minimum. */
  readonly anyRate?: boolean
  /** In blocks. */
  readonly target?: number
  readonly conservative?: boolean
}

/** What the caller knows of inputs; required for coins of others. */
export interface ExternalInputs {
  /** Public keys and scripts, for the size of signed inputs. */
  readonly known: SigningProvider
  /** Weights of signed inputs, which replace the estimate. */
  readonly weights: ReadonlyMap<OutpointKey, number>
}

export interface ChosenRate {
  /** Smallest units per kvB. */
  readonly feeRate: number
  /** Upstream's text. */
  readonly reason: string
}

export type CoinFilter = Pick<
  PaymentRequest,
  "except" | "inputs" | "version" | "minConfirmations" | "maxConfirmations" | "includeUnsafe"
>

export interface PaymentRequest extends FeeChoice {
  readonly outputs: ReadonlyArray<TransactionOutput>
  readonly subtractFeeFrom?: ReadonlyArray<number>
  /** Required inputs in this order, with an optional sequence number. */
  readonly inputs?: ReadonlyArray<{ readonly outpoint: OutpointKey; readonly sequence?: number }>
  /** Never added to the inputs. */
  readonly except?: ReadonlySet<OutpointKey>
  /** For `inputs`; without it, all of them must be the wallet's coins. */
  readonly external?: ExternalInputs
  /** True by default. */
  readonly addInputs?: boolean
  /** Skips coins of scripts that the wallet has spent from (`avoid_reuse`). */
  readonly avoidReuse?: boolean
  /** Whether coins of a script are spent together; the operator's rule if omitted. */
  readonly avoidPartialSpends?: boolean
  /** 2 by default; name operations need `NAME_TX_VERSION`. */
  readonly version?: number
  /** That of standard transactions if omitted. */
  readonly maxWeight?: number
  readonly lockTime?: number
  /** BIP 125; true by default. */
  readonly replaceable?: boolean
  readonly changeScript?: Bytes
  readonly changeType?: AddressType
  readonly changePosition?: number
  readonly minConfirmations?: number
  readonly maxConfirmations?: number
  readonly includeUnsafe?: boolean
  readonly comment?: string
  readonly commentTo?: string
}

export interface BumpChoice extends FeeChoice {
  /** They replace all outputs of the transaction, including its change. */
  readonly outputs?: ReadonlyArray<TransactionOutput>
  readonly changeIndex?: number
  /** BIP 125; true by default. */
  readonly replaceable?: boolean
}

/** Signed as far as the wallet can. */
export interface Funded {
  readonly transaction: Transaction
  /** Smallest units. */
  readonly fee: number
  /** -1 without a change output. */
  readonly changePosition: number
  readonly coins: ReadonlyArray<TransactionOutput>
  /** How the fee was chosen, in upstream's text. */
  readonly feeReason: string
}

export interface Bumped {
  readonly funded: Funded
  /** Fee of the replaced transaction, in smallest units. */
  readonly oldFee: number
}

export type SpendFailure = FundsMissing | InvalidWalletRequest | KeysLocked | WalletWatchOnly | StorageFailure

/** A transaction is on disk before it is sent or returned. */
export interface WalletPayments {
  /**
   * Delays other payments. Needed by a caller that funds first and stores later, because concurrent payments choose the
   * same coins. `pay` and `bump` do it themselves and must not be called inside.
   */
  readonly exclusively: <A, E, R>(payment: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** `given` coins are inputs anyway. */
  readonly candidates: (request: CoinFilter, given?: ReadonlyArray<WalletCoin>) => ReadonlyArray<WalletCoin>
  /** The fee rate of a payment without its own, or why a given one is refused. */
  readonly feeRate: (
    choice: FeeChoice & Pick<PaymentRequest, "replaceable">
  ) => Either.Either<ChosenRate, InvalidWalletRequest>
  /** Signs as far as possible. Stores and sends nothing. */
  readonly fund: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure>
  readonly pay: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure | TransactionRejected>
  /** Stores and broadcasts a complete transaction. Refuses coins that another wallet transaction spends. */
  readonly commit: (
    transaction: Transaction,
    notes?: {
      readonly comment?: string
      readonly commentTo?: string
      readonly replaces?: TxidKey
      /** Whether a premature transaction stays in the wallet for a later block. */
      readonly keepPremature?: boolean
    }
  ) => Effect.Effect<void, TransactionRejected | InvalidWalletRequest | StorageFailure>
  /** Frees the coins of an own transaction that is not in the mempool. */
  readonly abandon: (txid: TxidKey) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Signed as far as possible. Stores and sends nothing. Unlike for `bump`, inputs may belong to others. */
  readonly replacement: (txid: TxidKey, choice: BumpChoice) => Effect.Effect<Bumped, SpendFailure>
  /** Replaces an own transaction with one that pays a higher fee. */
  readonly bump: (txid: TxidKey, choice: BumpChoice) => Effect.Effect<Bumped, SpendFailure | TransactionRejected>
  /** Transactions waiting for the mempool (`queuerawtransaction`). */
  readonly queue: () => ReadonlyArray<Transaction>
  /** Offers it to the mempool now, or after a later block. */
  readonly enqueue: (transaction: Transaction) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  readonly dequeue: (txid: TxidKey) => Effect.Effect<boolean, StorageFailure>
}
