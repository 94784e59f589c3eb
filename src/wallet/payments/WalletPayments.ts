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

/** How to choose the fee rate. */
export interface FeeChoice {
  /** Smallest units per kvB; estimated if omitted. */
  readonly feeRate?: number
  /** Whether `feeRate` may be below the minimum. */
  readonly anyRate?: boolean
  /** Confirmation target in blocks. */
  readonly target?: number
  readonly conservative?: boolean
}

/** What the caller knows of inputs: those that spend coins of others need it. */
export interface ExternalInputs {
  /** Public keys and scripts, from which the size of a signed input follows. */
  readonly known: SigningProvider
  /** Weights of signed inputs; they replace the estimate. */
  readonly weights: ReadonlyMap<OutpointKey, number>
}

/** A fee rate, and how it was chosen. */
export interface ChosenRate {
  /** Smallest units per kvB. */
  readonly feeRate: number
  /** In the reference node's words. */
  readonly reason: string
}

/** The parts of a request that decide which coins may fund it. */
export type CoinFilter = Pick<
  PaymentRequest,
  "inputs" | "version" | "minConfirmations" | "maxConfirmations" | "includeUnsafe"
>

export interface PaymentRequest extends FeeChoice {
  readonly outputs: ReadonlyArray<TransactionOutput>
  /** Indexes of the outputs that pay the fee. */
  readonly subtractFeeFrom?: ReadonlyArray<number>
  /** Coins that must be inputs, in this order, with an optional sequence number. */
  readonly inputs?: ReadonlyArray<{ readonly outpoint: OutpointKey; readonly sequence?: number }>
  /** Data for `inputs`. Without it, all of them must be coins of the wallet. */
  readonly external?: ExternalInputs
  /** Whether coin selection may add coins; true by default. */
  readonly addInputs?: boolean
  /** Whether coins of a script are left out once the wallet has spent from it (`avoid_reuse`). */
  readonly avoidReuse?: boolean
  /** Whether the coins of a script are spent together; that of the operator's rules if omitted. */
  readonly avoidPartialSpends?: boolean
  /** 2 by default; name operations need `NAME_TX_VERSION`. */
  readonly version?: number
  /** Maximum weight; that of standard transactions if omitted. */
  readonly maxWeight?: number
  readonly lockTime?: number
  /** Whether the inputs signal replaceability (BIP 125); true by default. */
  readonly replaceable?: boolean
  readonly changeScript?: Bytes
  readonly changeType?: AddressType
  readonly changePosition?: number
  readonly minConfirmations?: number
  readonly maxConfirmations?: number
  /** Whether untrusted coins may be spent. */
  readonly includeUnsafe?: boolean
  readonly comment?: string
  readonly commentTo?: string
}

/** How to replace a transaction. */
export interface BumpChoice extends FeeChoice {
  /** Outputs in place of those of the transaction, with its change. */
  readonly outputs?: ReadonlyArray<TransactionOutput>
  /** Index of the output that takes the change; the wallet's own change if omitted. */
  readonly changeIndex?: number
  /** Whether the inputs signal replaceability (BIP 125); true by default. */
  readonly replaceable?: boolean
}

/** A funded transaction, signed as far as the wallet can. */
export interface Funded {
  readonly transaction: Transaction
  /** Smallest units. */
  readonly fee: number
  /** -1 without a change output. */
  readonly changePosition: number
  /** The coins that its inputs spend, in their order. */
  readonly coins: ReadonlyArray<TransactionOutput>
  /** How the fee was chosen, in the reference node's words. */
  readonly feeReason: string
}

/** A transaction that replaces another. */
export interface Bumped {
  readonly funded: Funded
  /** The fee of the replaced transaction, smallest units. */
  readonly oldFee: number
}

/** Why coins cannot be spent. */
export type SpendFailure = FundsMissing | InvalidWalletRequest | KeysLocked | WalletWatchOnly | StorageFailure

/** What a wallet sends. A transaction is on disk before it is sent or returned. */
export interface WalletPayments {
  /**
   * Delays other payments until the effect has ended. A caller that funds first and stores the result later needs this,
   * because two concurrent payments choose the same coins. `pay` and `bump` do it themselves and must not be called
   * inside.
   */
  readonly exclusively: <A, E, R>(payment: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** The coins that may fund a payment, beside `given` coins that are its inputs anyway. */
  readonly candidates: (request: CoinFilter, given?: ReadonlyArray<WalletCoin>) => ReadonlyArray<WalletCoin>
  /** The fee rate that a payment without a rate of its own would have, or why a given one is refused. */
  readonly feeRate: (
    choice: FeeChoice & Pick<PaymentRequest, "replaceable">
  ) => Either.Either<ChosenRate, InvalidWalletRequest>
  /** Chooses coins for a payment and signs it as far as possible. Stores and sends nothing. */
  readonly fund: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure>
  /** Funds, signs, stores and offers a payment. */
  readonly pay: (request: PaymentRequest) => Effect.Effect<Funded, SpendFailure | TransactionRejected>
  /** Stores and offers a complete transaction. Refuses one whose coins another wallet transaction spends. */
  readonly commit: (
    transaction: Transaction,
    notes?: {
      readonly comment?: string
      readonly commentTo?: string
      readonly replaces?: TxidKey
      /** Whether a transaction that is not final yet stays in the wallet, for a later block. */
      readonly keepPremature?: boolean
    }
  ) => Effect.Effect<void, TransactionRejected | InvalidWalletRequest | StorageFailure>
  /** Abandons an own transaction that is not in the mempool, so that its coins can be spent again. */
  readonly abandon: (txid: TxidKey) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /**
   * Makes a transaction that replaces one of the wallet and pays a higher fee, signed as far as possible. Stores and sends
   * nothing. Unlike for `bump`, some of its inputs may be of others.
   */
  readonly replacement: (txid: TxidKey, choice: BumpChoice) => Effect.Effect<Bumped, SpendFailure>
  /** Replaces an own transaction with one that pays a higher fee. */
  readonly bump: (txid: TxidKey, choice: BumpChoice) => Effect.Effect<Bumped, SpendFailure | TransactionRejected>
  /** The transactions that wait until the mempool accepts them (`queuerawtransaction`). */
  readonly queue: () => ReadonlyArray<Transaction>
  /** Offers a transaction to the mempool now, or after a later block. */
  readonly enqueue: (transaction: Transaction) => Effect.Effect<void, InvalidWalletRequest | StorageFailure>
  /** Removes a transaction from the queue; returns whether it was there. */
  readonly dequeue: (txid: TxidKey) => Effect.Effect<boolean, StorageFailure>
}
